/** The scratch of an execution (`state.context`): stored with each commit, removed when the execution ends. */
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export async function keepScratch(
  thread: ThreadTransaction,
  executionId: string,
  context: string | undefined,
): Promise<void> {
  if (context === undefined) return;
  await thread.trx
    .updateTable('executions')
    .set({ context })
    .where('thread_id', '=', thread.threadId)
    .where('id', '=', executionId)
    .execute();
}
