/**
 * Warnings of loops that the next request of a side must include, kept in the thread's row until that request has been
 * answered: another attempt includes them again. A new execution starts without any.
 */
import { addWarning, type LoopWarning } from '../../core/guard/loop.ts';
import type { Owner } from './step-place.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

type WarnedSide = Pick<Owner, 'executionId' | 'side'>;
type StoredWarnings = WarnedSide & { readonly warnings: readonly LoopWarning[] };

export function keepWarning(
  thread: ThreadTransaction,
  { executionId, side }: WarnedSide,
  warning: LoopWarning,
): void {
  const warnings = addWarning(warningsOf(thread.row, { executionId, side }), warning);
  thread.set({ loop_warnings: JSON.stringify({ executionId, side, warnings } satisfies StoredWarnings) });
}

export function warningsOf(
  { loop_warnings: text }: Pick<ThreadRow, 'loop_warnings'>,
  { executionId, side }: WarnedSide,
): readonly LoopWarning[] {
  if (text === null) return [];
  const kept = JSON.parse(text) as StoredWarnings;
  return kept.executionId === executionId && kept.side === side ? kept.warnings : [];
}

/** Removes the warnings of a side that has answered. */
export function forgetWarnings(thread: ThreadTransaction, answered: WarnedSide): void {
  if (warningsOf(thread.row, answered).length > 0) thread.set({ loop_warnings: null });
}
