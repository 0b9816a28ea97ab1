/**
 * A chat turn as lines of JSON: an execution of the box, in the envelope of a session's run. Nothing here needs Node:
 * it runs in a Worker, which keeps no state of the turn.
 * - A turn is sent before its body is read, and cancelling the body never stops it, even before it has begun.
 * - A body begins with `session.run.started` and ends with `session.run.completed`, `.failed` or `.waiting`. A body
 *   that ends with another line was cut off.
 * - Hooks that observe a turn (`onEvent`, `traceFlush`) do not affect it.
 */
import type { ManifestDefinition } from '../../../core/author/manifest.ts';
import { deriveExecutionId } from '../../../core/thread/execution-id.ts';
import { TURN_METADATA } from '../../../core/thread/turn-mark.ts';
import { errorMessage, isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import {
  type ChatTurnIdentity,
  type ChatTurnLine,
  toTurnLine,
} from '../../../projections/tangle/chat-turn.ts';
import type { Box, BoxEvent } from '../box/remote-box.ts';
import { checkHooks, type ProducedTurnHooks, toProduce, withProducer } from './produced-turn.ts';

export interface ChatTurnHooks extends ProducedTurnHooks {
  /** Called with every line, including those of the envelope. */
  readonly onEvent?: (line: ChatTurnLine) => Promise<void> | void;
  /** Called once, when the body has ended or was cancelled. */
  readonly traceFlush?: () => Promise<void> | void;
}

export interface ChatTurnInput {
  /** Its `run` produces the turn, if that is a function; the box must be of this process. */
  readonly agent?: Pick<ManifestDefinition, 'id' | 'run' | 'runHere'>;
  readonly box: Box<BoxEvent>;
  readonly identity: ChatTurnIdentity;
  /** The user's message. */
  readonly message: string;
  /** Part of the execution's id, with the session and the turn's index. The agent's id unless given, else `chat`. */
  readonly projectId?: string;
  /** Only lines after this one are sent: for a reader that resumes. */
  readonly lastEventId?: string | undefined;
  readonly hooks?: ChatTurnHooks;
  /** `waitUntil` of a Worker: keeps it alive for work that outlasts the response. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  readonly log?: (message: string, error: unknown) => void;
}

export interface ChatTurnBody {
  readonly body: ReadableStream<Uint8Array>;
  readonly contentType: 'application/x-ndjson';
  readonly executionId: string;
}

const ENCODER = new TextEncoder();

/**
 * Returns at once. Failures of the turn are reported by lines of the body, `error` and `session.run.failed`. The same
 * turn again attaches, or replays; another message for the same turn is `ExecutionConflict`. Throws `InvalidValue` if
 * no execution id can be derived from the identity, and `InvalidConfiguration` without a box, and for hooks that the box
 * does not support.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * const identity = { tenantId: 'acme', sessionId: 'session-7', userId: 'ada', turnIndex: 0 };
 * const { body, contentType } = handleChatTurn({ box, identity, message: 'hello' });
 * const response = new Response(body, { headers: { 'content-type': contentType } });
 * ```
 */
export function handleChatTurn(turn: ChatTurnInput): ChatTurnBody {
  const { box, agent, identity, message, projectId = agent?.id ?? 'chat', lastEventId, waitUntil } = turn;
  const hooks: ChatTurnHooks = withProducer(turn.hooks ?? {}, agent);
  const { log = console.error } = turn;
  if (typeof box?.streamPrompt !== 'function')
    throw new RuntimeError(
      'InvalidConfiguration',
      'The turn has no box: pass `await localBox()` for turns that this process produces, else `remoteBox` or `clientBox`.',
    );
  checkHooks(hooks, box.produces === true);
  const { sessionId, tenantId, userId, turnIndex } = identity;
  const executionId = deriveExecutionId({ projectId, sessionId, turnIndex });
  const leaving = new AbortController();
  const events = box.streamPrompt(message, {
    executionId,
    sessionId,
    lastEventId,
    metadata: { [TURN_METADATA]: { tenantId, sessionId, userId, turnIndex } },
    endAtWait: true,
    produce: toProduce({ identity, message, hooks, log }),
    repeatable: hooks.repeatable,
    signal: leaving.signal,
  });
  const watch = createHookRunner(turn);
  const iterator = events[Symbol.asyncIterator]();
  const first = iterator.next();
  first.catch(() => undefined);
  const lines = toLines(identity, remainingEvents(iterator, first));
  let over = false;
  const flush = async () => {
    if (over) return;
    over = true;
    const flushed = watch.quietly('traceFlush', hooks.traceFlush);
    if (waitUntil) waitUntil(flushed);
    else await flushed;
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (!done) {
          await watch.quietly('onEvent', () => hooks.onEvent?.(value));
          return controller.enqueue(ENCODER.encode(`${JSON.stringify(value)}\n`));
        }
        await flush();
        controller.close();
      },
      async cancel() {
        // Once its first event has come, the turn was accepted.
        const left = first.catch(() => undefined).then(() => leaving.abort());
        waitUntil?.(left);
        await flush();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, contentType: 'application/x-ndjson', executionId };
}

async function* remainingEvents(
  iterator: AsyncIterator<BoxEvent>,
  first: Promise<IteratorResult<BoxEvent>>,
): AsyncGenerator<BoxEvent> {
  for (let step = await first; !step.done; step = await iterator.next()) yield step.value;
}

/** Yields each line with its id, after which a reader can resume. */
async function* toLines(
  identity: ChatTurnIdentity,
  events: AsyncIterable<BoxEvent>,
): AsyncGenerator<ChatTurnLine & { readonly id?: string }> {
  const { sessionId } = identity;
  try {
    for await (const { id, ...event } of events) yield { ...toTurnLine(identity, event), id };
  } catch (error) {
    const message = errorMessage(error);
    const code = isRuntimeError(error) ? error.code : 'InternalError';
    yield { type: 'error', data: { message, code } };
    yield { type: 'session.run.failed', data: { sessionId, message } };
  }
}

/** Errors of hooks are logged. */
function createHookRunner({ log = console.error }: ChatTurnInput) {
  return {
    async quietly(name: string, work: (() => Promise<void> | void) | undefined): Promise<void> {
      try {
        await work?.();
      } catch (error) {
        log(`${name} of a chat turn failed: ${errorMessage(error)}`, error);
      }
    },
  };
}

export interface ChatTurnRequest {
  readonly identity: ChatTurnIdentity;
  readonly message: string;
}

export type ChatTurnHandlerOptions = Omit<ChatTurnInput, 'identity' | 'message' | 'lastEventId'> & {
  /** Returns the turn's identity and message, or a response that refuses it. Access control is the product's task. */
  readonly readTurn: (request: Request) => Promise<ChatTurnRequest | Response> | ChatTurnRequest | Response;
};

/**
 * Serves chat turns over HTTP. The response has `X-Execution-ID`; a client that was cut off sends the same request
 * again, with `Last-Event-ID`.
 * @example
 * ```ts
 * const handler = createChatTurnHandler({
 *   box: remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' }),
 *   readTurn: async (request) => await request.json(),
 * });
 * export default { fetch: handler };
 * ```
 */
export function createChatTurnHandler({
  readTurn,
  ...options
}: ChatTurnHandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const read = await readTurn(request);
    if (read instanceof Response) return read;
    const { identity, message } = read;
    const lastEventId = request.headers.get('last-event-id') ?? undefined;
    const { body, contentType, executionId } = handleChatTurn({ ...options, identity, message, lastEventId });
    return new Response(body, {
      headers: {
        'content-type': `${contentType}; charset=utf-8`,
        'x-execution-id': executionId,
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      },
    });
  };
}
