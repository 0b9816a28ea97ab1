/** The scratch of an execution (`state.context`): stored with each commit, removed when the execution ends. */
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

export async function keepScratch(
  thread: ThreadTransaction,
  executionId: string,
  context: string | undefined,
): Promise<void> {
  if (context === undefined) return;
  await thread.update('executions', { id: executionId }, { context });
}
