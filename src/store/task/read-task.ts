/** Reads tasks: one, lists, the steps of one, and what its next step needs. */
import { sql } from 'kysely';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { toCount } from '../schema/rows.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import { readGiven } from '../transaction/run-context.ts';
import { findTask, type TaskRow, toTask, toTaskStep } from './task.ts';
import type { ListTasks, TaskLoop, TaskRecord, TaskStepRecord } from './task-record.ts';

/** Most steps that an adapter gets. */
const MAX_HISTORY_STEPS = 50;

export async function getTask(context: CommandContext, id: string): Promise<TaskRecord | null> {
  const [task] = await select(context, (query) => query.where('tasks.thread_id', '=', TASK_ID_PREFIX + id));
  return task ?? null;
}

/** Newest first. */
export async function listTasks(
  context: CommandContext,
  options: ListTasks = {},
): Promise<readonly TaskRecord[]> {
  const { name, status, userId, organizationId, before, limit } = options;
  return select(context, (query) => {
    let found = query;
    if (name !== undefined) found = found.where('tasks.name', '=', name);
    if (status !== undefined) found = found.where('tasks.status', '=', status);
    if (userId !== undefined) found = found.where('threads.user_id', '=', userId);
    if (organizationId !== undefined) found = found.where('threads.organization_id', '=', organizationId);
    if (before)
      found = found.where(
        sql<boolean>`(tasks.created_at, tasks.thread_id) < (${before.createdAt}, ${TASK_ID_PREFIX + before.id})`,
      );
    return found
      .orderBy('tasks.created_at', 'desc')
      .orderBy('tasks.thread_id', 'desc')
      .limit(toCount(limit, 50));
  });
}

type TaskQuery = ReturnType<typeof selectTasks>;

function selectTasks({ db }: CommandContext) {
  return db
    .selectFrom('tasks')
    .innerJoin('threads', 'threads.id', 'tasks.thread_id')
    .selectAll('tasks')
    .select(['threads.user_id', 'threads.parent_id'])
    .where('threads.deleted_at', 'is', null);
}

async function select(
  context: CommandContext,
  narrow: (query: TaskQuery) => TaskQuery,
): Promise<readonly TaskRecord[]> {
  const rows = await narrow(selectTasks(context)).execute();
  const now = context.now();
  return rows.map((row) => toTask(row, { ...row, now }));
}

/** Steps in order, starting at `from`; default limit 100. */
export async function listTaskSteps(
  { db }: CommandContext,
  id: string,
  from = 0,
  limit = 100,
): Promise<readonly TaskStepRecord[]> {
  const rows = await db
    .selectFrom('task_steps')
    .selectAll()
    .where('thread_id', '=', TASK_ID_PREFIX + id)
    .where('step', '>=', from)
    .orderBy('step')
    .limit(toCount(limit, 100))
    .execute();
  return rows.map(toTaskStep);
}

/** `looks`: how many observations and actions the stuck guards compare. Rejects with `ThreadNotFound`. */
export async function readLoop(context: CommandContext, threadId: string, looks: number): Promise<TaskLoop> {
  return inSnapshot(context, async (db) => {
    const row: TaskRow | undefined = await findTask(db, threadId);
    const thread = await findRow(db, 'threads', { id: threadId }, ['user_id', 'parent_id', 'run_context']);
    if (!row || !thread) throw unknownThread(context.storeId, threadId);
    const newest = await db
      .selectFrom('task_steps')
      .selectAll()
      .where('thread_id', '=', threadId)
      .orderBy('step', 'desc')
      .limit(MAX_HISTORY_STEPS)
      .execute();
    const seen =
      looks <= MAX_HISTORY_STEPS
        ? newest.slice(0, looks)
        : await db
            .selectFrom('task_steps')
            .select(['fingerprint', 'score', 'action'])
            .where('thread_id', '=', threadId)
            .orderBy('step', 'desc')
            .limit(looks)
            .execute();
    const inOrder = [...seen].reverse();
    return {
      task: toTask(row, { ...thread, now: context.now() }),
      context: readGiven(thread.run_context),
      steps: newest.reverse().map(toTaskStep),
      measured: inOrder.map(({ fingerprint, score }) => ({ fingerprint, score })),
      actions: inOrder.map(({ action }) => action),
    };
  });
}
