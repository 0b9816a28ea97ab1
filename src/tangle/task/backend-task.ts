/**
 * A backend as the adapter of a task: its one act prompts the backend, and what that tells is told in the task's stream, within the loop's phases.
 * B1. A backend is prompted once. Where its worker is lost the task fails, with an outcome that nobody knows; one that is `idempotent` is prompted
 *     again under the same `turnId`, and what was told before is void.
 * B2. A session is kept before the backend is prompted, so that what was begun can be gone on with, however it ends.
 * B3. Nothing is gone on with in silence: a session of another kind of backend, and one that there is not, end the task.
 * B4. What a backend has cost before it failed is paid for.
 */
import type { ActContext, TaskSettings } from '../../core/author/task.ts';
import type { BackendErrorDetail, TaskEmission } from '../../core/task/emission.ts';
import type { TaskSession } from '../../core/task/session.ts';
import { errorMessage } from '../../core/value/error.ts';
import { isRecord } from '../../core/value/record.ts';
import type { TaskInput } from '../../definitions/task-input.ts';
import type {
  AgentExecutionBackend,
  BackendContext,
  BackendInput,
  BackendMessage,
} from '../backend/backend.ts';
import { BackendTransportError, NotFoundError, SessionMismatchError, ValidationError } from '../failure.ts';
import { openTelling } from './telling.ts';

/** The inputs of such a task. */
export interface BackendTaskInputs {
  readonly message?: string;
  readonly messages?: readonly BackendMessage[];
  /** Goes on with a session that there is, where it says `resume`; else one of this id is begun unless it is there. */
  readonly session?: { readonly id: string; readonly resume?: boolean };
  readonly [name: string]: unknown;
}

/** What a backend has come to. */
export interface BackendResult {
  /** The first 100,000 characters; the stream has all of it. */
  readonly text: string;
  readonly sessionId: string;
  /** Of its requests to models, as far as they say. */
  readonly costUsd: number;
}

export type BackendAdapter = TaskInput<{ readonly done: BackendResult | null }, 'prompt'>;

/**
 * For `defineTask`, in a file of `agents/tasks`: any worker goes on with it. Its inputs are `message`, or `messages`, and `session`.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * export default defineTask(backendTask(createSandboxPromptBackend({ box }), { idempotent: true }));
 * ```
 */
export function backendTask(backend: AgentExecutionBackend, settings: TaskSettings = {}): BackendAdapter {
  return {
    onActError: 'stop',
    ...settings,
    observe: ({ history }) => ({ done: (history.at(-1)?.actionOutcome?.result as BackendResult) ?? null }),
    decide: ({ state: { done } }) =>
      done
        ? { kind: 'stop', pass: true, reason: 'the backend has answered', outcome: done }
        : { kind: 'act', action: 'prompt' },
    act: (_, context) => prompt(backend, context),
    getActionCostUsd: ({ result }) => (result as BackendResult).costUsd,
  };
}

async function prompt(backend: AgentExecutionBackend, context: ActContext): Promise<BackendResult> {
  const { kind } = backend;
  const input = toInput(context);
  const asking: BackendContext = { signal: context.abortSignal, turnId: context.idempotencyKey };
  // B1: told anew.
  if (context.repeated) await context.emit({ type: 'text_discarded', reason: 'its worker was lost' });
  const session = await openSession(backend, context, { input, asking });
  const { id: sessionId } = session;
  const telling = openTelling(context);
  let costUsd = 0;
  try {
    await telling.tell({ type: 'backend_start', backend: kind, sessionId });
    const own = { id: sessionId, resumeToken: session.resumeToken ?? undefined };
    for await (const event of backend.stream(input, { ...asking, session: own })) {
      if (event.type === 'llm_call') costUsd += event.costUsd ?? 0;
      await telling.tell(event as TaskEmission);
    }
    await telling.tell({ type: 'backend_end', backend: kind, sessionId });
  } catch (error) {
    throw withCost(await fail(backend, context, { session, telling, error }), costUsd);
  }
  await context.sessions.put({ ...session, status: 'completed' });
  return { text: telling.text().slice(0, TEXT_CHARS), sessionId, costUsd };
}

/** B4: also what it throws. */
function withCost(error: unknown, costUsd: number): unknown {
  const thrown = error instanceof Error ? error : new Error(errorMessage(error), { cause: error });
  return costUsd > 0 && Object.isExtensible(thrown) ? Object.assign(thrown, { costUsd }) : thrown;
}

const TEXT_CHARS = 100_000;

interface Failing {
  readonly session: TaskSession;
  readonly telling: ReturnType<typeof openTelling>;
  readonly error: unknown;
}

/** What a failure of its own stop adds to the message. */
async function fail(
  backend: AgentExecutionBackend,
  { abortSignal, sessions }: ActContext,
  { session, telling, error }: Failing,
): Promise<unknown> {
  const { aborted } = abortSignal;
  let message = errorMessage(error);
  try {
    await backend.stop?.({ id: session.id, resumeToken: session.resumeToken ?? undefined }, message);
  } catch (why) {
    message = `${message}; stopping it failed: ${errorMessage(why)}`;
  }
  await sessions.put({ ...session, status: aborted ? 'aborted' : 'failed' });
  const told = { backend: backend.kind, message, recoverable: !aborted, error: toDetail(error, message) };
  await telling.tell({ type: 'backend_error', ...told });
  return error;
}

function toDetail(error: unknown, message: string): BackendErrorDetail {
  if (!(error instanceof BackendTransportError)) return { kind: 'backend', message };
  const { status, body } = error;
  return { kind: 'transport', message, status, ...(body === undefined ? {} : { body }) };
}

interface Opening {
  readonly input: BackendInput;
  readonly asking: BackendContext;
}

/** B2: kept before the prompt. B3: nothing in silence. */
async function openSession(
  backend: AgentExecutionBackend,
  { task, sessions, emit }: ActContext,
  { input, asking }: Opening,
): Promise<TaskSession> {
  const { session: asked } = (task.inputs ?? {}) as BackendTaskInputs;
  if (asked !== undefined && !(isRecord(asked) && typeof asked.id === 'string'))
    throw new ValidationError('"session" must be an object with an "id".');
  const known = asked && (await sessions.get(asked.id));
  if (asked?.resume && !known)
    throw new NotFoundError(`There is no session "${asked.id}" to go on with: begin one without "resume".`);
  if (known && known.backend !== backend.kind)
    throw new SessionMismatchError(
      `The session "${known.id}" is one of the backend "${known.backend}", and not of "${backend.kind}".`,
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
