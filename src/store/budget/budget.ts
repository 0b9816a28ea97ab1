/**
 * The commands of budgets: reads what an execution may spend and has spent, lists threads that wait for reserved amounts,
 * pays for a tool that code invokes, which counts like any other call but has no row, and logs the verdict of an
 * author's policy; a denial also ends the execution (account.ts, A3).
 * - A paid call's key is stored: a repeated command, as by another attempt of an idempotent tool, pays once.
 */
import type { Transaction } from 'kysely';
import { type CountedLine, toShown, toShownLine } from '../../core/governance/budget-amount.ts';
import type { BudgetAccount, BudgetLine } from '../../core/governance/budget-line.ts';
import { isTime, toMilliseconds, withElapsed } from '../../core/governance/runtime.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot, inThread } from '../transaction/context.ts';
import { selectFamily } from '../transaction/read.ts';
import { findRow } from '../transaction/rows.ts';
import { budgetOf, limitedAccounts, saveBudget, selectLines, toLines } from './account.ts';
import type { PaidCall, PayInvoked, SpendingVerdict } from './budget-record.ts';
import { toLimitData } from './lines.ts';
import { spend } from './spend.ts';

/**
 * The budget lines of the running execution, its own first, its root's last; for a thread at rest, those of its
 * newest execution. Empty if nothing limits it, and for an unknown thread.
 */
export async function readBudget(context: CommandContext, threadId: string): Promise<readonly BudgetLine[]> {
  return inSnapshot(context, async (trx) => {
    const row = await findRow(trx, 'threads', { id: threadId }, ['budget']);
    const state = row && budgetOf(row);
    const accounts = limitedAccounts(state ?? { accounts: await readNewest(trx, threadId) });
    if (accounts.length === 0) return [];
    const lines = toLines(accounts, await selectLines(trx, accounts).execute());
    const limits = lines.filter(({ limit }) => limit !== 'familyCalls');
    return (await atNow(context, trx, limits)).map(toShownLine);
  });
}

async function readNewest(trx: Transaction<Tables>, threadId: string): Promise<readonly BudgetAccount[]> {
  const newest = await trx
    .selectFrom('executions')
    .select(['id', 'budget'])
    .where('thread_id', '=', threadId)
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!newest) return [];
  return newest.budget === null ? [{ threadId, executionId: newest.id }] : JSON.parse(newest.budget);
}

/** Advances running clocks to the present, to the millisecond. */
async function atNow(
  { clock }: CommandContext,
  trx: Transaction<Tables>,
  lines: readonly CountedLine[],
): Promise<readonly CountedLine[]> {
  if (!lines.some(isTime)) return lines;
  const now = await clock(trx);
  return lines.map((line) => {
    if (!isTime(line)) return line;
    const { used, ...known } = withElapsed(line, now);
    return { ...known, used: toMilliseconds(used) };
  });
}

/** Other threads of its family whose steps wait for what others have reserved of a budget. */
export async function listWaiting({ db }: CommandContext, threadId: string): Promise<readonly string[]> {
  const relatives = await selectFamily(db, threadId)
    .select(['id', 'budget'])
    .where('id', '<>', threadId)
    .where('budget', 'is not', null)
    .where('terminated_at', 'is', null)
    .execute();
  return relatives.filter((relative) => budgetOf(relative)?.waits).map(({ id }) => id);
}

/** Charges a call to the budgets of the thread's open execution; writes nothing if it has none. */
export async function payInvoked(
  context: CommandContext,
  { threadId, key, step }: PayInvoked,
): Promise<PaidCall> {
  return inThread(context, threadId, async (thread) => {
    if (thread.row.budget === null) return { kind: 'paid' };
    const isNew = await thread.insertNew('budget_payments', { key });
    const denied = await spend(context, thread, isNew ? { maxToolCalls: 1n } : {}, { step });
    if (!denied) return { kind: 'paid' };
    if (isNew) await thread.delete('budget_payments', { key });
    return { kind: 'exceeded', error: denied };
  });
}

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
    const data = { ...toLimitData(thread, line), policy, reason };
    const used = toShown(line.limit, line.used);
    if (effect === 'deny') {
      thread.emit('budget.exceeded', { ...data, observed: used }, { step });
      saveBudget(thread, { ...state, exceeded: { code: 'BudgetExceeded', message: `${reason}.` } });
      return;
    }
    const [key, { told = [] }] = [`${policy}:${line.limit}`, state];
    if (told.includes(key)) return;
    thread.emit('budget.warning', { ...data, used }, { step });
    saveBudget(thread, { ...state, told: [...told, key] });
  });
}
