/** Spends counts of an execution's budgets, in the transaction of what is paid for: so once, whoever gives the command again. */
import {
  BUDGET_LIMITS,
  type BudgetLimit,
  evaluateSpending,
  inOrder,
  isNear,
  type Spending,
} from '../../../core/governance/budget.ts';
import type { StoredError } from '../../../core/thread/step.ts';
import type { CommandContext } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { budgetOf } from './account.ts';
import { exceed, keepLines, lockLines, type SpendingPlace, warn } from './lines.ts';
import { selectLines, toLines } from './read-lines.ts';
import { denyTime, runClocks } from './time.ts';

/** Of a call: paid for once, as it begins at first. One that code makes has no row. */
export function costOf(call: { readonly started_at: unknown } | undefined): Spending {
  return call && call.started_at !== null ? {} : { maxToolCalls: 1 };
}

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

/** What has been spent already counts, whatever is left: what exceeds a limit is kept, and denies whatever begins behind it. Answers that denial. */
export async function charge(
  context: Pick<CommandContext, 'rowLocks'>,
  thread: ThreadTransaction,
  spent: Spending,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  const spentOf = (limit: BudgetLimit) => spent[limit] ?? 0;
  if (!state || !BUDGET_LIMITS.some((limit) => spentOf(limit) > 0)) return state?.exceeded;
  const all = await lockLines(context, thread, state.accounts);
  const lines = inOrder(all.filter(({ limit }) => spentOf(limit) > 0));
  const charged = lines.map((line) => ({ ...line, used: line.used + spentOf(line.limit) }));
  const changed = charged.map((line) => ({ ...line, warned: line.warned || isNear(line) }));
  await keepLines(thread, changed);
  warn(
    thread,
    changed.filter(({ warned }, index) => warned && !lines[index]?.warned),
    place,
  );
  const line = changed.find(({ used, max }) => used > max);
  if (state.exceeded || !line) return state.exceeded;
  return exceed(thread, state, { line, observed: line.used }, place);
}

/**
 * The same answer for what can never be paid for, before anybody is asked whether it may begin; nothing is spent. Rows are read without a lock,
 * as counts and time of an execution only grow: what is used up stays so.
 */
export async function foresee(
  context: Pick<CommandContext, 'clock'>,
  thread: ThreadTransaction,
  spending: Spending,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  if (!state || state.exceeded) return state?.exceeded;
  const lines = toLines(state.accounts, await selectLines(thread.trx, state.accounts).execute());
  const late = await denyTime(context, thread, lines);
  if (late) return exceed(thread, state, late, place);
  const verdict = evaluateSpending(lines, spending);
  return verdict.kind === 'deny' ? exceed(thread, state, verdict, place) : undefined;
}
