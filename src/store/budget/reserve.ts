/**
 * Reserves what a request to a model may use of its execution's budgets (core/governance/reservation.ts): reserved when
 * its row is written, settled in the transaction that stores its end.
 * - A reservation has its request's key (step, attempt, call): a repeated command finds what the first one reserved,
 *   and a second settlement changes nothing.
 * - A request whose end will not be reported, as its worker was lost or its execution has ended, is settled as
 *   reserved.
 * - A reservation past its lease that blocks another is settled so too: its own worker would have ended it by then.
 * - A request that the answer does not depend on is declined silently, unless there is room for it twice.
 */
import type { Selectable } from 'kysely';
import { describeUnpriced, evaluateSpending } from '../../core/governance/budget.ts';
import type { BudgetAccount } from '../../core/governance/budget-line.ts';
import {
  type Amounts,
  addAmounts,
  changeAmounts,
  hasAmounts,
  hasRoomForTwo,
  NO_AMOUNTS,
  negate,
  planReservation,
} from '../../core/governance/reservation.ts';
import type { ModelCallEnd, ModelCallStart, StartedModelCall } from '../step/step-record.ts';
import type { CommandContext } from '../transaction/context.ts';
import { insertRows, selectRows, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type BudgetState, budgetOf, saveBudget } from './account.ts';
import type { BudgetReservationTable } from './budget-record.ts';
import { emitWarnings, lockLines, markExceeded, resumeClocks, runClocks, updateLines } from './lines.ts';

type CallKey = Pick<ModelCallStart, 'step' | 'attempt' | 'call'>;
type CallRequest = Pick<ModelCallStart, 'model' | 'reserve' | 'purpose'>;
type CallEnd = Pick<ModelCallEnd, 'ok' | 'usage' | 'cost' | 'error'>;
type Reservation = Selectable<BudgetReservationTable>;

/** Counts the request and reserves what it may cost. */
export async function reserveCall(
  context: CommandContext,
  thread: ThreadTransaction,
  { step, attempt, call, model, reserve, purpose }: CallKey & CallRequest,
): Promise<StartedModelCall> {
  const state = budgetOf(thread.row);
  if (!state) return { kind: 'started' };
  if (state.exceeded) return { kind: 'exceeded', error: state.exceeded };
  const lines = await lockLines(context, thread, state.accounts);
  const time = await runClocks(context, thread, { state, lines, place: { step } });
  if (time.kind === 'over') return { kind: 'exceeded', error: time.error };
  const { leftMs } = time;
  // There must be room for another request.
  if (purpose && !hasRoomForTwo(lines, reserve)) return { kind: 'declined' };
  const counted = evaluateSpending(lines, { maxLlmCalls: 1n, familyCalls: 1n });
  if (counted.kind === 'deny')
    return { kind: 'exceeded', error: markExceeded(thread, state, counted, { step }) };
  const asked = hasAmounts(lines) ? reserve?.() : undefined;
  const plan = asked && planReservation(lines, asked);
  if (plan?.kind === 'deny') return { kind: 'exceeded', error: markExceeded(thread, state, plan, { step }) };
  if (plan?.kind === 'unpriced') {
    const { line } = plan;
    const over = { line, observed: line.used, message: describeUnpriced(line, model) };
    return { kind: 'exceeded', error: markExceeded(thread, state, over, { step }) };
  }
  if (plan?.kind === 'blocked') {
    // The blocked request settles it.
    if (await settleExpired(context, thread, state))
      return reserveCall(context, thread, { step, attempt, call, model, reserve, purpose });
    saveBudget(thread, { ...state, waits: true });
    return { kind: 'blocked' };
  }
  await updateLines(thread, counted.changed);
  emitWarnings(thread, counted.warns, { step });
  if (!plan) return { kind: 'started', leftMs };
  await updateLines(thread, changeAmounts(lines, { reserved: plan.amounts }).changed);
  const { maxOutputTokens } = plan;
  await insertRows(thread.trx, 'budget_reservations', [
    {
      thread_id: thread.threadId,
      step,
      attempt,
      call,
      state: 'open',
      accounts: JSON.stringify(state.accounts),
      root_thread_id: rootOf(state.accounts, thread),
      ...toColumns(plan.amounts),
      max_output: maxOutputTokens ?? null,
      lease_until: thread.now + asked.leaseMs * 1000,
    },
  ]);
  return { kind: 'started', leftMs, maxOutputTokens };
}

function rootOf(accounts: readonly BudgetAccount[], { threadId }: ThreadTransaction): string {
  return accounts.at(-1)?.threadId ?? threadId;
}

/** The request has begun already; returns the limits that it got then. */
export async function findReserved(
  context: CommandContext,
  thread: ThreadTransaction,
  key: CallKey,
): Promise<Extract<StartedModelCall, { kind: 'started' }>> {
  if (thread.row.budget === null) return { kind: 'started' };
  const row = await findReservation(thread, key);
  const leftMs = await resumeClocks(context, thread, key);
  return { kind: 'started', leftMs, maxOutputTokens: row?.max_output ?? undefined };
}

function findReservation(
  thread: ThreadTransaction,
  { step, attempt, call }: CallKey,
): Promise<Reservation | undefined> {
  return thread.find('budget_reservations', { step, attempt, call });
}

/** Settles a request that has ended. It may have used more than was reserved: then the execution is over. */
export async function settleReservation(
  context: CommandContext,
  thread: ThreadTransaction,
  end: CallKey & CallEnd,
): Promise<void> {
  if (thread.row.budget === null) return;
  const row = await findReservation(thread, end);
  if (!row || row.state === 'settled') return;
  const used = usedBy(end);
  if (used === undefined) return settleAsReserved(context, thread, row);
  await settle(context, thread, row, { used, isEstimate: end.usage?.estimated === true, state: 'settled' });
}

/** Undefined for one that failed in transit: the provider may have answered. One that was too long has used nothing. */
function usedBy({ ok, usage, cost, error }: CallEnd): Amounts | undefined {
  if (!ok && error?.statusCode === undefined && !error?.tooLong) return undefined;
  const { promptTokens = 0, completionTokens = 0 } = usage ?? {};
  return {
    maxInputTokens: BigInt(promptTokens),
    maxOutputTokens: BigInt(completionTokens),
    maxCost: cost ?? 0n,
  };
}

interface Settling {
  readonly used: Amounts;
  readonly isEstimate: boolean;
  readonly state: 'settled' | 'estimated';
}

async function settle(
  context: CommandContext,
  thread: ThreadTransaction,
  row: Reservation,
  { used, isEstimate, state }: Settling,
): Promise<void> {
  const held = toAmounts(row);
  const lines = await lockLines(context, thread, JSON.parse(row.accounts));
  const estimated = isEstimate ? used : NO_AMOUNTS;
  const change =
    row.state === 'open'
      ? { reserved: negate(held), used, estimated }
      : { used: addAmounts(used, negate(held)), estimated: addAmounts(estimated, negate(held)) };
  const { changed, warns, over } = changeAmounts(lines, change);
  await updateLines(thread, changed);
  const { thread_id, step, attempt, call } = row;
  const key = { thread_id, step, attempt, call };
  await updateRows(thread.trx, 'budget_reservations', key, { state, ...toColumns(used) });
  emitWarnings(thread, warns, row);
  const [line] = over;
  const budget = budgetOf(thread.row);
  if (state === 'settled' && line && budget && !budget.exceeded)
    markExceeded(thread, budget, { line, observed: line.used }, row);
}

/** Its end will not be reported. */
async function settleAsReserved(
  context: CommandContext,
  thread: ThreadTransaction,
  row: Reservation,
): Promise<void> {
  if (row.state !== 'open') return;
  await settle(context, thread, row, { used: toAmounts(row), isEstimate: true, state: 'estimated' });
}

/** Settles the open reservations of one step, or all that the thread has. */
export async function settleUnreported(
  context: CommandContext,
  thread: ThreadTransaction,
  { step }: { readonly step?: number } = {},
): Promise<void> {
  if (thread.row.budget === null) return;
  const open = thread.select('budget_reservations', { state: 'open' }).selectAll();
  const rows = await (step === undefined ? open : open.where('step', '=', step)).execute();
  for (const row of rows) await settleAsReserved(context, thread, row);
}

/** Settles expired reservations of the whole family. Returns true if there were any. */
async function settleExpired(
  context: CommandContext,
  thread: ThreadTransaction,
  { accounts }: BudgetState,
): Promise<boolean> {
  const rows = await selectRows(thread.trx, 'budget_reservations', {
    root_thread_id: rootOf(accounts, thread),
    state: 'open',
  })
    .selectAll()
    .where('lease_until', '<', thread.now)
    .orderBy('thread_id')
    .orderBy('step')
    .orderBy('attempt')
    .orderBy('call')
    .execute();
  for (const row of rows) await settleAsReserved(context, thread, row);
  return rows.length > 0;
}

/** Ends the step's wait for its budget, when the step is requested again. Returns true if it had waited. */
export function endWait(thread: ThreadTransaction): boolean {
  const state = budgetOf(thread.row);
  if (!state?.waits) return false;
  const { waits: _, ...rest } = state;
  saveBudget(thread, rest);
  return true;
}

function toColumns({ maxInputTokens: input, maxOutputTokens: output, maxCost }: Amounts) {
  return { input: Number(input), output: Number(output), cost_pico: maxCost };
}

function toAmounts({ input, output, cost_pico: maxCost }: Reservation): Amounts {
  return { maxInputTokens: BigInt(input), maxOutputTokens: BigInt(output), maxCost };
}
