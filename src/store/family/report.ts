/**
 * A child's reports to its parent (runtime §8.2): stored with the end of its execution, in the same transaction, until
 * the parent has them. A report's id is that of the execution, or `end`.
 * - A report made before the child had read its parent's newest message does not answer that message. A thread at
 *   rest sends no further report, so its report always counts as the answer.
 * - A child whose communication is explicit says by itself how it is: the status that it has set last is not replaced when
 *   its execution ends with a result (runtime §8.2).
 *
 * The delivery to the parent (definitions §13.6) is one transaction under the parent's lock, which also decides between
 * two deliveries of the same report.
 * - A waiting call without a result gets the report, unless that is early. The child's communication does not matter
 *   (definitions §22.23).
 * - Any other report becomes a silent message to the side that asked, unless communication is explicit or no one
 *   asked for what it says.
 * - The child's run context also holds for what its report begins: a child cannot be used to widen a run.
 * - The end of a cancelled child does not set a parent to work that was stopped or cancelled: that is why the child was.
 */

import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type GivenContext, reportContext } from '../../core/governance/run-context.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { roleTo } from '../../core/thread/session.ts';
import type { RestStatus } from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import {
  formatReport,
  isOwnStatus,
  type ReportKind,
  type SubagentReport,
  statusAfter,
} from '../../core/thread/subagent-report.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { budgetBehind, type CausedItem } from '../budget/account.ts';
import { enqueue } from '../message/queue.ts';
import { toMessage } from '../schema/rows.ts';
import { type CommandContext, inSnapshot, inThread } from '../transaction/context.ts';
import { findRow, hasRow, selectRows, updateRows } from '../transaction/rows.ts';
import { readGiven } from '../transaction/run-context.ts';
import { byTime, selectStepMessages } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove, showBelow } from '../wait/shown-wait.ts';
import {
  type ChildRow,
  findAskingSide,
  findChild,
  findOwnEntry,
  toChildRecord,
  updateChild,
} from './child.ts';
import { copyFiles, replaceInText } from './child-files.ts';
import type { ChildReportTable, DeliveredReport, DueReport, LastStep } from './family-record.ts';

const END = 'end';

interface EndedExecution {
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
  if (child.explicit === 1 && report.kind === 'result' && isOwnStatus(child.status)) return;
  await updateChild(thread, thread.threadId, { status: statusAfter(report.kind) });
}

/** True if the newest message is unread. */
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

interface NewReport {
  readonly id: string;
  readonly report: SubagentReport;
  readonly early: boolean;
}

async function insertReport(
  thread: ThreadTransaction,
  { id, report: { kind, content, attachments }, early }: NewReport,
): Promise<void> {
  // The budgets that the child's execution has inherited: what the parent begins with the report spends from them.
  const accounts = budgetBehind(thread.row);
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
      budget: accounts.length === 0 ? null : JSON.stringify(accounts),
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

type ReportRow = Selectable<ChildReportTable>;

/**
 * Delivers a report to the parent: to the call that waits for it, else as a queued message unless communication is
 * explicit. A report made before the child had read the call's message does not answer that call. `stopped` only goes
 * to a call; `terminated` only if the parent awaits an answer. Event `subagent.returned` or `subagent.failed`.
 * Delivered once: given again, it returns the outcome of the first delivery. Rejects with `ThreadNotFound` for an
 * unknown one.
 */
export async function deliverReport(
  context: CommandContext,
  childId: string,
  reportId: string,
): Promise<DeliveredReport> {
  const known = await findChild(context.db, childId);
  if (!known) throw unknownReport(childId, reportId);
  let updatesAncestors = false;
  const delivered = await inThread<DeliveredReport>(context, known.parent_id, async (parent) => {
    const child = await findChild(parent.trx, childId);
    const report = await findRow(parent.trx, 'child_reports', { child_id: childId, id: reportId });
    if (!child || !report) throw unknownReport(childId, reportId);
    const parentEnded = parent.row.terminated_at !== null;
    // Also for a repeated delivery: the worker of the first one may have been lost in between.
    updatesAncestors = parent.row.open_waits > 0 || report.state !== 'due';
    if (report.state !== 'due') return { by: deliveredBy(report), parentEnded, updatesAncestors: true };
    const by = await chooseDelivery(parent, child, report);
    await deliver(parent, { child, report, by });
    // The parent no longer waits for the child.
    if (!parentEnded && parent.row.open_waits > 0) await showBelow(parent);
    if (!parentEnded) emitDelivered(parent, { child, report, by });
    return {
      by,
      parentEnded,
      updatesAncestors: parent.row.unseen_since === null ? undefined : (true as const),
    };
  });
  if (updatesAncestors) await showAbove(context, known.parent_id);
  return delivered;
}

function unknownReport(childId: string, reportId: string): RuntimeError {
  return new RuntimeError(
    'ThreadNotFound',
    `Thread "${childId}" has no report "${reportId}" for a parent; nothing is left to deliver.`,
  );
}

type DeliveryMethod = DeliveredReport['by'];

function deliveredBy({ state, call_step: step }: ReportRow): DeliveryMethod {
  if (state === 'dropped') return 'dropped';
  return step === null ? 'message' : 'call';
}

async function chooseDelivery(
  parent: ThreadTransaction,
  child: ChildRow,
  report: ReportRow,
): Promise<DeliveryMethod> {
  if (parent.row.terminated_at !== null) return 'dropped';
  if (child.superseded === 1) return 'dropped';
  // A call that waits gets it.
  if (report.early === 0 && (await isWaiting(parent, child))) return 'call';
  // A message, unless the report is not to be delivered.
  if (child.explicit === 1 || report.kind === 'stopped') return 'dropped';
  // Not to a parent that was stopped itself.
  if (report.kind === 'canceled' && (await wasStopped(parent))) return 'dropped';
  return report.kind === 'terminated' && child.owes === 0 ? 'dropped' : 'message';
}

/** Stopped, or being cancelled: its children are cancelled with it. */
async function wasStopped(thread: ThreadTransaction): Promise<boolean> {
  if (thread.row.status === 'stopped') return true;
  const newest = await thread
    .select('executions')
    .select('cancel_request')
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest !== undefined && newest.cancel_request !== null;
}

async function isWaiting(
  parent: ThreadTransaction,
  { wait_step: step, wait_idx: index }: ChildRow,
): Promise<boolean> {
  if (step === null || index === null) return false;
  return parent.has('tool_calls', { step, idx: index, state: 'started' });
}

interface Delivery {
  readonly child: ChildRow;
  readonly report: ReportRow;
  readonly by: DeliveryMethod;
}

async function deliver(parent: ThreadTransaction, { child, report, by }: Delivery): Promise<void> {
  const { child_id: childId } = child;
  const delivered = by === 'dropped' ? null : await copyReport(parent, { child, report, by });
  await updateRows(
    parent.trx,
    'child_reports',
    { child_id: childId, id: report.id },
    {
      call_step: by === 'call' ? child.wait_step : undefined,
      call_idx: by === 'call' ? child.wait_idx : undefined,
      // The content as the parent sees it: the answer of a call is read from this row.
      content: delivered?.content,
      delivered: delivered ? JSON.stringify(delivered.attachments) : undefined,
      state: by === 'dropped' ? 'dropped' : 'delivered',
      delivered_at: parent.now,
    },
  );
  if (by === 'call') await updateChild(parent, childId, { wait_step: null, wait_idx: null, owes: 0 });
  else if (report.early === 0 && report.kind !== 'stopped') await updateChild(parent, childId, { owes: 0 });
}

interface DeliveredContent {
  readonly content: string;
  readonly attachments: readonly AttachmentRef[];
}

/** Copies the report's files to the parent; also queues the report, unless it is a call's result. */
async function copyReport(
  parent: ThreadTransaction,
  { child, report, by }: Delivery,
): Promise<DeliveredContent> {
  const { child_id: childId, agent, name } = child;
  const id = messageId(childId, report.id);
  const given = JSON.parse(report.attachments) as string[];
  const { attachments, missing, paths: copied } = await copyFiles(parent, childId, { id, given });
  const content = replaceInText(report.content, copied);
  if (by === 'message') {
    const paths = attachments.map(({ path }) => path);
    const eventData = { kind: report.kind, content, attachments: paths };
    const item: MessageItem & CausedItem = {
      kind: 'message',
      id,
      role: roleTo(await findAskingSide(parent, child)),
      content: formatReport({ threadId: childId, agent, name }, eventData),
      silent: true,
      metadata: {
        subagent_id: childId,
        missingAttachments: missing.length > 0 ? missing : undefined,
      },
      attachments: attachments.length > 0 ? attachments : undefined,
      ...(await readCauseContext(parent, childId)),
      budget: report.budget === null ? undefined : JSON.parse(report.budget),
    };
    // If the budget that it belongs to is used up, it is queued but begins no execution.
    await enqueue(parent, item, { own: report.budget !== null && isBudgetSpent(parent) });
  }
  return { content, attachments };
}

/** The child's run context, for what its report begins. */
async function readCauseContext(
  { trx }: ThreadTransaction,
  childId: string,
): Promise<{ readonly context?: GivenContext }> {
  const child = await findRow(trx, 'threads', { id: childId }, ['run_context']);
  const context = readGiven(child?.run_context ?? null);
  return { context: context ? reportContext(context) : undefined };
}

/** True if the parent's last execution ended with its budget used up, and none has begun since. */
function isBudgetSpent({ row: { last_error: lastError } }: ThreadTransaction): boolean {
  return lastError !== null && isUsedUp({ error: JSON.parse(lastError) });
}

/** As hard to guess as the id of the execution from which it is derived. */
function messageId(childId: string, reportId: string): string {
  return hash('sha256', `report:${childId}:${reportId}`).slice(0, 32);
}

const REASONED: ReadonlySet<ReportKind> = new Set(['stopped', 'canceled', 'terminated'] as const);

function emitDelivered(parent: ThreadTransaction, { child, report, by }: Delivery): void {
  const { child_id: childId, agent, name, wait_step: step } = child;
  const type = report.kind === 'result' ? 'subagent.returned' : 'subagent.failed';
  // The content of the other kinds is an output of the child.
  const why =
    REASONED.has(report.kind) && report.content !== '' ? { reason: report.content.slice(0, 500) } : {};
  const told = { childId, agent, name: name ?? undefined, kind: report.kind, by, ...why };
  parent.emit(type, told, { step: by === 'call' ? step : null });
}

/** The last step that has an answer, not counting steps of sub-prompts, for the report of a session's end; else null. */
export async function readLastStep(context: CommandContext, threadId: string): Promise<LastStep | null> {
  return inSnapshot(context, async (trx) => {
    const last = await selectRows(trx, 'steps', { thread_id: threadId, state: 'committed' })
      .select(['step', 'side'])
      .where('kind', '!=', 'prompt')
      .orderBy('step', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!last) return null;
    const results = await selectStepMessages(trx, threadId, last.step)
      .selectAll()
      .where('role', '=', 'tool')
      .execute();
    return { side: last.side, results: results.map(toMessage).sort(byTime) };
  });
}
