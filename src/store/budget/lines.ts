/**
 * Locks, changes and logs lines of budgets, in one transaction.
 * L2. Budget rows are locked after all other rows of a transaction, in key order: only they are shared by threads.
 *
 * The clocks of time limits (core/governance/runtime.ts). The clocks of a thread run from its first spending until its
 * execution ends, waits for people, or a child works in its place; whatever it begins afterwards starts them again.
 *
 * Lowers the limits of the open execution, because another agent has the thread or because input that has joined it has
 * lower ones. What has been spent already counts; a limit that the execution did not have counts from now on.
 */
import { describeExceeded } from '../../core/governance/budget.ts';
import { type Amount, type CountedLine, toShown } from '../../core/governance/budget-amount.ts';
import type { BudgetAccount } from '../../core/governance/budget-line.ts';
import { type RunLimits, WARN_AT } from '../../core/governance/run-limit.ts';
import {
  findTimeUp,
  isTime,
  leftMs,
  nearsEnd,
  startThreadClock,
  stopThreadClock,
  toMilliseconds,
  withElapsed,
} from '../../core/governance/runtime.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { CommandContext } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import {
  type BudgetState,
  budgetOf,
  insertLines,
  limitedAccounts,
  saveBudget,
  selectLines,
  toLimits,
  toLines,
} from './account.ts';

/** The step to which the logged events belong. */
export interface SpendingPlace {
  readonly step?: number;
}

/** L2: locks in key order; returns the lines of the innermost account first. */
export async function lockLines(
  { rowLocks }: CommandContext,
  { trx }: ThreadTransaction,
  accounts: readonly BudgetAccount[],
): Promise<readonly CountedLine[]> {
  const query = selectLines(trx, accounts);
  return toLines(accounts, await (rowLocks ? query.forUpdate() : query).execute());
}

export async function updateLines({ trx }: ThreadTransaction, lines: readonly CountedLine[]): Promise<void> {
  for (const { threadId, executionId, limit, used, reserved, estimated, warned, running } of lines)
    await updateRows(
      trx,
      'budgets',
      { thread_id: threadId, execution_id: executionId, name: limit },
      {
        used_units: used,
        reserved_units: reserved,
        estimated_units: estimated,
        warned: warned ? 1 : 0,
        running: running ? JSON.stringify(running) : null,
      },
    );
}

export function emitWarnings(
  thread: ThreadTransaction,
  lines: readonly CountedLine[],
  place: SpendingPlace,
): void {
  for (const line of lines)
    thread.emit(
      'budget.warning',
      { ...toLimitData(thread, line), used: toShown(line.limit, line.used) },
      place,
    );
}

/** An amount that could not be spent. `message`: the text of the error; by default that of `describeExceeded`. */
export interface Exceeding {
  readonly line: Pick<CountedLine, 'threadId' | 'executionId' | 'limit' | 'max'>;
  /** The amount that would have been used. */
  readonly observed: Amount;
  readonly message?: string;
}

/** Marks the execution as over (account.ts, A3). */
export function markExceeded(
  thread: ThreadTransaction,
  state: BudgetState,
  { line, observed, message }: Exceeding,
  place: SpendingPlace,
): StoredError {
  const { threadId, executionId, limit } = line;
  const data = { ...toLimitData(thread, line), observed: toShown(limit, observed) };
  const text = message ?? describeExceeded(line, observed, thread.threadId);
  const error = { code: 'BudgetExceeded', message: text };
  thread.emit('budget.exceeded', data, place);
  const over = { line: { threadId, executionId, limit, max: data.max }, observed: data.observed };
  // A cost that could not be determined leaves the budget usable for relatives.
  saveBudget(thread, { ...state, exceeded: error, over: message === undefined ? over : undefined });
  return error;
}

/** The limit, in events. The thread of its budget is omitted if it is this thread. */
export function toLimitData(
  thread: ThreadTransaction,
  { threadId, executionId, limit, max }: Exceeding['line'],
) {
  const other = threadId === thread.threadId ? {} : { threadId };
  return { executionId, ...other, limit, max: toShown(limit, max) };
}

/** The state of the clocks when the thread begins something. */
type TimeVerdict =
  | { readonly kind: 'over'; readonly error: StoredError }
  /** `leftMs`: absent if there is no time limit. */
  | { readonly kind: 'runs'; readonly leftMs?: number };

/** Starts the clocks when the thread begins something, unless their time is up. `lines` must be locked. */
export async function runClocks(
  { clock }: CommandContext,
  thread: ThreadTransaction,
  {
    state,
    lines,
    place,
  }: { readonly state: BudgetState; readonly lines: readonly CountedLine[]; readonly place: SpendingPlace },
): Promise<TimeVerdict> {
  if (!lines.some(isTime)) return { kind: 'runs' };
  const now = await clock(thread.trx);
  const line = findTimeUp(lines, now);
  if (line)
    return {
      kind: 'over',
      error: markExceeded(thread, state, { line, observed: toMilliseconds(line.used) }, place),
    };
  const near = lines.filter((each) => nearsEnd(each, now));
  for (const each of lines.filter(isTime)) {
    const entered = startThreadClock(each, thread.threadId, now);
    const warned = near.includes(each);
    if (entered !== each || warned)
      await updateLines(thread, [{ ...entered, warned: each.warned || warned }]);
  }
  emitWarnings(
    thread,
    near.map((each) => withElapsed(each, now)).map((each) => ({ ...each, used: toMilliseconds(each.used) })),
    place,
  );
  return { kind: 'runs', leftMs: leftMs(lines, now) };
}

/** Undefined if there is time left; writes nothing. */
export async function denyTime(
  { clock }: CommandContext,
  thread: ThreadTransaction,
  lines: readonly CountedLine[],
): Promise<Exceeding | undefined> {
  const line = lines.some(isTime) ? findTimeUp(lines, await clock(thread.trx)) : undefined;
  return line && { line, observed: toMilliseconds(line.used) };
}

/** Like `runClocks`, for work that was paid for before. Milliseconds left; undefined without a time limit. */
export async function resumeClocks(
  context: CommandContext,
  thread: ThreadTransaction,
  place: SpendingPlace = {},
): Promise<number | undefined> {
  const state = budgetOf(thread.row);
  if (!state) return undefined;
  if (state.exceeded) return 0;
  const accounts = limitedAccounts(state);
  if (accounts.length === 0) return undefined;
  const verdict = await runClocks(context, thread, {
    state,
    lines: await lockLines(context, thread, accounts),
    place,
  });
  return verdict.kind === 'over' ? 0 : verdict.leftMs;
}

/** Stops the clocks: the thread is not working from now on. */
export async function stopClocks(context: CommandContext, thread: ThreadTransaction): Promise<void> {
  const state = budgetOf(thread.row);
  const accounts = limitedAccounts(state);
  if (accounts.length === 0) return;
  const lines = (await lockLines(context, thread, accounts)).filter(isTime);
  if (lines.length === 0) return;
  const now = await context.clock(thread.trx);
  for (const line of lines) {
    const left = stopThreadClock(line, thread.threadId, now);
    if (left !== line) await updateLines(thread, [left]);
  }
}

export async function narrowBudget(
  context: CommandContext,
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
  if (!accounts.includes(account)) saveBudget(thread, { ...state, accounts: [account, ...accounts] });
  // Locks all of them, in key order, before any is changed (L2).
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
