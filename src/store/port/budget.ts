/** Budgets of executions: what they may spend, and what they have. */
import type { BudgetLine } from '../../core/governance/budget.ts';

export interface BudgetStore {
  /**
   * The lines of the execution that is under way, those of its own first, its root's last; of a thread at rest, those of its newest
   * execution. Empty where nothing limits it, and for a thread that is not there.
   */
  read(threadId: string): Promise<readonly BudgetLine[]>;
}
