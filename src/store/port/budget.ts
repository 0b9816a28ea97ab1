/** Budgets of executions: what they may spend, and what they have spent. */
import type { BudgetLimit, BudgetLine } from '../../core/governance/budget.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ForgottenWait } from './wait.ts';

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

export interface BudgetStore {
  /**
   * The budget lines of the running execution, its own first, its root's last; for a thread at rest, those of its
   * newest execution. Empty if nothing limits it, and for an unknown thread.
   */
  read(threadId: string): Promise<readonly BudgetLine[]>;
  /** Other threads of its family whose steps wait for what others have reserved of a budget. */
  listWaiting(threadId: string): Promise<readonly string[]>;
  /**
   * For a thread whose open execution has exceeded a budget: closes the approvals awaited by relatives that spend from
   * the same budget; their executions are over, too. Returns the closed waits, so that their threads can be notified.
   */
  closeApprovals(threadId: string): Promise<readonly ForgottenWait[]>;
  /**
   * Logs the verdict: a warning once for each policy and limit, a denial once. With a denial the open execution is
   * over: it begins nothing more.
   */
  tell(command: SpendingVerdict): Promise<void>;
  /** Charges a call to the budgets of the thread's open execution; writes nothing if it has none. */
  payInvoked(command: PayInvoked): Promise<PaidCall>;
}
