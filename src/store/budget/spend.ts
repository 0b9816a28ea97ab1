/** Spends counts of budgets in the transaction of what is paid for: once, even if the command is repeated. */
import { evaluateSpending, inOrder, isNear } from '../../core/governance/budget.ts';
import type { Payment } from '../../core/governance/budget-amount.ts';
import { LINE_LIMITS, type LineLimit } from '../../core/governance/budget-line.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { clampAmount } from '../../core/value/money.ts';
import type { CommandContext } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { budgetOf, limitedAccounts, selectLines, toLines } from './account.ts';
import {
  denyTime,
  emitWarnings,
  lockLines,
  markExceeded,
  runClocks,
  type SpendingPlace,
  updateLines,
} from './lines.ts';

/** The cost of a call, paid when it first begins. A call that code makes has no row. */
export function costOf(call: { readonly started_at: unknown } | undefined): Payment {
  return call && call.started_at !== null ? {} : { maxToolCalls: 1n };
}

/** Undefined if the work may go on; else the error: nothing is spent, and the execution is over (account.ts, A3). */
export async function spend(
  context: CommandContext,
  thread: ThreadTransaction,
  spending: Payment,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  const accounts = limitedAccounts(state);
  if (!state || state.exceeded || accounts.length === 0) return state?.exceeded;
  const lines = await lockLines(context, thread, accounts);
  const time = await runClocks(context, thread, { state, lines, place });
  if (time.kind === 'over') return time.error;
  const verdict = evaluateSpending(lines, spending);
  if (verdict.kind === 'deny') return markExceeded(thread, state, verdict, place);
  await updateLines(thread, verdict.changed);
  emitWarnings(thread, verdict.warns, place);
  return undefined;
}

/**
 * Counts what has been used already. If that exceeds a limit, all that begins afterwards is denied; returns that
 * denial.
 */
export async function charge(
  context: CommandContext,
  thread: ThreadTransaction,
  spent: Payment,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  const spentOf = (limit: LineLimit) => spent[limit] ?? 0n;
  if (!state || !LINE_LIMITS.some((limit) => spentOf(limit) > 0n)) return state?.exceeded;
  const all = await lockLines(context, thread, state.accounts);
  const lines = inOrder(all.filter(({ limit }) => spentOf(limit) > 0n));
  const charged = lines.map((line) => ({ ...line, used: clampAmount(line.used + spentOf(line.limit)) }));
  const changed = charged.map((line) => ({ ...line, warned: line.warned || isNear(line) }));
  await updateLines(thread, changed);
  emitWarnings(
    thread,
    changed.filter(({ warned }, index) => warned && !lines[index]?.warned),
    place,
  );
  const line = changed.find(({ used, max }) => used > max);
  if (state.exceeded || !line) return state.exceeded;
  return markExceeded(thread, state, { line, observed: line.used }, place);
}

/**
 * Returns the error of `spend` for what can never be paid for, before a person is asked for approval; spends nothing.
 * Rows are read without a lock: counts and time of an execution only grow, so what is used up stays used up.
 */
export async function findUnaffordable(
  context: CommandContext,
  thread: ThreadTransaction,
  spending: Payment,
  place: SpendingPlace = {},
): Promise<StoredError | undefined> {
  const state = budgetOf(thread.row);
  const accounts = limitedAccounts(state);
  if (!state || state.exceeded || accounts.length === 0) return state?.exceeded;
  const lines = toLines(accounts, await selectLines(thread.trx, accounts).execute());
  const late = await denyTime(context, thread, lines);
  if (late) return markExceeded(thread, state, late, place);
  const verdict = evaluateSpending(lines, spending);
  return verdict.kind === 'deny' ? markExceeded(thread, state, verdict, place) : undefined;
}
