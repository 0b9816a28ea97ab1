/** The tables of budgets. Amounts are tokens, calls, steps, seconds or US dollars, as their limit's name says. */
import type { BudgetLimit } from '../../core/governance/budget.ts';
import type { Flag, Json } from './tables.ts';

/** A limit of an execution, which is also that of all executions that it has caused; kept as long as the thread. */
export interface BudgetTable {
  thread_id: string;
  execution_id: string;
  name: BudgetLimit;
  max: number;
  used: number;
  /** Held by calls whose end is not known yet. */
  reserved: number;
  /** The part of `used` that was reserved for a request whose end was never seen. */
  estimated: number;
  warn_at: number;
  warned: Flag;
  /** Of a limit of time: `{ since, threads }`, the threads that work now, and since when any does; null while none does. */
  running: Json | null;
}

/** What a request to a model holds of the budgets of its execution, and has used of them once it is settled. */
export interface BudgetReservationTable {
  thread_id: string;
  step: number;
  attempt: number;
  call: number;
  /** The budgets that it holds of: a list of `{ threadId, executionId }`. */
  accounts: Json;
  /** The thread of the last of them. */
  root_thread_id: string;
  /** estimated: settled as it was reserved, its end not having been seen. */
  state: 'open' | 'settled' | 'estimated';
  input: number;
  output: number;
  cost: number;
  /** What the request was bounded to; null where nothing bounds it. */
  max_output: number | null;
  /** Whoever is in need of it may settle it from then on. Microseconds since 1970. */
  lease_until: number;
}

/** A call of a tool that code has invoked, and that was paid for: once, whoever gives the command again. */
export interface BudgetPaymentTable {
  thread_id: string;
  /** Of the call. */
  key: string;
}

export interface BudgetTables {
  budget_payments: BudgetPaymentTable;
  budgets: BudgetTable;
  budget_reservations: BudgetReservationTable;
}
