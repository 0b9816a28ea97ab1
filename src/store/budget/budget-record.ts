/**
 * Budgets of executions: what they may spend, and what they have spent. Amounts in the tables are in whole units of their
 * limit (core/governance/budget-amount.ts).
 */
import type { BudgetLimit, LineLimit } from '../../core/governance/budget-line.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { Flag, Json } from '../schema/column.ts';

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

/** A limit of an execution, which it shares with all executions that it has caused; kept as long as the thread. */
export interface BudgetTable {
  thread_id: string;
  execution_id: string;
  name: LineLimit;
  max_units: bigint;
  used_units: bigint;
  /** Reserved by calls whose end is not known yet. */
  reserved_units: bigint;
  /** The part of `used` that is an estimate, for requests whose end was never seen or whose usage was not reported. */
  estimated_units: bigint;
  warn_at: number;
  warned: Flag;
  /**
   * For a limit of time: `{ since, threads }`, the threads that work now, and since when any of them does; null if none
   * works.
   */
  running: Json | null;
}

/**
 * What a model request has reserved of the budgets of its execution, and what it has used of them once it is settled.
 */
export interface BudgetReservationTable {
  thread_id: string;
  step: number;
  attempt: number;
  call: number;
  /** The budgets that it has reserved from: a list of `{ threadId, executionId }`. */
  accounts: Json;
  /** The thread of the last one of `accounts`. */
  root_thread_id: string;
  /** estimated: settled with the reserved amounts, because its end was not seen. */
  state: 'open' | 'settled' | 'estimated';
  input: number;
  output: number;
  /** 10⁻¹² US dollars. */
  cost_pico: bigint;
  /** Limit of the tokens of its answer; null if there is none. */
  max_output: number | null;
  /** Time from which any request that needs the amounts may settle it. Microseconds since 1970. */
  lease_until: number;
}

/** A tool call that code has invoked and that was charged, once even if the command is repeated. */
export interface BudgetPaymentTable {
  thread_id: string;
  /** Key of the call. */
  key: string;
}

export interface BudgetTables {
  budget_payments: BudgetPaymentTable;
  budgets: BudgetTable;
  budget_reservations: BudgetReservationTable;
}
