/**
 * Brings a thread to rest: idle, stopped, failed or terminated (runtime §6, §10), in one transaction with everything
 * that must be settled then.
 * - A thread does not rest while the store has items that no step has taken, unless it was stopped.
 * - A stopped or terminated step keeps the text that it has streamed. However an execution ends, it leaves no call
 *   without a result, which a later run could take for an open one, and no sub-prompt's step open: its call has a
 *   result.
 * - A handoff that still waits for a next step takes effect now.
 * - The report of a child to its parent is stored in the same transaction (family/report.ts).
 * - Items that a thread's own code queued, in an execution that a limit or its budget ended, stay in line. They begin
 *   no execution until something comes from outside.
 * - The waits of the execution are closed.
 * - An execution that is to be cancelled ends as cancelled, however it ends. Unlike a stopped one, it does not hold
 *   back what others have queued. The results of its calls are kept.
 *
 * Ends an execution in the store: its row, its one last event, and the results of one that was cancelled.
 */
import { CANCELED, type Cancellation } from '../../core/governance/cancellation.ts';
import { answerIdOf } from '../../core/message/answer-id.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { CommitStatusInput, CommitStatusOutcome, RestStatus } from '../../core/thread/step.ts';
import { isUsedUp } from '../../core/thread/step-limit.ts';
import { isTaskThread } from '../../core/thread/task-start.ts';
import { closeBudget } from '../budget/account.ts';
import { stopClocks } from '../budget/lines.ts';
import { settleUnreported } from '../budget/reserve.ts';
import { cancelEffects } from '../effect/effect.ts';
import { hasDueReport, storeReport, storeThreadEnd } from '../family/report.ts';
import { countPending, emitRejections } from '../message/queue.ts';
import { applyHandoff } from '../step/execution.ts';
import { abortTask } from '../task/task.ts';
import { settleOpenCalls } from '../tool/call-end.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { readCancellation } from '../transaction/run-context.ts';
import { hasUnanswered, setSession, storeOutcome } from '../transaction/run-recovery.ts';
import { closeStep, hasOutsideInput, readOpenSteps } from '../transaction/step-count.ts';
import { toSubprompt } from '../transaction/step-place.ts';
import { selectStepCalls } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import { closeWaits } from '../wait/wait.ts';
import type { CommitStatus } from './thread-record.ts';

/**
 * Ends the execution and brings the thread to rest. In the same transaction it settles all that must be settled then:
 * open steps and calls, effects of a terminated thread, a child's report. Returns `pending` instead if items are
 * queued that no step has taken, unless the thread was stopped. Its ordinal is the key: the same commit again logs
 * nothing twice.
 */
export async function commitStatus(
  context: CommandContext,
  command: CommitStatus,
): Promise<CommitStatusOutcome> {
  let updatesAncestors = true;
  const outcome = await inThread<CommitStatusOutcome>(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null)
      return { kind: 'terminated', reportDue: (await hasDueReport(thread)) || undefined };
    await thread.admit(command);
    const repeated = await reportRejections(thread, command);
    if (command.session && !(await hasUnanswered(thread))) setSession(thread, command.session);
    const waiting = await countPending(thread);
    const ended = await endExecution(thread, command);
    const { executionId } = ended;
    // Nothing was under way, and nothing has gone wrong: a cancelled step leaves its input with the workflow, which asks
    // for it again after the end of the execution, or its activity has stored that end. The thread then rests as it says.
    const { status: asked, error } = command;
    const isEmpty =
      asked === 'idle' &&
      error === undefined &&
      (command.reason === undefined || command.reason === CANCELED);
    const again = executionId === null && (repeated || isEmpty);
    // Returned again, so that descendants are cancelled even if the worker of the first commit was lost.
    const canceled = again ? await readLastEnd(thread) : ended.canceled;
    // It ends as cancelled, whatever the workflow has asked for.
    const rest = canceled ? toCanceled(command, canceled) : command;
    const { status } = rest;
    const stays = status === 'stopped' && rest.reason !== CANCELED;
    const mayRest = command.park === true || stays || status === 'terminated';
    // The thread's own items do not count.
    const inLine =
      isUsedUp(rest) || rest.reason === CANCELED
        ? await hasOutsideInput(thread.trx, thread.threadId)
        : waiting > 0;
    const pending = !mayRest && (inLine || command.more === true);
    await abortSteps(thread, status);
    await settleOpenCalls(thread, status, { cause: rest.error });
    if (canceled) await markLate(thread, ended);
    const closed = await closeWaits(thread, rest.reason ?? status, status === 'terminated');
    updatesAncestors = closed || repeated;
    emitEnd(thread, ended, rest);
    if (status !== 'terminated')
      await storeReport(thread, { executionId, report: rest.report, goesOn: pending });
    const where = {
      waiting,
      step: thread.row.last_step,
      // Compared with the agent that the workflow knows, not with this commit's effect: it may be a repeated one.
      agent: command.agent === undefined || command.agent === thread.row.agent ? undefined : thread.row.agent,
      canceled: canceled ? { reason: canceled.reason } : undefined,
    };
    if (pending) {
      await endBudget(context, thread, ended);
      return { kind: 'pending', ...where, reportDue: await mayOweReport(thread, repeated) };
    }
    // A thread that was woken for nothing keeps the reason for which it rested before.
    const reason = rest.reason ?? (executionId === null ? (thread.row.stop_reason ?? undefined) : undefined);
    await settle(thread, { ...rest, reason });
    if (status === 'terminated') await endThread(thread, command.reason);
    await endBudget(context, thread, ended);
    return { kind: 'rest', ...where, reportDue: await mayOweReport(thread, repeated) };
  });
  // Also for a repeated commit: the worker of the first one may have been lost in between.
  if (updatesAncestors) await showAbove(context, command.threadId);
  return outcome;
}

/** Also true for the repeated commit of a child: the report is delivered, but the parent may not have been signalled. */
async function mayOweReport(thread: ThreadTransaction, repeated: boolean): Promise<true | undefined> {
  return (repeated && thread.row.parent_id !== null) || (await hasDueReport(thread)) || undefined;
}

/**
 * Ends the thread as `commitStatus` does, for code without a workflow run. A terminated thread is left unchanged. A
 * child that owes its parent an answer reports its end. Rejects with `ThreadNotFound`.
 */
export async function terminateThread(
  context: CommandContext,
  threadId: string,
  reason?: string,
  by?: { readonly step: number; readonly index: number },
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return;
    if (isTaskThread(threadId)) return abortTask(context, thread, reason ?? 'terminated');
    const status = 'terminated';
    const ended = await endExecution(thread, { status, reason });
    await abortSteps(thread, status);
    await settleOpenCalls(thread, status, { by });
    await closeWaits(thread, reason ?? status, true);
    emitEnd(thread, ended, { status, reason });
    await settle(thread, { status, reason });
    await endThread(thread, reason);
    await endBudget(context, thread, ended);
  });
  await showAbove(context, threadId);
}

/**
 * Comes last, as budget rows are locked last (budget/lines.ts, L2): reservations are settled, and the next execution
 * has its own budget.
 */
async function endBudget(
  context: CommandContext,
  thread: ThreadTransaction,
  { executionId }: EndedExecution,
): Promise<void> {
  await settleUnreported(context, thread);
  await stopClocks(context, thread);
  await closeBudget(thread, executionId);
}

async function endThread(thread: ThreadTransaction, reason: string | undefined): Promise<void> {
  await cancelEffects(thread);
  await storeThreadEnd(thread, reason);
  thread.set({ terminated_at: thread.now });
  thread.emit('thread.terminated', { reason: reason ?? null });
}

type Rest = Pick<CommitStatusInput, 'status' | 'reason' | 'error'>;

/** Logs the refusals, unless the commit is a repeated one, as after a lost answer: then it returns true. */
async function reportRejections(
  thread: ThreadTransaction,
  { runId, ordinal, rejections }: CommitStatusInput & { readonly runId: string },
): Promise<boolean> {
  if (ordinal !== undefined) {
    if (await thread.has('command_keys', { run_id: runId, ordinal })) return true;
    await storeOutcome(thread, { runId, ordinal }, { step: null, swept: 0 });
  }
  emitRejections(thread, rejections);
  return false;
}

async function abortSteps(thread: ThreadTransaction, status: RestStatus): Promise<void> {
  const aborted = status === 'stopped' || status === 'terminated';
  const open = await readOpenSteps(thread.trx, thread.row);
  for (const row of open) {
    const { step, kind, side, attempt, execution_id: executionId, first_seq: firstSeq } = row;
    if (!aborted && kind !== 'prompt') continue;
    const text = await streamedText(thread, step, attempt, firstSeq);
    const subprompt = await toSubprompt(thread.trx, thread.threadId, row);
    const depth = subprompt?.depth;
    if (text.length > 0) {
      await thread.insertMessage({
        id: answerIdOf(thread.threadId, step),
        role: subprompt ? 'assistant' : roleOf(side),
        content: text,
        metadata: { stopped: true },
        executionId,
        step,
        parent_id: subprompt?.parentId,
        depth,
      });
    }
    await thread.update('steps', { step }, { state: 'stopped', closed_at: thread.now });
    closeStep(thread);
    const eventData = { status, keptText: text.length > 0, depth };
    thread.emit('execution.aborted', eventData, { step, attempt });
  }
}

/**
 * The text that a stopped step's last attempt has streamed and not discarded: it is in the log, even if the worker is
 * lost.
 */
async function streamedText(
  thread: ThreadTransaction,
  step: number,
  attempt: number,
  firstSeq: number,
): Promise<string> {
  const rows = await thread
    .select('events', { step, attempt })
    .select(['type', 'data'])
    .where('seq', '>', firstSeq)
    .where('type', 'in', ['model.chunk', 'attempt.discarded'])
    .orderBy('seq')
    .execute();
  const parsed = rows.map(({ data }) => JSON.parse(data) as { delta?: string; call: number });
  // A discarded request ends with a row that says so and has no text: as the very last row, it leaves no text.
  const last = rows.findLastIndex(({ type }) => type === 'attempt.discarded');
  const kept = parsed.slice(last + 1);
  return kept
    .filter(({ call }) => call === kept.at(-1)?.call)
    .map(({ delta = '' }) => delta)
    .join('');
}

/** The end of a cancelled execution. What it has said so far is no result for the parent. */
function toCanceled(command: CommitStatus, { reason }: Pick<Cancellation, 'reason'>): CommitStatus {
  const report = { kind: 'canceled', content: reason ?? '', attachments: [] } as const;
  return { ...command, status: 'stopped', reason: CANCELED, error: undefined, report };
}

async function settle(thread: ThreadTransaction, { status, reason, error }: Rest): Promise<void> {
  const changed = thread.row.status !== status;
  thread.set({ status, stop_reason: reason ?? null, last_error: error ? JSON.stringify(error) : null });
  if (changed) thread.emit('thread.status', { status, reason: reason ?? null, error });
}

interface EndedExecution {
  /** Null if none was open. */
  readonly executionId: string | null;
  readonly canceled: Cancellation | null;
}

/** Ends the turn too, whatever comes next: its input is history now, and is answered together with the next input. */
async function endExecution(thread: ThreadTransaction, { status, reason }: Rest): Promise<EndedExecution> {
  const [ended] = await thread.trx
    .updateTable('executions')
    .set((eb) => {
      const unlessCanceled = <T extends string | null>(asItIs: T, canceled: T) =>
        status === 'terminated'
          ? eb.val(asItIs)
          : eb.case().when('cancel_request', 'is', null).then(asItIs).else(canceled).end();
      return {
        ended_at: thread.now,
        stop_reason: unlessCanceled<string>(reason ?? status, CANCELED),
        context: null,
        ended_as: unlessCanceled(status === 'idle' ? null : status, 'stopped'),
      };
    })
    .where('thread_id', '=', thread.threadId)
    .where('ended_at', 'is', null)
    .returning(['id', 'cancel_request'])
    .execute();
  thread.set({ turn_open: 0, answer_due: 0 });
  // As in R3: the handoff has waited for a step.
  applyHandoff(thread);
  const canceled = status === 'terminated' ? null : readCancellation(ended?.cancel_request ?? null);
  return { executionId: ended?.id ?? null, canceled };
}

/** Emits the one event that ends the execution, after all that was settled with it. */
function emitEnd(
  thread: ThreadTransaction,
  { executionId, canceled }: EndedExecution,
  { status, reason, error }: Rest,
): void {
  if (executionId === null) return;
  thread.emit('execution.ended', {
    executionId,
    reason: reason ?? status,
    status: status === 'idle' ? undefined : status,
    error: status === 'idle' ? undefined : error,
    cancelReason: canceled?.reason || undefined,
    by: canceled?.by || undefined,
  });
}

/** Null if the last execution was not cancelled. */
async function readLastEnd(thread: ThreadTransaction): Promise<Cancellation | null> {
  const last = await thread
    .select('executions')
    .select(['stop_reason', 'cancel_request'])
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.stop_reason === CANCELED ? readCancellation(last.cancel_request) : null;
}

/** Marks results of calls that ended after the request to cancel their execution; they are kept. */
async function markLate(thread: ThreadTransaction, { executionId, canceled }: EndedExecution): Promise<void> {
  if (executionId === null || canceled === null) return;
  const late = await selectStepCalls(thread.trx, thread.threadId)
    .innerJoin('messages', (join) =>
      join
        .onRef('messages.thread_id', '=', 'tool_calls.thread_id')
        .onRef('messages.tool_call_id', '=', 'tool_calls.call_id'),
    )
    .select(['messages.id', 'messages.metadata'])
    .where('steps.execution_id', '=', executionId)
    .where('tool_calls.ended_at', '>=', canceled.at)
    .where('tool_calls.attempt', 'is not', null)
    .execute();
  for (const { id, metadata } of late) {
    const marked = { ...JSON.parse(metadata), completedAfterCancellation: true };
    await thread.update('messages', { id }, { metadata: JSON.stringify(marked) });
  }
}
