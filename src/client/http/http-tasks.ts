/**
 * Tasks over the HTTP API, with the interface of those of the client that has the store (tasks.ts). Their questions are
 * answered with `answerWait`.
 * - A task has its id before it is sent, and the same id is the same task: so a start whose response was lost is
 *   repeated.
 */

import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import type { Projected } from '../../projections/projection.ts';
import type { RuntimeStreamEvent } from '../../projections/task/stream-event.ts';
import type { ListTasks, TaskRecord, TaskStepRecord } from '../../store/task/task-record.ts';
import { newThreadId } from '../new-thread-id.ts';
import type { FollowTask, StartTask, Tasks, WaitForTask } from '../tasks.ts';
import { type HttpConnection, pathOf } from './http-place.ts';
import { liveLines } from './live-lines.ts';
import { callRoute, pauseFor } from './patience.ts';

const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 1000;

export class HttpTasks implements Tasks {
  readonly #connection: HttpConnection;

  constructor(place: HttpConnection) {
    this.#connection = place;
  }

  /** Repeating a start attaches to the same task. */
  start(given: StartTask): Promise<{ id: string }> {
    const body = { ...given, id: given.id ?? newThreadId(given.task) };
    return callRoute(this.#connection, 'POST /v1/tasks', {}, { body, again: true });
  }

  async abort(taskId: string, reason?: string): Promise<void> {
    const request = { body: { reason }, again: true };
    await callRoute(this.#connection, 'POST /v1/tasks/{taskId}/abort', { taskId }, request);
  }

  get(taskId: string): Promise<TaskRecord> {
    return callRoute(this.#connection, 'GET /v1/tasks/{taskId}', { taskId });
  }

  async list({ before, ...filters }: ListTasks = {}): Promise<readonly TaskRecord[]> {
    const query = before ? { ...filters, cursor: `${before.createdAt}.${before.id}` } : filters;
    return (await callRoute(this.#connection, 'GET /v1/tasks', {}, { query })).tasks;
  }

  async listSteps(taskId: string, from?: number, limit?: number): Promise<readonly TaskStepRecord[]> {
    const query = { from, limit };
    return (await callRoute(this.#connection, 'GET /v1/tasks/{taskId}/steps', { taskId }, { query })).steps;
  }

  /** Resumes by itself behind the last event if a connection breaks, and yields each event once. */
  async *events(id: string, options: FollowTask = {}): AsyncGenerator<Projected<RuntimeStreamEvent>> {
    const { after, follow = true, signal, openWithinMs = 0 } = options;
    await this.#awaitOpened(id, openWithinMs, signal);
    const path = pathOf`/v1/tasks/${id}/events`;
    for await (const { cursor, event } of liveLines(this.#connection, {
      path,
      query: {},
      after,
      follow,
      signal,
    }))
      yield { cursor, event: event as RuntimeStreamEvent };
    signal?.throwIfAborted();
  }

  async wait(id: string, { timeoutMs = 60_000, signal }: WaitForTask = {}): Promise<TaskRecord> {
    const until = performance.now() + timeoutMs;
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
      signal?.throwIfAborted();
      const task = await this.get(id).catch(nullIfTaskNotFound);
      if (task && (task.endedAt !== null || (await this.#isWaiting(task)))) return task;
      if (performance.now() >= until) {
        const state = task ? `it is ${task.status}, ${task.steps} steps so far` : 'no worker has opened it';
        throw new RuntimeError('Timeout', `The task "${id}" did not end within ${timeoutMs} ms; ${state}.`);
      }
      await this.#pause(pauseMs, signal);
    }
  }

  /** True if the task waits, and not all of its waits have been answered in the meantime. */
  async #isWaiting({ status, threadId }: TaskRecord): Promise<boolean> {
    if (status !== 'waiting') return false;
    const { waits } = await callRoute(
      this.#connection,
      'GET /v1/waits',
      {},
      { query: { threadId, limit: 1 } },
    );
    return waits.length > 0;
  }

  /** Waits until a worker has opened a task that was just started. */
  async #awaitOpened(id: string, withinMs: number, signal?: AbortSignal): Promise<void> {
    const until = performance.now() + withinMs;
    for (;;) {
      try {
        await this.get(id);
        return;
      } catch (error) {
        signal?.throwIfAborted();
        if (!isRuntimeError(error, 'TaskNotFound') || performance.now() >= until) throw error;
        await this.#pause(FIRST_POLL_MS, signal);
      }
    }
  }

  async #pause(ms: number, signal?: AbortSignal): Promise<void> {
    const { closed } = this.#connection;
    await pauseFor(ms, signal ? AbortSignal.any([closed, signal]) : closed);
  }
}

function nullIfTaskNotFound(error: unknown): null {
  if (isRuntimeError(error, 'TaskNotFound')) return null;
  throw error;
}
