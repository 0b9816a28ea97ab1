/**
 * A child's reports to its parent (runtime §8.2): stored with the end of its execution, in the same transaction, until
 * the parent has them. A report's id is that of the execution, or `end`.
 * R1. A report made before the child had read its parent's newest message does not answer that message. A thread at
 *     rest sends no further report, so its report always counts as the answer.
 * R2. A child whose communication is explicit says by itself how it is: the status that it has set last is not replaced when
 *     its execution ends with a result (runtime §8.2).
 */
import type { RestStatus } from '../../core/thread/step.ts';
import { isOwnStatus, type SubagentReport, statusAfter } from '../../core/thread/subagent-report.ts';
import { budgetBehind } from '../budget/account.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { hasRow, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { type ChildRow, findChild, findOwnEntry, toChildRecord, updateChild } from './child.ts';
import type { DueReport } from './report-record.ts';

export const END = 'end';

export interface EndedExecution {
  /** Null if no execution ended: the commit is a repeated one. */
  readonly executionId: string | null;
  readonly report: SubagentReport | undefined;
  /** True if the thread has more to do and goes on. */
  readonly goesOn: boolean;
}

export async function storeReport(
  thread: ThreadTransaction,
  { executionId, report, goesOn }: EndedExecution,
): Promise<void> {
  const child = report && executionId !== null && (await findOwnEntry(thread));
  if (!child) return;
  const early = goesOn && (await hasUnread(thread, child));
  await insertReport(thread, { id: executionId, report, early });
  // A child that is not resumable is done, whatever else is in its queue.
  if (goesOn && child.resumable === 1) return;
  // R2: its own words stay.
  if (child.explicit === 1 && report.kind === 'result' && isOwnStatus(child.status)) return;
  await updateChild(thread, thread.threadId, { status: statusAfter(report.kind) });
}

/** R1: true if the newest message is unread. */
async function hasUnread(thread: ThreadTransaction, { told_id: id }: ChildRow): Promise<boolean> {
  if (id === null) return false;
  const item = await thread.find('items', { id }, ['state']);
  return item?.state === 'queued';
}

/** Stores the end of a thread. A parent that expects an answer, or waits, gets a report of it. */
export async function storeThreadEnd(thread: ThreadTransaction, reason: string | undefined): Promise<void> {
  const child = await findOwnEntry(thread);
  if (!child) return;
  const status: RestStatus = 'terminated';
  await updateChild(thread, thread.threadId, { status, terminated_at: thread.now });
  if (child.owes === 0 && child.wait_step === null) return;
  const report: SubagentReport = { kind: 'terminated', content: reason ?? '', attachments: [] };
  await insertReport(thread, { id: END, report, early: false });
}

/** Like `storeThreadEnd`, for a task, which ends once, with its only report. */
export async function storeTaskEnd(thread: ThreadTransaction, report: SubagentReport): Promise<void> {
  if (!(await findOwnEntry(thread))) return;
  const status = statusAfter(report.kind);
  await updateChild(thread, thread.threadId, { status, terminated_at: thread.now });
  await insertReport(thread, { id: END, report, early: false });
}

/** The budgets that the child's execution has inherited: what the parent begins with the report spends from them. */
function causeOf({ row }: ThreadTransaction): string | null {
  const accounts = budgetBehind(row);
  return accounts.length === 0 ? null : JSON.stringify(accounts);
}

interface NewReport {
  readonly id: string;
  readonly report: SubagentReport;
  readonly early: boolean;
}

async function insertReport(
  thread: ThreadTransaction,
  { id, report: { kind, content, attachments }, early }: NewReport,
): Promise<void> {
  await thread.trx
    .insertInto('child_reports')
    .values({
      child_id: thread.threadId,
      id,
      kind,
      content,
      attachments: JSON.stringify(attachments),
      state: 'due',
      early: early ? 1 : 0,
      budget: causeOf(thread),
      // Each later than the one before, so that they are delivered in order.
      created_at: thread.stamp(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function hasDueReport({ trx, threadId, row }: ThreadTransaction): Promise<boolean> {
  if (row.parent_id === null) return false;
  return hasRow(trx, 'child_reports', { child_id: threadId, state: 'due' });
}

/** Undelivered reports, in the order in which they were made. */
export async function listDueReports(
  context: CommandContext,
  childId: string,
): Promise<readonly DueReport[]> {
  return inSnapshot(context, async (trx) => {
    const child = await findChild(trx, childId);
    if (!child) return [];
    const due = await selectRows(trx, 'child_reports', { child_id: childId, state: 'due' })
      .select(['id', 'kind'])
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const record = toChildRecord(child);
    return due.map(({ id, kind }) => ({ id, kind, child: record }));
  });
}
