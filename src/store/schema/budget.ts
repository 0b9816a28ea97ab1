/** The tables of budgets. Amounts are tokens, calls, steps, seconds or US dollars, as their limit's name says. */
import type { BudgetLimit } from '../../core/governance/budget.ts';
import type { Flag } from './tables.ts';

/** A limit of an execution, which is also that of all executions that it has caused; kept as long as the thread. */
export interface BudgetTable {
  thread_id: string;
  execution_id: string;
  name: BudgetLimit;
  max: number;
  used: number;
  /** Held by calls whose end is not known yet. */
  reserved: number;
  warn_at: number;
  warned: Flag;
}

export interface BudgetTables {
  budgets: BudgetTable;
}
