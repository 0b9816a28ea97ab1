/** Logs an author's policy's verdict on spending; a denial also ends the execution (account.ts, A3). */
import type { BudgetLine } from '../../../core/governance/budget.ts';
import type { SpendingVerdict } from '../../port/budget.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { budgetOf, keepBudget } from './account.ts';
import { otherThread } from './lines.ts';
import { selectLines, toLines } from './read-lines.ts';

export async function emitSpendingVerdict(context: CommandContext, command: SpendingVerdict): Promise<void> {
  const { threadId, policy, effect, reason, step } = command;
  return inThread(context, threadId, async (thread) => {
    const state = budgetOf(thread.row);
    if (!state || state.exceeded) return;
    const lines = toLines(state.accounts, await selectLines(thread.trx, state.accounts).execute());
    const line = lines.find(({ limit }) => limit === command.limit) ?? lines[0];
    if (!line) return;
    const data = { ...dataOf(line), ...otherThread(thread, line.threadId), policy, reason };
    if (effect === 'deny') {
      thread.emit('budget.exceeded', { ...data, observed: line.used }, { step });
      keepBudget(thread, { ...state, exceeded: { code: 'BudgetExceeded', message: `${reason}.` } });
      return;
    }
    const [key, { told = [] }] = [`${policy}:${line.limit}`, state];
    if (told.includes(key)) return;
    thread.emit('budget.warning', { ...data, used: line.used }, { step });
    keepBudget(thread, { ...state, told: [...told, key] });
  });
}

function dataOf({ executionId, limit, max }: BudgetLine) {
  return { executionId, limit, max };
}
