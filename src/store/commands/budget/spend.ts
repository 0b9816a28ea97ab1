/** Spends counts of an execution's budgets, in the transaction of what is paid for: so once, whoever gives the command again. */
import { evaluateSpending, type Spending } from '../../../core/governance/budget.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import type { CommandContext } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { budgetOf } from './account.ts';
import { exceed, keepLines, lockLines, type SpendingPlace, warn } from './lines.ts';
import { runClocks } from './time.ts';

/** Undefined where it may go on; else why it may not: then nothing is spent, and the execution is over (account.ts, A3). */
export async function spend(
  context: Pick<CommandContext, 'rowLocks' | 'clock'>,
  thread: ThreadTransaction,
  spending: Spending,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  if (!state || state.exceeded) return state?.exceeded;
  const lines = await lockLines(context, thread, state.accounts);
  const time = await runClocks(context, thread, { state, lines, place });
  if (time.kind === 'over') return time.error;
  const verdict = evaluateSpending(lines, spending);
  if (verdict.kind === 'deny') return exceed(thread, state, verdict, place);
  await keepLines(thread, verdict.changed);
  warn(thread, verdict.warns, place);
  return undefined;
}
