/** Budgets of executions: what they may spend, and what they have spent. */
import type { BudgetLimit } from '../../core/governance/budget-line.ts';
import type { StoredError } from '../../core/thread/step.ts';

/** A tool that code invokes. */
export interface PayInvoked {
  readonly threadId: string;
  /** Key of the call: the same key is charged once. */
  readonly key: string;
  /** Set if the code runs in a step. */
  readonly step?: number;
}

/** The verdict of an author's policy on what is about to be spent. */
export interface SpendingVerdict {
  readonly threadId: string;
  readonly step?: number;
  readonly policy: string;
  readonly effect: 'warn' | 'deny';
  readonly reason: string;
  /** The limit concerned; if absent, or if the execution has no such limit, its first one is named. */
  readonly limit?: BudgetLimit;
}

export type PaidCall =
  | { readonly kind: 'paid' }
  /** The execution is over, and the call may not begin. */
  | { readonly kind: 'exceeded'; readonly error: StoredError };
