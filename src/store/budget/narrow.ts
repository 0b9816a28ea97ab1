/**
 * Lowers the limits of the open execution, because another agent has the thread or because input that has joined it has
 * lower ones. What has been spent already counts; a limit that the execution did not have counts from now on.
 */
import type { Amount } from '../../core/governance/budget-amount.ts';
import { type RunLimits, WARN_AT } from '../../core/governance/run-limit.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { budgetOf, insertLines, keepBudget, toLimits } from './account.ts';
import { lockLines } from './lines.ts';

export async function narrowBudget(
  context: Pick<CommandContext, 'rowLocks'>,
  thread: ThreadTransaction,
  executionId: string,
  given: RunLimits | undefined,
): Promise<void> {
  const limits = toLimits(given);
  if (limits.length === 0) return;
  const { threadId } = thread;
  const { accounts = [], ...state } = budgetOf(thread.row) ?? {};
  // The account that the execution spends from in this thread: its own, or that of the execution that it is a part of.
  const account = accounts.find((each) => each.threadId === threadId) ?? { threadId, executionId };
  if (!accounts.includes(account)) keepBudget(thread, { ...state, accounts: [account, ...accounts] });
  // Locks all of them, in key order, before any is changed (lines.ts, L1).
  const lines = await lockLines(context, thread, accounts);
  const isWider = (limit: string, max: Amount) =>
    lines.some(
      (line) =>
        line.threadId === threadId &&
        line.executionId === account.executionId &&
        line.limit === limit &&
        line.max > max,
    );
  await insertLines(thread, account.executionId, { limits, warnAt: given?.warnAt ?? WARN_AT });
  for (const [name, max] of limits.filter(([limit, max]) => isWider(limit, max)))
    await thread.update('budgets', { execution_id: account.executionId, name }, { max_units: max });
}
