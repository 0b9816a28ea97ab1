/** The end of a task: once, with all that is open; its thread's log ends with it. */
import { endOf } from '../../../core/task/control.ts';
import type { EndTask, TaskRecord } from '../../port/task.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { closeWaits } from '../wait/wait.ts';
import { requireTask, tick, toTask, updateTask, withErrors } from './task-row.ts';

export async function endTask(context: CommandContext, command: EndTask): Promise<TaskRecord> {
  return inThread(context, command.threadId, async (thread) => {
    const row = await requireTask(thread);
    const { user_id: userId } = thread.row;
    if (thread.row.terminated_at !== null) return toTask(row, { userId, now: thread.now });
    await thread.admit(command.runId);
    const { verdict, records, errors } = command;
    const status = endOf(verdict);
    // What it was at when it was aborted has no result.
    await thread.trx
      .updateTable('task_steps')
      .set({
        act: 'over',
        outcome: JSON.stringify({ ok: false, code: 'Aborted', error: verdict.reason }),
        ended_at: thread.now,
      })
      .where('thread_id', '=', thread.threadId)
      .where('act', 'in', ['scheduled', 'started'])
      .execute();
    await closeWaits(thread, verdict.reason, true);
    // Nobody goes on with what was answered.
    await thread.trx
      .updateTable('waits')
      .set({ heard: 1 })
      .where('thread_id', '=', thread.threadId)
      .execute();
    const changes = {
      status,
      verdict: JSON.stringify(verdict),
      records: records === null ? null : JSON.stringify(records),
      ...(errors.length > 0 ? { errors: withErrors(row, errors) } : {}),
      ...tick(row, thread.now, false),
      ended_at: thread.now,
    };
    await updateTask(thread, changes);
    const ended = toTask({ ...row, ...changes }, { userId, now: thread.now });
    const { stoppedBy, pass, reason, score, limit } = verdict;
    thread.emit('task.ended', {
      status,
      stoppedBy,
      pass,
      reason,
      ...(score === undefined ? {} : { score }),
      ...(limit === undefined ? {} : { limit }),
      steps: row.steps,
      spentCostUsd: row.spent,
      wallMs: ended.wallMs,
    });
    thread.set({ status: 'terminated', stop_reason: verdict.stoppedBy, terminated_at: thread.now });
    thread.emit('thread.terminated', { reason: verdict.stoppedBy });
    return ended;
  });
}
