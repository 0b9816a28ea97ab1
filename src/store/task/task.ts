/**
 * Tasks: their rows, opened for a workflow run, and ended.
 *
 * The rows with which a task begins, beside its thread's row; written by the task's first run or by its parent.
 *
 * Opens a task for a workflow run: the first run creates the task's rows, and every run is admitted (the fence).
 *
 * Ends a task: once, with all that is open; its thread's log ends with it.
 * - The parent of a task gets a report, stored in the same transaction (family/report.ts).
 */
import type { Kysely, Selectable, Transaction, Updateable } from 'kysely';
import type { TaskRuntimeError } from '../../core/author/task.ts';
import { endOf, type TaskVerdict } from '../../core/task/control.ts';
import { describeEnd } from '../../core/thread/task-report.ts';
import { TASK_ID_PREFIX } from '../../core/thread/task-start.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toUsd } from '../../core/value/money.ts';
import { stopClocks } from '../budget/lines.ts';
import { openChild } from '../family/child.ts';
import { storeTaskEnd } from '../family/report.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, unknownThread } from '../transaction/context.ts';
import { insertRoot, toThreadRow } from '../transaction/new-thread.ts';
import { findRow, insertRows, selectRows, updateRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import { closeWaits } from '../wait/wait.ts';
import type {
  EndTask,
  NewTask,
  OpenedTask,
  OpenTask,
  TaskRecord,
  TaskStepRecord,
  TaskStepTable,
  TaskTable,
} from './task-record.ts';

export type TaskRow = Selectable<TaskTable>;
export type TaskStepRow = Selectable<TaskStepTable>;

/** Columns of the thread's row that are part of a task's record. */
type ThreadColumns = Pick<Selectable<Tables['threads']>, 'user_id' | 'parent_id'>;

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

interface InsertTask {
  readonly threadId: string;
  readonly task: NewTask;
  /** The hash of its manifest. */
  readonly manifest: string | null;
}

export async function insertTask(
  trx: Transaction<Tables>,
  { threadId, task, manifest }: InsertTask,
  now: number,
): Promise<void> {
  const { name, spec, scenarioId, requirements, preflight } = task;
  await insertRows(trx, 'tasks', [
    {
      thread_id: threadId,
      name,
      spec: JSON.stringify(spec),
      scenario_id: scenarioId,
      manifest,
      status: 'running',
      requirements: JSON.stringify(requirements),
      answers: '{}',
      preflight,
      steps: 0,
      spent_pico: 0n,
      worked: 0,
      active_since: now,
      errors: '[]',
      created_at: now,
    },
  ]);
}

/** The data of the first event in a task's log. */
export function toCreatedData({ name, spec }: NewTask) {
  return { taskId: spec.id, name, intent: spec.intent };
}

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
    await thread.admit({ runId });
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
    if (await insertRoot(context, trx, { ...toThreadRow(root, now), status: 'running' }, first))
      await insertTask(trx, { threadId, task: start, manifest }, now);
  });
}

/** Ends the task and closes its waits. Only the first end is stored. */
export async function endTask(context: CommandContext, command: EndTask): Promise<TaskRecord> {
  const ended = await inThread(context, command.threadId, async (thread) => {
    const row = await requireTask(thread);
    if (thread.row.terminated_at !== null) return toTask(row, { ...thread.row, now: thread.now });
    await thread.admit(command);
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
