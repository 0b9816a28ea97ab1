/** Budgets of executions: what they may spend, and what they have. */
import type { BudgetLimit, BudgetLine } from '../../core/governance/budget.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ForgottenWait } from './wait.ts';

/** A tool that code invokes. */
export interface PayInvoked {
  readonly threadId: string;
  /** Of the call: the same pays once. */
  readonly key: string;
  /** Where the code runs in one. */
  readonly step?: number;
}

/** What an author's policy says of what is about to be spent. */
export interface ToldSpending {
  readonly threadId: string;
  readonly step?: number;
  readonly policy: string;
  readonly effect: 'warn' | 'deny';
  readonly reason: string;
  /** The limit that it is about; the first of the execution's where it is absent, or none of them. */
  readonly limit?: BudgetLimit;
}

export type PaidCall =
  | { readonly kind: 'paid' }
  /** The execution is over, and this may not begin. */
  | { readonly kind: 'exceeded'; readonly error: StoredError };

export interface BudgetStore {
  /**
   * The lines of the execution that is under way, those of its own first, its root's last; of a thread at rest, those of its newest
   * execution. Empty where nothing limits it, and for a thread that is not there.
   */
  read(threadId: string): Promise<readonly BudgetLine[]>;
  /** Threads of its family, but for itself, whose steps wait for what others hold of a budget. */
  listWaiting(threadId: string): Promise<readonly string[]>;
  /**
   * The thread's open execution has exceeded a budget: closes the approvals for which relatives wait that spend from the same one, whose executions
   * are over too. Answers what it has closed, for their threads to be told.
   */
  closeApprovals(threadId: string): Promise<readonly ForgottenWait[]>;
  /** Tells of it: a warning once for each policy and limit, a denial once, with which the open execution is over: it begins nothing any more. */
  tell(command: ToldSpending): Promise<void>;
  /** Counts a call against the budgets of the thread's open execution; where it has none, nothing is written. */
  payInvoked(command: PayInvoked): Promise<PaidCall>;
}
