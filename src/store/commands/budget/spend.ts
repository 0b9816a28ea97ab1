/**
 * Spends from an execution's budgets, in the transaction of what is paid for: so once, whoever gives the command again.
 * S1. Budget rows are locked after all other rows of a transaction, in the order of their keys: they alone are shared by threads.
 */
import {
  type BudgetLine,
  describeExceeded,
  evaluateSpending,
  type Spending,
} from '../../../core/governance/budget.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import type { CommandContext } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { type BudgetState, budgetOf, keepBudget } from './account.ts';
import { selectLines, toLines } from './read-budget.ts';

/** Where in the log it is told. */
interface SpendingPlace {
  readonly step?: number;
}

/** Undefined where it may go on; else why it may not: then nothing is spent, and the execution is over (account.ts, A2). */
export async function spend(
  context: Pick<CommandContext, 'rowLocks'>,
  thread: ThreadTransaction,
  spending: Spending,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  if (!state || state.exceeded) return state?.exceeded;
  const verdict = evaluateSpending(await lockLines(context, thread, state), spending);
  if (verdict.kind === 'deny') return exceed(thread, state, verdict, place);
  for (const line of verdict.changed) await keepLine(thread, line);
  for (const { threadId, executionId, limit, max, used } of verdict.warns)
    thread.emit('budget.warning', { executionId, ...elsewhere(thread, threadId), limit, max, used }, place);
  return undefined;
}

/** S1: in the order of their keys; answered with the innermost account's first. */
async function lockLines(
  { rowLocks }: Pick<CommandContext, 'rowLocks'>,
  { trx }: ThreadTransaction,
  { accounts }: BudgetState,
): Promise<readonly BudgetLine[]> {
  const query = selectLines(trx, accounts);
  return toLines(accounts, await (rowLocks ? query.forUpdate() : query).execute());
}

async function keepLine(
  { trx }: ThreadTransaction,
  { threadId, executionId, limit, used, warned }: BudgetLine,
): Promise<void> {
  await trx
    .updateTable('budgets')
    .set({ used, warned: warned ? 1 : 0 })
    .where('thread_id', '=', threadId)
    .where('execution_id', '=', executionId)
    .where('name', '=', limit)
    .execute();
}

function exceed(
  thread: ThreadTransaction,
  state: BudgetState,
  { line, observed }: { readonly line: BudgetLine; readonly observed: number },
  place: SpendingPlace,
): StoredError {
  const { threadId, executionId, limit, max } = line;
  const error = { code: 'BudgetExceeded', message: describeExceeded(line, observed, thread.threadId) };
  thread.emit(
    'budget.exceeded',
    { executionId, ...elsewhere(thread, threadId), limit, max, observed },
    place,
  );
  keepBudget(thread, { ...state, exceeded: error });
  return error;
}

/** Told where the budget is another thread's. */
function elsewhere(thread: ThreadTransaction, threadId: string): { threadId?: string } {
  return threadId === thread.threadId ? {} : { threadId };
}
