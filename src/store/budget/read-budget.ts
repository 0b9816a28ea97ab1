/** Reads what an execution may spend and has spent, by the limits of agents and contexts: the open one, else the newest. */
import type { Transaction } from 'kysely';
import { type CountedLine, toShownLine } from '../../core/governance/budget-amount.ts';
import type { BudgetAccount, BudgetLine } from '../../core/governance/budget-line.ts';
import { isTime, toMilliseconds, withElapsed } from '../../core/governance/runtime.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import { budgetOf, limitedAccounts } from './account.ts';
import { selectLines, toLines } from './read-lines.ts';

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
