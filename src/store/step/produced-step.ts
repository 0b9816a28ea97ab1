/** Steps of an execution that code of another process produces (core/thread/producer.ts): no model is called. */
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { OpenExecution } from './execution.ts';
import type { BeginStep } from './step-record.ts';

export type StepCommand = BeginStep & { readonly produced?: true };

export function withoutRequest({ request: _, immediate: __, ...command }: BeginStep): StepCommand {
  return { ...command, produced: true };
}

/**
 * True if another process produces the execution. The row of an open one has that; for a new one, the producer of the
 * id that its item names has been claimed before the item was sent.
 */
export async function isProduced(
  thread: ThreadTransaction,
  open: OpenExecution | undefined,
  named: string | undefined,
): Promise<boolean> {
  if (open) return open.produced === 1;
  if (named === undefined) return false;
  return thread.has('producers', { execution_id: named });
}
