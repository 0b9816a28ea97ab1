/**
 * A backend as the adapter of a task: its only act prompts the backend, and the backend's events are part of the task's
 * stream, within the phases of the loop.
 * - A backend is prompted once. If its worker is lost, the task fails with an unknown outcome; if it is `idempotent`,
 *   as it is for a backend that is `repeatable`, the backend is prompted again with the same `turnId`, and the text that was emitted before is void.
 * - A session is stored before the backend is prompted, so that it can be continued however the prompt ends.
 * - A session is never replaced silently: one of another kind of backend, or a missing one to resume, ends the task.
 * - The cost of a backend before it failed is counted.
 */

import type { ActContext, TaskSettings } from '../../../core/author/task.ts';
import type { BackendErrorDetail, TaskEmission } from '../../../core/task/emission.ts';
import type { TaskSession } from '../../../core/task/session.ts';
import { errorMessage } from '../../../core/value/error.ts';
import { sumUsd } from '../../../core/value/money.ts';
import { isRecord } from '../../../core/value/record.ts';
import type { TaskInput } from '../../../definitions/define-task.ts';
import type {
  AgentExecutionBackend,
  BackendContext,
  BackendInput,
  BackendMessage,
} from '../backend/backend.ts';
import { BackendTransportError, NotFoundError, SessionMismatchError, ValidationError } from '../failure.ts';

/** The inputs of a task that a backend does. */
export interface BackendTaskInputs {
  readonly message?: string;
  readonly messages?: readonly BackendMessage[];
  /** The session to continue. If there is none: with `resume` the task fails, else a session with this id is begun. */
  readonly session?: { readonly id: string; readonly resume?: boolean };
  readonly [name: string]: unknown;
}

/** The result of a backend. */
export interface BackendResult {
  /** The first 100,000 characters; the stream has all of it. */
  readonly text: string;
  readonly sessionId: string;
  /** Cost of its model requests, as far as they report it. */
  readonly costUsd: number;
}

export type BackendAdapter = TaskInput<{ readonly done: BackendResult | null }, 'prompt'>;

/**
 * Returns an adapter for `defineTask` in a file of `agents/tasks`, where any worker can continue the task. Its inputs
 * are `message`, or `messages`, and `session`.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * export default defineTask(backendTask(createSandboxPromptBackend({ box })));
 * ```
 */
export function backendTask(backend: AgentExecutionBackend, settings: TaskSettings = {}): BackendAdapter {
  return {
    onActError: 'stop',
    idempotent: backend.repeatable === true,
    ...settings,
    observe: ({ history }) => ({ done: (history.at(-1)?.actionOutcome?.result as BackendResult) ?? null }),
    decide: ({ state: { done } }) =>
      done
        ? { kind: 'stop', pass: true, reason: 'the backend has answered', outcome: done }
        : { kind: 'act', action: 'prompt' },
    act: (_, context) => promptBackend(backend, context),
    getActionCostUsd: ({ result }) => (result as BackendResult).costUsd,
  };
}

async function promptBackend(backend: AgentExecutionBackend, context: ActContext): Promise<BackendResult> {
  const { kind } = backend;
  const input = toInput(context);
  const asking: BackendContext = { signal: context.abortSignal, turnId: context.idempotencyKey };
  // The earlier text is void.
  if (context.repeated) await context.emit({ type: 'text_discarded', reason: 'the worker was lost' });
  const session = await openSession(backend, context, { input, asking });
  const { id: sessionId } = session;
  const telling = openTaskEmitter(context);
  const costs: number[] = [];
  try {
    await telling.tell({ type: 'backend_start', backend: kind, sessionId });
    const own = { id: sessionId, resumeToken: session.resumeToken ?? undefined };
    for await (const event of backend.stream(input, { ...asking, session: own })) {
      if (event.type === 'llm_call') costs.push(event.costUsd ?? 0);
      await telling.tell(event as TaskEmission);
    }
    await telling.tell({ type: 'backend_end', backend: kind, sessionId });
  } catch (error) {
    throw withCost(await stopBackend(backend, context, { session, telling, error }), sumUsd(costs));
  }
  await context.sessions.put({ ...session, status: 'completed' });
  return { text: telling.text().slice(0, TEXT_CHARS), sessionId, costUsd: sumUsd(costs) };
}

/** Adds the cost to what was thrown. */
function withCost(error: unknown, costUsd: number): unknown {
  const thrown = error instanceof Error ? error : new Error(errorMessage(error), { cause: error });
  return costUsd > 0 && Object.isExtensible(thrown) ? Object.assign(thrown, { costUsd }) : thrown;
}

const TEXT_CHARS = 100_000;

interface FailedPrompt {
  readonly session: TaskSession;
  readonly telling: ReturnType<typeof openTaskEmitter>;
  readonly error: unknown;
}

/** Stops the backend, and reports its failure. If stopping it fails as well, the message says so. */
async function stopBackend(
  backend: AgentExecutionBackend,
  { abortSignal, sessions }: ActContext,
  { session, telling, error }: FailedPrompt,
): Promise<unknown> {
  const { aborted } = abortSignal;
  let message = errorMessage(error);
  try {
    await backend.stop?.({ id: session.id, resumeToken: session.resumeToken ?? undefined }, message);
  } catch (why) {
    message = `${message}; stopping it failed: ${errorMessage(why)}`;
  }
  await sessions.put({ ...session, status: aborted ? 'aborted' : 'failed' });
  const failure = { backend: backend.kind, message, recoverable: !aborted, error: toDetail(error, message) };
  await telling.tell({ type: 'backend_error', ...failure });
  return error;
}

function toDetail(error: unknown, message: string): BackendErrorDetail {
  if (!(error instanceof BackendTransportError)) return { kind: 'backend', message };
  const { status, body } = error;
  return { kind: 'transport', message, status, ...(body === undefined ? {} : { body }) };
}

interface SessionRequest {
  readonly input: BackendInput;
  readonly asking: BackendContext;
}

/** Stored before the prompt. B3: throws instead of replacing a session. */
async function openSession(
  backend: AgentExecutionBackend,
  { task, sessions, emit }: ActContext,
  { input, asking }: SessionRequest,
): Promise<TaskSession> {
  const { session: asked } = (task.inputs ?? {}) as BackendTaskInputs;
  if (asked !== undefined && !(isRecord(asked) && typeof asked.id === 'string'))
    throw new ValidationError('"session" must be an object with an "id".');
  const known = asked && (await sessions.get(asked.id));
  if (asked?.resume && !known)
    throw new NotFoundError(`Session "${asked.id}" does not exist: omit "resume" to begin one.`);
  if (known && known.backend !== backend.kind)
    throw new SessionMismatchError(
      `Session "${known.id}" belongs to backend "${known.backend}", not "${backend.kind}".`,
    );
  if (known) {
    const own = { id: known.id, resumeToken: known.resumeToken ?? undefined };
    await backend.resume?.(own, input, asking);
    const session = await sessions.put({ ...known, status: 'active' });
    await emit({ type: 'session_resumed', session });
    return session;
  }
  const begun = await backend.start?.(input, asking);
  const id = asked?.id ?? begun?.id ?? task.id;
  const resumeToken = begun?.resumeToken ?? id;
  const session = await sessions.put({ id, backend: backend.kind, status: 'active', resumeToken });
  await emit({ type: 'session_created', session });
  return session;
}

function toInput({ task: { id, intent, inputs = {} } }: ActContext): BackendInput {
  const { message, messages, session: _, ...own } = inputs as BackendTaskInputs;
  return { task: { id, intent }, message, messages, inputs: own };
}

/** Greatest number of characters in one row, so that it stays within the size limit of an emission. */
const MAX_PIECE_CHARS = 16_000;

interface TaskEmitter {
  tell(event: TaskEmission): Promise<void>;
  /** The text of all `text_delta` events that was not discarded. */
  text(): string;
}

/**
 * Writes a backend's events to the log, in order. Pieces of text are joined while the one before them is being
 * written, so that a fast backend does not wait for the disk.
 */
function openTaskEmitter({ emit }: Pick<ActContext, 'emit'>): TaskEmitter {
  let text = '';
  let due = '';
  let kind: 'text_delta' | 'reasoning_delta' = 'text_delta';
  let writing: Promise<void> = Promise.resolve();
  let failure: unknown;
  const write = () => {
    writing = writing.then(async () => {
      while (due !== '' && failure === undefined) {
        const piece = due.slice(0, MAX_PIECE_CHARS);
        due = due.slice(MAX_PIECE_CHARS);
        await emit({ type: kind, text: piece }).catch((error: unknown) => {
          failure = error;
        });
      }
    });
  };
  const written = async () => {
    await writing;
    if (failure !== undefined) throw failure;
  };
  return {
    async tell(event) {
      if (event.type === 'text_delta' || event.type === 'reasoning_delta') {
        if (event.type !== kind) await written();
        kind = event.type;
        if (event.type === 'text_delta') text += event.text;
        const idle = due === '';
        due += event.text;
        if (idle) write();
        if (failure !== undefined) throw failure;
        return;
      }
      await written();
      if (event.type === 'text_discarded') text = '';
      await emit(event);
    },
    text: () => text,
  };
}
