/** What is changed or removed retires the summaries that cover it (step/summary.ts, S2, S3). */
import type { ThreadTransaction } from './thread-transaction.ts';

/** Those that cover a message of this time. */
export async function retireSummaries(
  thread: ThreadTransaction,
  { depth, created_at: at }: { readonly depth: number; readonly created_at: number },
): Promise<void> {
  // What sub-prompts say is in none.
  if (thread.row.compacted === 0 || depth > 0) return;
  await thread.trx
    .deleteFrom('summaries')
    .where('thread_id', '=', thread.threadId)
    .where('until', '>=', at)
    .execute();
}
