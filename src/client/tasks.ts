/**
 * Commands of a client to tasks, and reads of them. A task is started once the server has accepted it; everything else
 * is in the store.
 * - Starting with a known id attaches to the existing task: nothing runs twice, and a task whose workflow was killed
 *   continues.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { KnowledgeRequirement } from '../core/task/knowledge.ts';
import type { AgentTaskSpec, TaskBudget } from '../core/task/spec.ts';
import {
  parseTaskStart,
  TASK_ID_PREFIX,
  TASK_WORKFLOW_TYPE,
  taskStartOptions,
} from '../core/thread/task-start.ts';
import { canonicalJson } from '../core/value/canonical-json.ts';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { toJsonText } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { Projected } from '../projections/projection.ts';
import type { RuntimeStreamEvent } from '../projections/task/stream-event.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ListTasks, TaskRecord, TaskStepRecord } from '../store/task/task-record.ts';
import { cancelExecution } from '../workflows/messages.ts';
import type { OpenConnection } from './connect.ts';
import { taskPages } from './follow-task.ts';
import { readTask } from './lost-task.ts';
import { newThreadId } from './new-thread-id.ts';
import { storeReason } from './sent-content.ts';
import { isAlreadyStarted, isWorkflowGone, toRuntimeError } from './workflow-error.ts';

export interface StartTask extends Partial<Omit<AgentTaskSpec, 'id'>> {
  /** Name of a task in `agents/tasks`. */
  readonly task: string;
  /** Generated when absent. Starting with the same id again attaches to the same task. */
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly requiredKnowledge?: readonly KnowledgeRequirement[];
  readonly budget?: TaskBudget;
  readonly userId?: string;
  /** The organisation that the task belongs to. */
  readonly organizationId?: string;
  /** Label for comparing runs; the task's id unless given. */
  readonly scenarioId?: string;
}

export interface WaitForTask {
  /** Milliseconds; 60,000 unless given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Tasks, as `client.tasks` provides them. A task is started once the server has accepted it; everything else is in the
 * store.
 */
export interface Tasks {
  /**
   * Starts a task; resolves once the server has accepted it. The same id again attaches to the existing task, even if
   * that has ended. Throws `InvalidStart` if no task can start with this input, `ExecutionConflict` if the id was
   * started with different input: `metadata`, and what a requirement says is known already, do not count.
   */
  start(given: StartTask): Promise<{ id: string }>;
  /**
   * Ends a task as `aborted`, interrupting what it is doing. A task that has ended stays as it is. Throws
   * `TaskNotFound`.
   */
  abort(id: string, reason?: string): Promise<void>;
  /** Throws `TaskNotFound`, also until a worker has opened the task. */
  get(id: string): Promise<TaskRecord>;
  /** The latest first, 50 unless `limit` is given. */
  list(options?: ListTasks): Promise<readonly TaskRecord[]>;
  /** The steps in order, starting with number `from`: 100 unless `limit` is given. Throws `TaskNotFound`. */
  listSteps(id: string, from?: number, limit?: number): Promise<readonly TaskStepRecord[]>;
  /**
   * The event stream of a task: progress of its phases, and what its adapter emits; ends with `final`. With `after`, an
   * event's cursor, a reader resumes behind that event. Throws `TaskNotFound` if no worker has opened the task within
   * `openWithinMs`, `InvalidValue` for an invalid cursor.
   */
  events(id: string, options?: FollowTask): AsyncIterable<Projected<RuntimeStreamEvent>>;
  /** Resolves once the task has ended, or waits for people: `listWaits` then says for what. Throws `Timeout`. */
  wait(id: string, options?: WaitForTask): Promise<TaskRecord>;
}

export interface FollowTask {
  readonly after?: string;
  /** If false, stops at the current end of the log. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  /** Milliseconds to wait for a task that was just started to be opened by a worker; 0 unless given. */
  readonly openWithinMs?: number;
}

export class TaskCommands implements Tasks {
  readonly #store: ThreadStore;
  readonly #temporal: Client;
  readonly #taskQueue: string;

  readonly #refuseForeignWorkers: () => Promise<void>;

  constructor({ store, temporal, taskQueue, refuseForeignWorkers }: OpenConnection) {
    this.#refuseForeignWorkers = refuseForeignWorkers;
    this.#store = store;
    this.#temporal = temporal;
    this.#taskQueue = taskQueue;
  }

  /** The same id attaches. */
  async start(given: StartTask): Promise<{ id: string }> {
    const id = given.id ?? newThreadId(given.task);
    const input = checkTaskStart({ ...given, id });
    const known = await this.#store.tasks.get(id);
    if (known) requireSameTask(known, input);
    if (known?.endedAt != null) return { id };
    const { task, userId } = input;
    const threadId = TASK_ID_PREFIX + id;
    const stored = randomUUID();
    await this.#refuseForeignWorkers();
    await this.#store.sent.save(threadId, stored, { ...input });
    try {
      await this.#temporal.workflow.start(TASK_WORKFLOW_TYPE, {
        ...taskStartOptions({ id, task }),
        taskQueue: this.#taskQueue,
        args: [{ task, userId, stored }],
      });
    } catch (error) {
      // The task is running already.
      if (!isAlreadyStarted(error)) throw toRuntimeError(error);
      await this.#store.sent.drop(threadId, stored);
      const opened = await this.#store.tasks.get(id);
      if (opened) requireSameTask(opened, input);
    }
    return { id };
  }

  async abort(id: string, reason?: string): Promise<void> {
    const known = await this.get(id);
    if (known.endedAt !== null) return;
    try {
      await this.#temporal.workflow.signalWithStart(TASK_WORKFLOW_TYPE, {
        ...taskStartOptions({ id, task: known.name }),
        taskQueue: this.#taskQueue,
        args: [{ task: known.name, userId: known.userId }],
        signal: cancelExecution.name,
        signalArgs: [await storeReason(this.#store, known.threadId, reason)],
      });
    } catch (error) {
      if (!isWorkflowGone(error)) throw toRuntimeError(error);
    }
  }

  async get(id: string): Promise<TaskRecord> {
    const found = await readTask(this.#store, id);
    if (found) return found;
    throw taskNotFound(id);
  }

  async list(options?: ListTasks): Promise<readonly TaskRecord[]> {
    await this.#store.producers.closeLost();
    return this.#store.tasks.list(options);
  }

  async listSteps(id: string, from?: number, limit?: number): Promise<readonly TaskStepRecord[]> {
    await this.get(id);
    return this.#store.tasks.listSteps(id, from, limit);
  }

  async *events(id: string, options: FollowTask = {}): AsyncGenerator<Projected<RuntimeStreamEvent>> {
    const { openWithinMs = 0, signal, ...reading } = options;
    const opened = await this.#awaitOpened(id, openWithinMs, signal);
    for await (const page of taskPages(this.#store, opened, { ...reading, ...(signal ? { signal } : {}) }))
      yield* page;
  }

  async #awaitOpened(id: string, withinMs: number, signal?: AbortSignal): Promise<TaskRecord> {
    const until = Date.now() + withinMs;
    for (;;) {
      const found = await this.#store.tasks.get(id);
      if (found) return found;
      signal?.throwIfAborted();
      if (Date.now() >= until) throw taskNotFound(id);
      await delay(OPEN_POLL_MS);
    }
  }

  async wait(id: string, { timeoutMs = 60_000, signal }: WaitForTask = {}): Promise<TaskRecord> {
    const until = Date.now() + timeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const task = await readTask(this.#store, id);
      if (task && (task.endedAt !== null || (await this.#isWaiting(task)))) return task;
      const leftMs = until - Date.now();
      if (leftMs <= 0) throw timeoutError(id, task, timeoutMs);
      if (!task) await delay(Math.min(leftMs, OPEN_POLL_MS));
      else {
        const { lastSeq } = (await this.#store.threads.get(task.threadId)) ?? { lastSeq: 0 };
        const now = await this.#store.tasks.get(id);
        // If its status has changed since the first read, the next round sees that.
        if (now?.status === task.status)
          await this.#store.events.awaitGrowth(task.threadId, lastSeq, {
            signal,
            withinMs: Math.min(leftMs, MAX_CHECK_PAUSE_MS),
          });
      }
    }
  }

  /** True if the task waits, and not all of its waits have been answered in the meantime. */
  async #isWaiting(task: TaskRecord): Promise<boolean> {
    if (task.status !== 'waiting') return false;
    return (await this.#store.waits.list({ threadId: task.threadId, limit: 1 })).length > 0;
  }
}

const OPEN_POLL_MS = 50;
/** Longest pause between two checks, however quiet the log is. */
const MAX_CHECK_PAUSE_MS = 2000;

export function taskNotFound(id: string): RuntimeError {
  return new RuntimeError(
    'TaskNotFound',
    `There is no task "${id}" in this store. "everthread tasks list" lists the tasks.`,
  );
}

function timeoutError(id: string, task: TaskRecord | null, timeoutMs: number): RuntimeError {
  const state = task ? `it is ${task.status}, ${task.steps} steps so far` : 'no worker has opened it';
  return new RuntimeError('Timeout', `The task "${id}" did not end within ${timeoutMs} ms; ${state}.`);
}

type TaskInput = Omit<StartTask, 'id'> & { readonly id: string };

/** Throws `InvalidStart` for input that the workflow would refuse; returns a JSON copy. */
export function checkTaskStart(given: TaskInput): TaskInput {
  try {
    const text = toJsonText(given, { name: 'the task', maxBytes: LIMITS.startArgumentBytes });
    const input = JSON.parse(text) as TaskInput;
    parseTaskStart(input, TASK_ID_PREFIX + given.id);
    return input;
  } catch (error) {
    throw new RuntimeError('InvalidStart', `The task cannot start: ${errorMessage(error)}.`);
  }
}

/**
 * What a start asks for: without labels, and without what was known at the time, which callers draw anew for each
 * attempt.
 */
function toContent({ metadata: _, requiredKnowledge = [], ...spec }: AgentTaskSpec): object {
  const required = requiredKnowledge.map(
    ({ currentConfidence: _confidence, evidenceIds: _evidence, validUntil: _until, ...same }) => same,
  );
  return { ...spec, required };
}

/** Throws `ExecutionConflict` if the existing task was started with different input. */
function requireSameTask({ id, name, spec }: TaskRecord, input: TaskInput): void {
  const { spec: asked, task } = parseTaskStart(input, TASK_ID_PREFIX + id);
  if (task === name && canonicalJson(toContent(asked)) === canonicalJson(toContent(spec))) return;
  throw new RuntimeError(
    'ExecutionConflict',
    `The task "${id}" was started with different input; start another task under a different id.`,
  );
}
