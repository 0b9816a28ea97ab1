/** Reads what a step's request is assembled from (runtime §4): its place, then as many messages as it needs, in one snapshot. */
import type { Transaction } from 'kysely';
import { toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { warningsOf } from '../transaction/loop-warnings.ts';
import { selectPlace, toPlace } from '../transaction/step-place.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import { queryTogether } from '../transaction/together.ts';
import { countsOf } from './model-counts.ts';
import { readHistory } from './read-history.ts';
import type { HistoryWindow, StepContext, StepPlace } from './step-place-record.ts';
import { readSubpromptHistory } from './subprompt-context.ts';
import { findSummary } from './summary.ts';

const EVERYTHING: HistoryWindow = { includeChat: true, includePastTools: true, recentImages: 0 };

/**
 * Reads, in one snapshot, the place of the step and its messages, oldest first. `window` is called in between and
 * returns how much of the history is needed; if absent, all of it. Rejects with `ThreadNotFound`.
 */
export async function readContext(
  context: CommandContext,
  threadId: string,
  step: number,
  window: (place: StepPlace) => HistoryWindow = () => EVERYTHING,
): Promise<StepContext> {
  return inSnapshot(context, async (db) => {
    const [[row], [placeRow]] = await queryTogether(db, [
      db.selectFrom('threads').selectAll().where('id', '=', threadId),
      selectPlace(db, threadId, step),
    ]);
    if (!row) throw unknownThread(context.storeId, threadId);
    if (!placeRow) throw new Error(`Thread ${threadId} has no step ${step}.`);
    const thread = toThreadRecord(row);
    const found = await toPlace(db, row, placeRow);
    const place = { thread, step, ...found, ...toLoopWarnings(row, found), counts: countsOf(row) };
    return readMessages(db, place, window(place));
  });
}

/** The loop warnings for a step; none for a sub-prompt, whose model has made none of the calls. */
export function toLoopWarnings(
  row: ThreadRow,
  place: Pick<StepPlace, 'executionId' | 'side' | 'subprompt'>,
): Pick<StepPlace, 'loops'> {
  const loops = place.subprompt ? [] : warningsOf(row, place);
  return loops.length > 0 ? { loops } : {};
}

/** Adds the messages to a place. */
export async function readMessages(
  db: Transaction<Tables>,
  place: StepPlace,
  window: HistoryWindow,
): Promise<StepContext> {
  const { subprompt } = place;
  const summary = await findSummary(db, place, window.summaries);
  const behind = { ...window, after: summary?.until };
  const history = subprompt
    ? await readSubpromptHistory(db, place, subprompt, behind)
    : await readHistory(db, place, behind);
  return { ...place, ...history, summary };
}
