/**
 * The clocks of time limits (core/governance/runtime.ts). The clocks of a thread run from its first spending until its
 * execution ends, waits for people, or a child works in its place; whatever it begins afterwards starts them again.
 */
import type { CountedLine } from '../../core/governance/budget-amount.ts';
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
import { type BudgetState, budgetOf, limitedAccounts } from './account.ts';
import { type Exceeding, emitWarnings, lockLines, markExceeded, type SpendingPlace } from './lines.ts';

type Clocked = Pick<CommandContext, 'rowLocks' | 'clock'>;

/** The state of the clocks when the thread begins something. */
export type TimeVerdict =
  | { readonly kind: 'over'; readonly error: StoredError }
  /** `leftMs`: absent if there is no time limit. */
  | { readonly kind: 'runs'; readonly leftMs?: number };

/** Starts the clocks when the thread begins something, unless their time is up. `lines` must be locked. */
export async function runClocks(
  { clock }: Clocked,
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
    if (entered !== each || warned) await keepClock(thread, { ...entered, warned: each.warned || warned });
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
  { clock }: Pick<CommandContext, 'clock'>,
  thread: ThreadTransaction,
  lines: readonly CountedLine[],
): Promise<Exceeding | undefined> {
  const line = lines.some(isTime) ? findTimeUp(lines, await clock(thread.trx)) : undefined;
  return line && { line, observed: toMilliseconds(line.used) };
}

/** Like `runClocks`, for work that was paid for before. Milliseconds left; undefined without a time limit. */
export async function resumeClocks(
  context: Clocked,
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
export async function stopClocks(context: Clocked, thread: ThreadTransaction): Promise<void> {
  const state = budgetOf(thread.row);
  const accounts = limitedAccounts(state);
  if (accounts.length === 0) return;
  const lines = (await lockLines(context, thread, accounts)).filter(isTime);
  if (lines.length === 0) return;
  const now = await context.clock(thread.trx);
  for (const line of lines) {
    const left = stopThreadClock(line, thread.threadId, now);
    if (left !== line) await keepClock(thread, left);
  }
}

async function keepClock(
  { trx }: ThreadTransaction,
  { threadId, executionId, limit, used, warned, running }: CountedLine,
): Promise<void> {
  await updateRows(
    trx,
    'budgets',
    { thread_id: threadId, execution_id: executionId, name: limit },
    { used_units: used, warned: warned ? 1 : 0, running: running ? JSON.stringify(running) : null },
  );
}
