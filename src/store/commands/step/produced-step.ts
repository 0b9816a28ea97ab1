/** A step of an execution that code of another process produces (core/thread/producer.ts): no model is asked, and nothing comes before it. */
import type { BeginStep } from '../../port/thread-store.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import type { OpenExecution } from './execution.ts';

export type Asked = BeginStep & { readonly produced?: true };

export function unasked({ request: _, immediate: __, ...command }: BeginStep): Asked {
  return { ...command, produced: true };
}

/** Known with the execution that is open; else by the name that its item gives it: its producer is claimed before its item is sent. */
export async function isProduced(
  { trx, threadId }: ThreadTransaction,
  open: OpenExecution | undefined,
  named: string | undefined,
): Promise<boolean> {
  if (open) return open.produced === 1;
  if (named === undefined) return false;
  const row = await trx
    .selectFrom('producers')
    .select('execution_id')
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', named)
    .executeTakeFirst();
  return row !== undefined;
}
