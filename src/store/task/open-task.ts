/** Opens a task for a workflow run: the first run creates the task's rows, and every run is admitted (the fence). */
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { openChild } from '../family/child.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { insertTask, toCreatedData } from '../transaction/new-task.ts';
import { insertRoot, toThreadRow } from '../transaction/new-thread.ts';
import type { OpenedTask, OpenTask } from './task-record.ts';
import { findTask, requireTask, toTask, updateTask } from './task-row.ts';

/**
 * Opens the task for a run, from then on the only one that may write (the fence). Its first run creates the task. The
 * same run again changes nothing. Rejects with `StoreMismatch` if the task must exist and does not.
 */
export async function openTask(context: CommandContext, command: OpenTask): Promise<OpenedTask> {
  const { threadId, runId, manifest } = command;
  if (!(await findTask(context.db, threadId))) await createTask(context, command);
  return inThread<OpenedTask>(context, threadId, async (thread) => {
    const row = await requireTask(thread);
    const shown = { ...thread.row, now: thread.now };
    if (thread.row.terminated_at !== null) return { kind: 'over', task: toTask(row, shown) };
    await thread.admit(runId);
    await openChild(thread);
    if (thread.row.status === 'idle') thread.set({ status: 'running' });
    // A newer build has another manifest; the task goes on.
    if (row.manifest !== manifest) {
      await updateTask(thread, { manifest });
      thread.emit('task.manifest', { from: row.manifest, to: manifest });
    }
    // The time between two runs is not work.
    const clock = { worked: row.worked, active_since: row.status === 'waiting' ? null : thread.now };
    await updateTask(thread, clock);
    const task = toTask({ ...row, ...clock, manifest }, shown);
    return { kind: 'open', task, rootId: thread.row.root_id };
  });
}

async function createTask(context: CommandContext, command: OpenTask): Promise<void> {
  const { threadId, runId, start, mustExist, manifest } = command;
  if (mustExist || !start) {
    throw new RuntimeError(
      'StoreMismatch',
      `Task "${threadId.slice(TASK_ID_PREFIX.length)}" has run before, but is not in store ${context.storeId}. ` +
        'This worker uses a different store than the task: set EVERTHREAD_STORE to the right one.',
    );
  }
  const now = context.now();
  const { name, userId, organizationId = null } = start;
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
    const first = { runId, type: 'task.created', data: toCreatedData(start) } as const;
    if (await insertRoot(trx, { ...toThreadRow(root, now), status: 'running' }, first))
      await insertTask(trx, { threadId, task: start, manifest }, now);
  });
}
