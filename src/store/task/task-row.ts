/** Rows of tasks: found, converted to records, and changed. */
import type { Kysely, Selectable, Updateable } from 'kysely';
import type { TaskRuntimeError } from '../../core/author/task.ts';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { toUsd } from '../../core/value/money.ts';
import type { Tables } from '../schema/tables.ts';
import { unknownThread } from '../transaction/context.ts';
import { findRow, selectRows, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { TaskRecord, TaskStepRecord } from './task-record.ts';
import type { TaskStepTable, TaskTable } from './task-table.ts';

export type TaskRow = Selectable<TaskTable>;
export type TaskStepRow = Selectable<TaskStepTable>;

/** Columns of the thread's row that are part of a task's record. */
export type ThreadColumns = Pick<Selectable<Tables['threads']>, 'user_id' | 'parent_id'>;

/** `now`: microseconds since 1970. */
export function toTask(
  row: TaskRow,
  { user_id: userId, parent_id: parentId, now }: ThreadColumns & { readonly now: number },
): TaskRecord {
  return {
    id: row.thread_id.slice(TASK_ID_PREFIX.length),
    threadId: row.thread_id,
    name: row.name,
    spec: JSON.parse(row.spec),
    scenarioId: row.scenario_id,
    manifest: row.manifest,
    userId,
    parentId,
    status: row.status,
    verdict: row.verdict === null ? null : JSON.parse(row.verdict),
    requirements: JSON.parse(row.requirements),
    answers: JSON.parse(row.answers),
    preflight: row.preflight,
    steps: row.steps,
    spentCostUsd: toUsd(row.spent_pico),
    wallMs: Math.round(workedBy(row, now) / 1000),
    errors: JSON.parse(row.errors),
    records: row.records === null ? null : JSON.parse(row.records),
    createdAt: row.created_at,
    endedAt: row.ended_at,
  };
}

export function toTaskStep(row: TaskStepRow): TaskStepRecord {
  return {
    step: row.step,
    state: JSON.parse(row.state),
    evals: JSON.parse(row.evals),
    score: row.score,
    decision: row.decision === null ? null : JSON.parse(row.decision),
    act: row.act,
    outcome: row.outcome === null ? null : JSON.parse(row.outcome),
    costUsd: toUsd(row.cost_pico),
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}

/** Microseconds of work until `now`. */
function workedBy({ worked, active_since: since }: TaskRow, now: number): number {
  return worked + (since === null ? 0 : Math.max(0, now - since));
}

/** Adds the work until `now` to the total; from then on the task is at work if `active`. */
export function tick(row: TaskRow, now: number, active: boolean): Pick<TaskTable, 'worked' | 'active_since'> {
  return { worked: workedBy(row, now), active_since: active ? now : null };
}

export async function findTask(db: Kysely<Tables>, threadId: string): Promise<TaskRow | undefined> {
  return findRow(db, 'tasks', { thread_id: threadId });
}

/** Must be called under the lock of the task's thread. Throws `ThreadNotFound`. */
export async function requireTask({ trx, threadId }: ThreadTransaction): Promise<TaskRow> {
  const row = await findTask(trx, threadId);
  if (!row) throw unknownThread('', threadId);
  return row;
}

export async function updateTask(
  { trx, threadId }: ThreadTransaction,
  changes: Updateable<TaskTable>,
): Promise<void> {
  await updateRows(trx, 'tasks', { thread_id: threadId }, changes);
}

export function selectTaskStep(db: Kysely<Tables>, threadId: string, step: number) {
  return selectRows(db, 'task_steps', { thread_id: threadId, step }).selectAll();
}

export async function updateTaskStep(
  { trx, threadId }: ThreadTransaction,
  step: number,
  changes: Updateable<TaskStepTable>,
): Promise<void> {
  await updateRows(trx, 'task_steps', { thread_id: threadId, step }, changes);
}

/** The errors as JSON, with more added: the newest MAX_ERRORS. A retried phase adds its error again. */
export function withErrors({ errors }: TaskRow, more: readonly TaskRuntimeError[]): string {
  const known = JSON.parse(errors) as TaskRuntimeError[];
  return JSON.stringify([...known, ...more].slice(-MAX_ERRORS));
}

const MAX_ERRORS = 100;
