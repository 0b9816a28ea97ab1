/**
 * Ends a task: once, with all that is open; its thread's log ends with it.
 * N1. The parent of a task gets a report, stored in the same transaction (family/child-report.ts).
 */
import { endOf, type TaskVerdict } from '../../core/task/control.ts';
import { describeEnd } from '../../core/thread/task-report.ts';
import { toUsd } from '../../core/value/money.ts';
import { stopClocks } from '../budget/time.ts';
import { storeTaskEnd } from '../family/child-report.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import { closeWaits } from '../wait/wait.ts';
import type { EndTask, TaskRecord } from './task-record.ts';
import { requireTask, type TaskRow, tick, toTask, updateTask, withErrors } from './task-row.ts';

/** Ends the task and closes its waits. Only the first end is stored. */
export async function endTask(context: CommandContext, command: EndTask): Promise<TaskRecord> {
  const ended = await inThread(context, command.threadId, async (thread) => {
    const row = await requireTask(thread);
    if (thread.row.terminated_at !== null) return toTask(row, { ...thread.row, now: thread.now });
    await thread.admit(command.runId);
    return settleEnd(context, thread, row, command);
  });
  if (ended.parentId !== null) await showAbove(context, command.threadId);
  return ended;
}

/** Ends a task whose workflow is gone. */
export async function abortTask(
  context: CommandContext,
  thread: ThreadTransaction,
  reason: string,
): Promise<void> {
  await failTask(context, thread, { stoppedBy: 'abort', pass: false, reason });
}

/** Ends a task for which no process can report more. One that has ended stays as it is. */
export async function failTask(
  context: CommandContext,
  thread: ThreadTransaction,
  verdict: TaskVerdict,
): Promise<void> {
  const row = await requireTask(thread);
  if (thread.row.terminated_at === null)
    await settleEnd(context, thread, row, { verdict, records: null, errors: [] });
}

async function settleEnd(
  context: CommandContext,
  thread: ThreadTransaction,
  row: TaskRow,
  { verdict, records, errors }: Pick<EndTask, 'verdict' | 'records' | 'errors'>,
): Promise<TaskRecord> {
  const status = endOf(verdict);
  // An act that was under way has no result.
  await thread.update(
    'task_steps',
    { act: ['scheduled', 'started'] },
    {
      act: 'over',
      outcome: JSON.stringify({ ok: false, code: 'Aborted', error: verdict.reason }),
      ended_at: thread.now,
    },
  );
  await closeWaits(thread, verdict.reason, true);
  // No answer is used any more.
  await thread.update('waits', {}, { heard: 1 });
  const changes = {
    status,
    verdict: JSON.stringify(verdict),
    records: records === null ? null : JSON.stringify(records),
    ...(errors.length > 0 ? { errors: withErrors(row, errors) } : {}),
    ...tick(row, thread.now, false),
    ended_at: thread.now,
  };
  await updateTask(thread, changes);
  const ended = toTask({ ...row, ...changes }, { ...thread.row, now: thread.now });
  const { stoppedBy, pass, reason, score, limit, code } = verdict;
  thread.emit('task.ended', {
    status,
    stoppedBy,
    pass,
    reason,
    score,
    limit,
    code,
    steps: row.steps,
    spentCostUsd: toUsd(row.spent_pico),
    wallMs: ended.wallMs,
  });
  // The process of its adapter is no longer needed.
  await thread.update('producers', { state: 'open' }, { state: 'ended' });
  await storeTaskEnd(thread, describeEnd(ended.id, status, verdict));
  thread.set({ status: 'terminated', stop_reason: verdict.stoppedBy, terminated_at: thread.now });
  thread.emit('thread.terminated', { reason: verdict.stoppedBy });
  await stopClocks(context, thread);
  thread.set({ budget: null });
  return ended;
}
