/**
 * Which budgets an execution spends from: named in its thread's row, so that a thread without any is asked for none.
 * A1. They are known from the begin of the execution to its end, and the same for whatever it does.
 * A2. Once one of them is used up, the execution is over: whatever it asks for is denied with the same words, by the row alone.
 */
import type { BudgetAccount, BudgetDefinition, BudgetLimit } from '../../../core/governance/budget.ts';
import { BUDGET_LIMITS } from '../../../core/governance/budget.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import type { ThreadRow, ThreadTransaction } from '../base/thread-transaction.ts';

/** As the thread's row has it. */
export interface BudgetState {
  /** The execution's own first, its root's last. */
  readonly accounts: readonly BudgetAccount[];
  /** Its step waits for what other requests hold. */
  readonly waits?: true;
  /** A2: used up. */
  readonly exceeded?: StoredError;
}

/** Undefined where the execution spends from no budget, and between executions. */
export function budgetOf({ budget }: Pick<ThreadRow, 'budget'>): BudgetState | undefined {
  return budget === null ? undefined : (JSON.parse(budget) as BudgetState);
}

/** A1: the execution begins. One that goes by the name of an earlier one goes on with what that has left. */
export async function openBudget(
  thread: ThreadTransaction,
  executionId: string,
  definition: BudgetDefinition | undefined,
): Promise<void> {
  const limits = toLimits(definition);
  if (limits.length === 0) return;
  const { threadId, trx } = thread;
  const account = { threadId, executionId };
  keepBudget(thread, { accounts: [account] });
  const warnAt = definition?.warnAt ?? 0;
  await trx
    .insertInto('budgets')
    .values(
      limits.map(([name, max]) => ({
        ...{ thread_id: threadId, execution_id: executionId, name, max },
        ...{ used: 0, reserved: 0, estimated: 0, warn_at: warnAt, warned: 0 },
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function toLimits(definition: BudgetDefinition | undefined): readonly (readonly [BudgetLimit, number])[] {
  return BUDGET_LIMITS.flatMap((limit) => {
    const max = definition?.[limit];
    return max === undefined ? [] : [[limit, max] as const];
  });
}

export function keepBudget(thread: ThreadTransaction, state: BudgetState): void {
  thread.set({ budget: JSON.stringify(state) });
}

/** A1: the execution has ended. */
export function closeBudget(thread: ThreadTransaction): void {
  if (thread.row.budget !== null) thread.set({ budget: null });
}
