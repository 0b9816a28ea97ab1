/** Opens a task for a workflow run: makes its rows at the very first one, and admits the run (the fence). */

import { TASK_ID_PREFIX } from '../../../core/thread/task-start.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { OpenedTask, OpenTask } from '../../port/task.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { toThreadRow } from '../base/new-thread.ts';
import { findTask, requireTask, toTask, updateTask } from './task-row.ts';

export async function openTask(context: CommandContext, command: OpenTask): Promise<OpenedTask> {
  const { threadId, runId, manifest } = command;
  if (!(await findTask(context.db, threadId))) await createTask(context, command);
  return inThread<OpenedTask>(context, threadId, async (thread) => {
    const row = await requireTask(thread);
    const { user_id: userId } = thread.row;
    if (thread.row.terminated_at !== null)
      return { kind: 'over', task: toTask(row, { userId, now: thread.now }) };
    await thread.admit(runId);
    if (thread.row.status === 'idle') thread.set({ status: 'running' });
    // A newer build has changed it; the task goes on.
    if (row.manifest !== manifest) {
      await updateTask(thread, { manifest });
      thread.emit('task.manifest', { from: row.manifest, to: manifest });
    }
    // What lay between the runs is no work.
    const clock = { worked: row.worked, active_since: row.status === 'waiting' ? null : thread.now };
    await updateTask(thread, clock);
    return { kind: 'open', task: toTask({ ...row, ...clock, manifest }, { userId, now: thread.now }) };
  });
}

async function createTask(context: CommandContext, command: OpenTask): Promise<void> {
  const { threadId, runId, start, mustExist, manifest } = command;
  if (mustExist || !start) {
    throw new RuntimeError(
      'StoreMismatch',
      `Task "${threadId.slice(TASK_ID_PREFIX.length)}" has run before, but store ${context.storeId} does not know it. ` +
        'This worker uses another store than the task: point EVERTHREAD_STORE at the right one.',
    );
  }
  const now = context.now();
  const { name, spec, scenarioId, userId, requirements, preflight } = start;
  const { organizationId = null } = start;
  const root = {
    threadId,
    agent: name,
    userId,
    organizationId,
    arguments: {},
    parentId: null,
    rootId: threadId,
  };
  await context.db.transaction().execute(async (trx) => {
    const inserted = await trx
      .insertInto('threads')
      .values({ ...toThreadRow(root, now), run_id: runId, event_seq: 1, status: 'running' })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!inserted) return;
    await trx
      .insertInto('thread_runs')
      .values({ thread_id: threadId, run_id: runId, registered_at: now })
      .execute();
    await trx
      .insertInto('tasks')
      .values({
        thread_id: threadId,
        name,
        spec: JSON.stringify(spec),
        scenario_id: scenarioId,
        manifest,
        status: 'running',
        verdict: null,
        requirements: JSON.stringify(requirements),
        answers: '{}',
        preflight,
        steps: 0,
        spent: 0,
        worked: 0,
        active_since: now,
        errors: '[]',
        records: null,
        created_at: now,
        ended_at: null,
      })
      .execute();
    await trx
      .insertInto('events')
      .values({
        thread_id: threadId,
        seq: 1,
        at: now,
        type: 'task.created',
        step: null,
        attempt: null,
        data: JSON.stringify({ taskId: spec.id, name, intent: spec.intent }),
      })
      .execute();
  });
}
