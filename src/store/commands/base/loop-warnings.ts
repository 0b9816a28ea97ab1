/**
 * The loops that the next request of a side reminds of, in the thread's row. They are kept until that request has its answer: another attempt
 * at it reminds again. Another execution starts clean.
 */
import { addWarning, type LoopWarning } from '../../../core/guard/loop.ts';
import type { Owner } from './step-place.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

type Reminded = Pick<Owner, 'executionId' | 'side'>;
type Kept = Reminded & { readonly warnings: readonly LoopWarning[] };

export function keepWarning(
  thread: ThreadTransaction,
  { executionId, side }: Reminded,
  warning: LoopWarning,
): void {
  const warnings = addWarning(warningsOf(thread.row, { executionId, side }), warning);
  thread.set({ loop_warnings: JSON.stringify({ executionId, side, warnings } satisfies Kept) });
}

export function warningsOf(
  { loop_warnings: text }: Pick<ThreadRow, 'loop_warnings'>,
  { executionId, side }: Reminded,
): readonly LoopWarning[] {
  if (text === null) return [];
  const kept = JSON.parse(text) as Kept;
  return kept.executionId === executionId && kept.side === side ? kept.warnings : [];
}

/** A side has answered. */
export function forgetWarnings(thread: ThreadTransaction, answered: Reminded): void {
  if (warningsOf(thread.row, answered).length > 0) thread.set({ loop_warnings: null });
}
