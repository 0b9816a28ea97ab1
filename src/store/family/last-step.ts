/** The last step that has an answer, sub-prompts' steps aside, for the report of a session's end (runtime §8.2). */
import { toMessage } from '../schema/rows.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import { byTime, selectStepMessages } from '../transaction/step-messages.ts';
import type { LastStep } from './report-record.ts';

/** The last step that has an answer, not counting steps of sub-prompts. Null if there is none. */
export async function readLastStep(context: CommandContext, threadId: string): Promise<LastStep | null> {
  return inSnapshot(context, async (trx) => {
    const last = await selectRows(trx, 'steps', { thread_id: threadId, state: 'committed' })
      .select(['step', 'side'])
      .where('kind', '!=', 'prompt')
      .orderBy('step', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!last) return null;
    const results = await selectStepMessages(trx, threadId, last.step)
      .selectAll()
      .where('role', '=', 'tool')
      .execute();
    return { side: last.side, results: results.map(toMessage).sort(byTime) };
  });
}
