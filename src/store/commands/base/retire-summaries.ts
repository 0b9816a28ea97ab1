/** A changed or deleted message retires the summaries that cover it (step/summary.ts, S2, S3). */
import type { ThreadTransaction } from './thread-transaction.ts';

/** Deletes the summaries that cover a message of this time. */
export async function retireSummaries(
  thread: ThreadTransaction,
  { depth, created_at: at }: { readonly depth: number; readonly created_at: number },
): Promise<void> {
  // No summary covers messages of sub-prompts.
  if (thread.row.compacted === 0 || depth > 0) return;
  await thread.trx
    .deleteFrom('summaries')
    .where('thread_id', '=', thread.threadId)
    .where('until', '>=', at)
    .execute();
}
