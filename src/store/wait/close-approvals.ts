/**
 * Closes approvals of relatives when the execution of a thread has exceeded a budget that they spend from too. Their
 * executions are over as well: what is waiting for approval could not be paid for.
 * - Each thread has a separate transaction: a repeated command closes what is left.
 */
import { toAmount } from '../../core/governance/budget-amount.ts';
import { type BudgetState, budgetOf, type Exceeded } from '../budget/account.ts';
import { type Exceeding, markExceeded } from '../budget/lines.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { selectFamily } from '../transaction/read.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ForgottenWait } from './wait-record.ts';
import { endWait } from './wait-row.ts';

/**
 * For a thread whose open execution has exceeded a budget: closes the approvals awaited by relatives that spend from
 * the same budget; their executions are over, too. Returns the closed waits, so that their threads can be notified.
 */
export async function closeApprovals(
  context: CommandContext,
  threadId: string,
): Promise<readonly ForgottenWait[]> {
  const over = await readExceeded(context, threadId);
  if (!over) return [];
  const closed: ForgottenWait[] = [];
  for (const relative of await listAskingRelatives(context, threadId, over))
    closed.push(...(await inThread(context, relative, (thread) => closeThreadApprovals(thread, over))));
  return closed;
}

async function readExceeded({ db }: CommandContext, threadId: string): Promise<Exceeded | undefined> {
  const row = await findRow(db, 'threads', { id: threadId }, ['budget']);
  return row && budgetOf(row)?.over;
}

const spendsFrom =
  ({ line }: Exceeded) =>
  (state: BudgetState | undefined): state is BudgetState =>
    state?.accounts.some(
      ({ threadId, executionId }) => threadId === line.threadId && executionId === line.executionId,
    ) ?? false;

async function listAskingRelatives(
  { db }: CommandContext,
  threadId: string,
  over: Exceeded,
): Promise<string[]> {
  const relatives = await selectFamily(db, threadId)
    .select(['id', 'budget'])
    .where('id', '<>', threadId)
    .where('open_waits', '>', 0)
    .where('budget', 'is not', null)
    .where('terminated_at', 'is', null)
    .orderBy('id')
    .execute();
  return relatives.filter((row) => spendsFrom(over)(budgetOf(row))).map(({ id }) => id);
}

function toExceeding({ line, observed }: Exceeded): Exceeding {
  const { limit, max } = line;
  return { line: { ...line, max: toAmount(limit, max) }, observed: toAmount(limit, observed) };
}

async function closeThreadApprovals(thread: ThreadTransaction, over: Exceeded): Promise<ForgottenWait[]> {
  const state = budgetOf(thread.row);
  if (!spendsFrom(over)(state) || state.exceeded) return [];
  const approvals = await thread
    .select('waits', { state: 'open', kind: 'approval', blocks: 1 })
    .selectAll()
    .orderBy('opened_at')
    .execute();
  if (approvals.length === 0) return [];
  markExceeded(thread, state, toExceeding(over), { step: approvals[0]?.step ?? undefined });
  for (const row of approvals) await endWait(thread, row, { state: 'closed', reason: 'BudgetExceeded' });
  return approvals.map(({ id }) => ({ id, threadId: thread.threadId }));
}
