/** Logs an author's policy's verdict on spending; a denial also ends the execution (account.ts, A3). */
import { type CountedLine, toShown } from '../../core/governance/budget-amount.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { budgetOf, keepBudget, limitedAccounts } from './account.ts';
import type { SpendingVerdict } from './budget-record.ts';
import { otherThread } from './lines.ts';
import { selectLines, toLines } from './read-lines.ts';

/**
 * Logs the verdict: a warning once for each policy and limit, a denial once. With a denial the open execution is
 * over: it begins nothing more.
 */
export async function emitSpendingVerdict(context: CommandContext, command: SpendingVerdict): Promise<void> {
  const { threadId, policy, effect, reason, step } = command;
  return inThread(context, threadId, async (thread) => {
    const state = budgetOf(thread.row);
    const accounts = limitedAccounts(state);
    if (!state || state.exceeded || accounts.length === 0) return;
    const lines = toLines(accounts, await selectLines(thread.trx, accounts).execute());
    const line = lines.find(({ limit }) => limit === command.limit) ?? lines[0];
    if (!line) return;
    const data = { ...dataOf(line), ...otherThread(thread, line.threadId), policy, reason };
    if (effect === 'deny') {
      thread.emit('budget.exceeded', { ...data, observed: usedOf(line) }, { step });
      keepBudget(thread, { ...state, exceeded: { code: 'BudgetExceeded', message: `${reason}.` } });
      return;
    }
    const [key, { told = [] }] = [`${policy}:${line.limit}`, state];
    if (told.includes(key)) return;
    thread.emit('budget.warning', { ...data, used: usedOf(line) }, { step });
    keepBudget(thread, { ...state, told: [...told, key] });
  });
}

function dataOf({ executionId, limit, max }: CountedLine) {
  return { executionId, limit, max: toShown(limit, max) };
}

function usedOf({ limit, used }: CountedLine): number {
  return toShown(limit, used);
}
