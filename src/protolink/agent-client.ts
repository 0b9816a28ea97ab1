/**
 * The page's AgentClient: tasks sent to agents elsewhere, over A2A (docs/a2a.md). A task's id is its message's, in a context of its own: so whoever
 * has it can cancel it while the request that sent it is open.
 * C1. The same task is sent again where its answer is lost: it is one task there, however often it comes.
 */
import { askOnce, type HttpPlace, NoAnswer, toPlace } from '../client/http/http-place.ts';
import { askJson, isPassing, Patience } from '../client/http/patience.ts';
import { ERRORS, type ErrorCode, RuntimeError } from '../core/value/error.ts';
import type { A2aFrame, A2aTask } from '../projections/a2a/a2a-shape.ts';
import { stateWord, toPlainPart, toPlainTask } from '../projections/a2a/plain-task.ts';
import { readFrames } from './agent-stream.ts';
import type { Artifact, Fields } from './artifact.ts';
import { toTaskError } from './failure.ts';
import { Task } from './task.ts';

export interface AgentClientOptions {
  /** As `everthread tokens create` prints it; none where the agent wants none. */
  readonly token?: string;
  /** Milliseconds that an agent may be out of reach before a call rejects with `ServerUnavailable`; 30,000 unless given. */
  readonly patienceMs?: number;
  /** In place of the platform's. */
  readonly fetch?: typeof fetch;
}

export interface CancelOptions {
  readonly reason?: string;
  readonly metadata?: Fields;
}

/** What is told of a task that is followed. */
export type TaskEvent =
  | {
      readonly type: 'task.status';
      readonly task_id: string;
      readonly state: Task['state'];
      /** It has ended, or waits for a person: the last one that is told. */
      readonly final: boolean;
    }
  | {
      readonly type: 'task.artifact';
      readonly task_id: string;
      readonly artifact: Artifact;
      /** Its parts go behind those that were told; else they take their place. */
      readonly append: boolean;
    };

/** A server lets go of a request after some eleven minutes, with the task as it stands. */
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

  /** The task once it has ended, or waits for a person (`input-required`). Throws what the agent refuses it with. */
  async sendTask(agentUrl: string, task: Task): Promise<Task> {
    const place = this.#place(agentUrl);
    const body = request('SendMessage', task);
    for (;;) {
      // C1: the same message again waits for the same task.
      const asked = {
        method: 'POST',
        path: '',
        body,
        headers: VERSION,
        again: true,
        withinMs: ANSWER_WITHIN_MS,
      } as const;
      const { task: told } = readResult(await askJson<unknown>(place, asked).catch(rethrow)) as {
        task: A2aTask;
      };
      follow(task, told);
      if (isOver(task)) return task;
    }
  }

  /** Sends it, and tells what happens to it, to its end or until it waits for a person. Whoever stops listening stops nothing. */
  async *sendTaskStreaming(agentUrl: string, task: Task): AsyncGenerator<TaskEvent> {
    const place = this.#place(agentUrl);
    const patience = new Patience(place, undefined);
    const body = request('SendStreamingMessage', task);
    while (!isOver(task)) {
      try {
        const asked = { method: 'POST', path: '', body, headers: VERSION } as const;
        const response = await askOnce(place, asked, patience.signal);
        for await (const frame of framesOf(response)) {
          patience.answered();
          yield* tell(task, readResult(frame) as A2aFrame);
        }
        // C1: a stream that ends before its task was cut.
        if (!isOver(task)) throw new NoAnswer('The stream ended before its task.');
      } catch (error) {
        if (!isPassing(error)) throw toTaskError(error);
        await patience.pause(error);
      }
    }
  }

  /** Of a task that this or another client has sent. Throws `TaskNotFoundError`, `TaskNotCancelableError`. */
  async cancelTask(
    agentUrl: string,
    id: string,
    { reason, metadata = {} }: CancelOptions = {},
  ): Promise<Task> {
    const body = { id, metadata: { ...metadata, ...(reason === undefined ? {} : { reason }) } };
    const asked = { method: 'POST', path: '/tasks/cancel', body, again: true } as const;
    const told = await askJson<Task>(this.#place(agentUrl), asked).catch(rethrow);
    const task = new Task({ id, messages: told.messages, metadata: told.metadata });
    return Object.assign(task, { state: told.state, artifacts: told.artifacts });
  }

  /** What waits for an agent rejects. */
  close(): void {
    this.#closed.abort();
  }

  #place(url: string): HttpPlace {
    return toPlace({ url, ...this.#options }, this.#closed.signal);
  }
}

const VERSION = { 'a2a-version': '1.0' };

function request(method: string, task: Task) {
  const { ask } = task.work;
  if (ask === undefined)
    throw new RuntimeError(
      'InvalidValue',
      `The task "${task.id}" is a call of a tool: an agent elsewhere is asked in words, with "infer".`,
    );
  const message = { messageId: task.id, contextId: task.id, role: 'ROLE_USER', parts: [{ text: ask }] };
  return { jsonrpc: '2.0', id: task.id, method, params: { message } };
}

/** Throws what the agent has refused it with. */
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
    if (cause instanceof TypeError) throw new NoAnswer('The connection broke.', { cause });
    throw cause;
  }
}

function* tell(task: Task, frame: A2aFrame): Generator<TaskEvent> {
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
    follow(task, frame.task);
    for (const artifact of task.artifacts) yield { type: 'task.artifact', task_id, append: false, artifact };
  } else task.state = stateWord(frame.statusUpdate.status);
  yield { type: 'task.status', task_id, state: task.state, final: isOver(task) };
}

function follow(task: Task, told: A2aTask): void {
  const { state, artifacts, metadata } = toPlainTask(task.id, told);
  Object.assign(task.metadata, metadata);
  Object.assign(task, { state, artifacts });
}

function isOver({ isTerminal, state }: Task): boolean {
  return isTerminal || state === 'input-required';
}

function rethrow(error: unknown): never {
  throw toTaskError(error);
}
