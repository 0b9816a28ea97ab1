/**
 * Protolink's AgentClient: sends tasks to agents elsewhere, over A2A (docs/a2a.md), and to those of this process. The id of a task is also that of
 * its message and its context, so it can be cancelled by its id while the request that sent it is open.
 * - A task is sent again if its response was lost: the agent has it once, however often it arrives.
 */
import {
  type HttpConnection,
  NoAnswer,
  requestOnce,
  toHttpConnection,
} from '../../client/http/http-place.ts';
import { isTransient, RetryBackoff, requestJson } from '../../client/http/patience.ts';
import { ERRORS, type ErrorCode, RuntimeError } from '../../core/value/error.ts';
import type { A2aFrame, A2aTask } from '../../projections/a2a/a2a-shape.ts';
import { stateWord, toPlainPart, toPlainTask } from '../../projections/a2a/plain-task.ts';
import type { RunEvent } from '../../projections/run/run-event.ts';
import { type Artifact, artifact, type Fields } from './artifact.ts';
import { toTaskError } from './failure.ts';
import { findAgent } from './local-agents.ts';
import { Task } from './task.ts';

export interface AgentClientOptions {
  /** Token as printed by `everthread tokens create`; absent if the agent requires none. */
  readonly token?: string;
  /** Milliseconds that an agent may be unreachable until a call rejects with `ServerUnavailable`; default 30,000. */
  readonly patienceMs?: number;
  /** Used instead of the platform's `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface CancelOptions {
  readonly reason?: string;
  readonly metadata?: Fields;
}

/** An event of a task that is followed. */
export type TaskEvent =
  | {
      readonly type: 'task.status';
      readonly task_id: string;
      readonly state: Task['state'];
      /** True if the task has ended or waits for a person; no more events follow. */
      readonly final: boolean;
    }
  | {
      readonly type: 'task.artifact';
      readonly task_id: string;
      readonly artifact: Artifact;
      /** If true, the parts are appended to earlier ones; otherwise they replace them. */
      readonly append: boolean;
    };

/** Milliseconds; a server ends a request after about eleven minutes, with the current state of the task. */
const ANSWER_WITHIN_MS = 900_000;

/**
 * @example
 * ```ts
 * const client = new AgentClient();
 * const task = Task.createInfer({ prompt: 'Summarize the latest report' });
 * const running = client.sendTask('http://127.0.0.1:7777/a2a/worker', task);
 * await client.cancelTask('http://127.0.0.1:7777/a2a/worker', task.id, { reason: 'Stopped by user' });
 * console.log((await running).state);
 * ```
 */
export class AgentClient {
  readonly #options: AgentClientOptions;
  readonly #closed = new AbortController();

  constructor(options: AgentClientOptions = {}) {
    this.#options = options;
  }

  /**
   * Returns the task once it has ended, or waits for a person (`input-required`). Throws what the agent refuses it
   * with.
   */
  async sendTask(agentUrl: string, task: Task): Promise<Task> {
    const local = findAgent(agentUrl);
    if (local) {
      for await (const _ of local.handleTaskStreaming(task));
      return task;
    }
    const place = this.#place(agentUrl);
    const body = request('SendMessage', task);
    for (;;) {
      // Sending the same message again waits for the same task.
      const asked = {
        method: 'POST',
        path: '',
        body,
        headers: VERSION,
        again: true,
        withinMs: ANSWER_WITHIN_MS,
      } as const;
      const { task: received } = readResult(
        await requestJson<unknown>(place, asked).catch(throwTaskError),
      ) as {
        task: A2aTask;
      };
      updateTask(task, received);
      if (isOver(task)) return task;
    }
  }

  /** Sends a task; yields its events until it ends or waits for a person. The task continues if the reader leaves. */
  async *sendTaskStreaming(agentUrl: string, task: Task): AsyncGenerator<TaskEvent> {
    const local = findAgent(agentUrl);
    if (local) {
      for await (const event of local.handleTaskStreaming(task)) yield* toLocalEvents(task, event);
      return;
    }
    const place = this.#place(agentUrl);
    const patience = new RetryBackoff(place, undefined);
    const body = request('SendStreamingMessage', task);
    while (!isOver(task)) {
      try {
        const asked = { method: 'POST', path: '', body, headers: VERSION } as const;
        const response = await requestOnce(place, asked, patience.signal);
        for await (const frame of framesOf(response)) {
          patience.answered();
          yield* toTaskEvents(task, readResult(frame) as A2aFrame);
        }
        // A stream that ends before its task was cut off.
        if (!isOver(task)) throw new NoAnswer('The stream ended before its task.');
      } catch (error) {
        if (!isTransient(error)) throw toTaskError(error);
        await patience.pause(error);
      }
    }
  }

  /** Cancels a task that this or another client has sent. Throws `TaskNotFoundError`, `TaskNotCancelableError`. */
  async cancelTask(
    agentUrl: string,
    id: string,
    { reason, metadata = {} }: CancelOptions = {},
  ): Promise<Task> {
    const local = findAgent(agentUrl);
    if (local) return local.cancelTask(id, reason);
    const body = { id, metadata: { ...metadata, ...(reason === undefined ? {} : { reason }) } };
    const asked = { method: 'POST', path: '/tasks/cancel', body, again: true } as const;
    const received = await requestJson<Task>(this.#place(agentUrl), asked).catch(throwTaskError);
    const task = new Task({ id, messages: received.messages, metadata: received.metadata });
    return Object.assign(task, { state: received.state, artifacts: received.artifacts });
  }

  /** Calls that wait for an agent reject. */
  close(): void {
    this.#closed.abort();
  }

  #place(url: string): HttpConnection {
    return toHttpConnection({ url, ...this.#options }, this.#closed.signal);
  }
}

const VERSION = { 'a2a-version': '1.0' };

function request(method: string, task: Task) {
  const { work } = task;
  if (typeof work !== 'string')
    throw new RuntimeError(
      'InvalidValue',
      `The task "${task.id}" is a tool call: agents elsewhere only accept "infer" tasks.`,
    );
  const message = { messageId: task.id, contextId: task.id, role: 'ROLE_USER', parts: [{ text: work }] };
  return { jsonrpc: '2.0', id: task.id, method, params: { message } };
}

/** Returns the result of a response; throws the error that the agent refused the task with. */
function readResult(answer: unknown): unknown {
  const { result, error } = answer as { result?: unknown; error?: { message: string; data?: unknown } };
  if (!error) return result;
  const [info] = (Array.isArray(error.data) ? error.data : []) as { metadata?: { code?: string } }[];
  const code = info?.metadata?.code ?? '';
  throw toTaskError(
    new RuntimeError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'InvalidRequest', error.message),
  );
}

async function* framesOf({ body }: Response): AsyncGenerator<unknown> {
  try {
    if (body) yield* readFrames(body);
  } catch (cause) {
    if (cause instanceof TypeError) throw new NoAnswer('The connection was lost.', { cause });
    throw cause;
  }
}

function* toTaskEvents(task: Task, frame: A2aFrame): Generator<TaskEvent> {
  const { id: task_id } = task;
  if ('artifactUpdate' in frame) {
    const { artifact, append } = frame.artifactUpdate;
    const { artifactId: id, name, parts } = artifact;
    yield {
      type: 'task.artifact',
      task_id,
      append,
      artifact: { id, kind: 'result', name, parts: parts.map(toPlainPart) },
    };
    return;
  }
  if ('task' in frame) {
    updateTask(task, frame.task);
    for (const artifact of task.artifacts) yield { type: 'task.artifact', task_id, append: false, artifact };
  } else task.state = stateWord(frame.statusUpdate.status);
  yield { type: 'task.status', task_id, state: task.state, final: isOver(task) };
}

/** What an event of a run has changed in its task. */
function* toLocalEvents(task: Task, { type, payload }: RunEvent): Generator<TaskEvent> {
  const { id: task_id, state } = task;
  if (type === 'task.artifact')
    yield { type, task_id, append: false, artifact: artifact(payload.artifact as Fields) };
  if (type === 'task.status') yield { type, task_id, state, final: isOver(task) };
}

function updateTask(task: Task, received: A2aTask): void {
  const { state, artifacts, metadata } = toPlainTask(task.id, received);
  Object.assign(task.metadata, metadata);
  Object.assign(task, { state, artifacts });
}

function isOver({ isTerminal, state }: Task): boolean {
  return isTerminal || state === 'input-required';
}

function throwTaskError(error: unknown): never {
  throw toTaskError(error);
}

/** Most characters of one event. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

/** Reads server-sent events of an agent elsewhere as they arrive; an event that is too large ends the reading. */
async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split(/\r?\n\r?\n/);
    rest = frames.pop() ?? '';
    if (rest.length > MAX_EVENT_CHARS)
      throw new RuntimeError(
        'LimitExceeded',
        `The agent sent an event of more than ${MAX_EVENT_CHARS} characters.`,
      );
    for (const frame of frames) {
      const data = frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart());
      if (data.length > 0) yield JSON.parse(data.join('\n'));
    }
  }
}
