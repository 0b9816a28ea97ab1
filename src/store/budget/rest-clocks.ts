/**
 * The clocks of time limits (lines.ts) while calls are under way together (core/thread/call-group.ts): they stop once what
 * is left of the calls only waits, for people or for children, which have clocks of their own.
 */
import type { CommandContext } from '../transaction/context.ts';
import { hasRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { budgetOf } from './account.ts';
import { stopClocks } from './lines.ts';

/** Called when one of those calls of the step has ended, or begins to wait. */
export async function restClocks(
  context: CommandContext,
  thread: ThreadTransaction,
  step: number,
): Promise<void> {
  if (!budgetOf(thread.row)) return;
  const open = await thread
    .select('tool_calls', { step, parallel: 1, state: ['scheduled', 'started', 'asked'] })
    .select(['idx', 'state'])
    .execute();
  for (const { idx, state } of open) {
    if (state === 'asked') continue;
    const awaited = { parent_id: thread.threadId, wait_step: step, wait_idx: idx };
    if (state === 'scheduled' || !(await hasRow(thread.trx, 'children', awaited))) return;
  }
  if (open.length > 0) await stopClocks(context, thread);
}
