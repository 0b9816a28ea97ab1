/**
 * Delivers a child's report to its parent (runtime §8.2, definitions §13.6), in one transaction under the parent's
 * lock, which also decides between two deliveries of the same report.
 * D1. A waiting call without a result gets the report, unless that is early (child-report.ts, R1). The child's
 *     communication does not matter (definitions §22.23).
 * D2. Any other report becomes a silent message to the side that asked, unless communication is explicit or no one
 *     asked for what it says.
 * D3. The child's run context also holds for what its report begins: a child cannot be used to widen a run.
 * D4. The end of a cancelled child does not set a parent to work that was stopped or cancelled: that is why the child was.
 */
import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type GivenContext, reportContext } from '../../core/governance/run-context.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import { roleTo } from '../../core/thread/session.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import { formatReport, type ReportKind } from '../../core/thread/subagent-report.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { CausedItem } from '../budget/account.ts';
import { enqueue } from '../message/queue.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { findRow, updateRows } from '../transaction/rows.ts';
import { readGiven } from '../transaction/run-context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove, showBelow } from '../wait/shown-wait.ts';
import { findAskingSide } from './asking-side.ts';
import { type ChildRow, findChild, updateChild } from './child.ts';
import { copyFiles } from './child-files.ts';
import { replaceInText } from './child-paths.ts';
import type { ChildReportTable } from './family-table.ts';
import type { DeliveredReport } from './report-record.ts';

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
    const report = await findReport(parent, childId, reportId);
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

async function findReport(
  { trx }: ThreadTransaction,
  childId: string,
  id: string,
): Promise<ReportRow | undefined> {
  return findRow(trx, 'child_reports', { child_id: childId, id });
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
  // D1: a call that waits gets it.
  if (report.early === 0 && (await isWaiting(parent, child))) return 'call';
  // D2: a message, unless the report is not to be delivered.
  if (child.explicit === 1 || report.kind === 'stopped') return 'dropped';
  // D4: not to a parent that was stopped itself.
  if (report.kind === 'canceled' && (await wasStopped(parent))) return 'dropped';
  return report.kind === 'terminated' && child.owes === 0 ? 'dropped' : 'message';
}

/** D4: stopped, or being cancelled: its children are cancelled with it. */
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

/** D3: the child's run context, for what its report begins. */
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
  return createHash('sha256').update(`report:${childId}:${reportId}`).digest('hex').slice(0, 32);
}

const REASONED: ReadonlySet<ReportKind> = new Set(['stopped', 'canceled', 'terminated'] as const);

function emitDelivered(parent: ThreadTransaction, { child, report, by }: Delivery): void {
  const { child_id: childId, agent, wait_step: step } = child;
  const type = report.kind === 'result' ? 'subagent.returned' : 'subagent.failed';
  // The content of the other kinds is an output of the child.
  const why =
    REASONED.has(report.kind) && report.content !== '' ? { reason: report.content.slice(0, 500) } : {};
  parent.emit(type, { childId, agent, kind: report.kind, by, ...why }, { step: by === 'call' ? step : null });
}
