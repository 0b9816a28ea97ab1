/** The tables of budgets. Amounts are in whole units of their limit (core/governance/budget-amount.ts). */
import type { LineLimit } from '../../core/governance/budget-line.ts';
import type { Flag, Json } from '../schema/json.ts';

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
