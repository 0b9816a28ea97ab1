/** What a step's request is assembled from (runtime §4): its place, then as many messages as it needs, in one snapshot. */
import type { HistoryWindow, StepContext, StepPlace } from '../../port/thread-store.ts';
import { toThreadRecord } from '../../schema/rows.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../base/context.ts';
import { readEnvPlace } from '../base/step-place.ts';
import { readHistory } from './read-history.ts';
import { readSubpromptHistory } from './subprompt-context.ts';

export interface ReadContext {
  readonly threadId: string;
  readonly step: number;
  readonly window?: (place: StepPlace) => HistoryWindow;
}

const EVERYTHING: HistoryWindow = { includeChat: true, includePastTools: true, recentImages: 0 };

export async function readContext(
  context: CommandContext,
  { threadId, step, window = () => EVERYTHING }: ReadContext,
): Promise<StepContext> {
  return inSnapshot(context, async (db) => {
    const row = await db.selectFrom('threads').selectAll().where('id', '=', threadId).executeTakeFirst();
    if (!row) throw unknownThread(context.storeId, threadId);
    const thread = toThreadRecord(row);
    const place = { thread, step, ...(await readEnvPlace(db, threadId, step)) };
    const { subprompt } = place;
    const history = subprompt
      ? await readSubpromptHistory(db, place, subprompt, window(place))
      : await readHistory(db, place, window(place));
    return { ...place, ...history };
  });
}
