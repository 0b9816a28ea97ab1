/**
 * A box of another Everthread. A prompt is an execution of a thread there, which continues if its reader leaves.
 * Nothing here needs Node.
 * - The id of an execution is known before anything is sent. So a prompt whose response was lost can be sent again,
 *   and runs once.
 * - A stream that breaks is resumed after its last whole event, without its reader noticing.
 */
import {
  awaitResponse,
  type HttpConnectOptions,
  NoAnswer,
  requestOnce,
  toHttpConnection,
} from '../../../client/http/http-place.ts';
import { newId } from '../../../client/http/outgoing-json.ts';
import { isTransient, pauseFor, RetryBackoff } from '../../../client/http/patience.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import { isLastEvent, type TangleEvent } from '../../../projections/tangle/tangle-event.ts';

export type BoxEvent = TangleEvent & {
  /** Cursor of the event: as `lastEventId`, it resumes after the event. */
  readonly id: string;
};

export interface PromptOptions {
  /** An id that was used before attaches to its execution, or replays it. Generated unless given. */
  readonly executionId?: string | undefined;
  /** Id of the thread; derived from the execution's id unless given. */
  readonly sessionId?: string | undefined;
  /** Only events after this one are streamed. */
  readonly lastEventId?: string | undefined;
  /** Metadata of the message. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** If true, the stream ends with `execution.waiting` when a person is waited for. */
  readonly endAtWait?: boolean | undefined;
  /** Code of this process that answers instead of an agent; only for a box with `produces`. */
  readonly produce?: Produce | undefined;
  /** True if `produce` may run again, in the next process that prompts, when the one that ran it is lost. */
  readonly repeatable?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The output of code that answers: its lines as they come, and its final text. */
export interface Production {
  readonly lines: AsyncIterable<{ readonly type: string; readonly data?: unknown }>;
  /** Called after the last line. */
  end(): Promise<{ readonly text: string }>;
}

export type Produce = (producing: {
  readonly executionId: string;
  /** Aborts once no more output is accepted: the execution was stopped, or its process counts as lost. */
  readonly signal: AbortSignal;
}) => Promise<Production> | Production;

/** Anything that can be prompted and streams events. */
export interface Box<Event = unknown> {
  readonly id?: string | undefined;
  /** Set if the box supports `produce`: code of this process answers. */
  readonly produces?: true;
  /** Set if a prompt with an execution id that was used before attaches to that execution. */
  readonly attaches?: true;
  streamPrompt(message: string, options?: PromptOptions): AsyncIterable<Event>;
}

export interface RemoteBoxOptions extends HttpConnectOptions {
  /** The agent of sessions that are created. */
  readonly agent: string;
  /** Session of the prompts that name none. */
  readonly sessionId?: string;
}

export interface RemoteBox extends Box<BoxEvent> {
  streamPrompt(message: string, options?: PromptOptions): AsyncGenerator<BoxEvent, void>;
  /** Streams the events of an execution that any process has begun. Throws `ExecutionNotFound`. */
  attach(
    executionId: string,
    options?: Omit<PromptOptions, 'executionId' | 'metadata'>,
  ): AsyncGenerator<BoxEvent, void>;
}

/** Milliseconds of silence after which a connection counts as broken; keep-alives come every 15 s. */
const SILENCE_MS = 40_000;
const RETRY_MS = 300;

/**
 * Throws `InvalidConfiguration` for an invalid URL. The streams throw the errors of the other side
 * (`ExecutionConflict`, `Unauthorized` …), and `ServerUnavailable` if it is unreachable for longer than `patienceMs`.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * for await (const event of box.streamPrompt('hello', { executionId: 'tax:session-7:0' }))
 *   if (event.type === 'message.part.updated') console.log(event.data.delta);
 * ```
 */
export function remoteBox({ agent, sessionId, ...options }: RemoteBoxOptions): RemoteBox {
  const place = toHttpConnection(options, new AbortController().signal);
  const stream = (body: object, executionId: string, { lastEventId, signal }: PromptOptions) =>
    followStream({ place, body, executionId, lastEventId, signal });
  return {
    id: sessionId,
    attaches: true,
    streamPrompt(message, given = {}) {
      if (given.produce)
        throw new RuntimeError(
          'InvalidConfiguration',
          '"produce" runs in this process, but the box is remote: use `clientBox`.',
        );
      const session = given.sessionId ?? sessionId;
      // Known before anything is sent.
      const { executionId = newId() } = given;
      const named = session === undefined ? {} : { sessionId: session };
      const { metadata, endAtWait } = given;
      return stream({ agent, message, metadata, endAtWait, ...named }, executionId, given);
    },
    attach(executionId, given = {}) {
      const session = given.sessionId ?? sessionId;
      const named = session === undefined ? {} : { sessionId: session };
      return stream({ endAtWait: given.endAtWait, ...named }, executionId, given);
    },
  };
}

interface FollowOptions {
  readonly place: ReturnType<typeof toHttpConnection>;
  readonly body: object;
  readonly executionId: string;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Resumes a broken stream. Rejects with the reason of its signal. */
async function* followStream({
  place,
  signal: given,
  ...asked
}: FollowOptions): AsyncGenerator<BoxEvent, void> {
  const patience = new RetryBackoff(place, given);
  const { signal } = patience;
  let { lastEventId } = asked;
  for (;;) {
    let emitted = false;
    try {
      for await (const event of connect(place, { ...asked, lastEventId }, signal)) {
        emitted = true;
        patience.answered();
        lastEventId = event.id;
        yield event;
        if (isLastEvent(event)) return;
      }
      // The stream ended before its last event: servers close old streams.
      if (!emitted) await pauseFor(RETRY_MS, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      await patience.pause(error);
    }
  }
}

async function* connect(
  place: FollowOptions['place'],
  { body, executionId, lastEventId }: Omit<FollowOptions, 'place' | 'signal'>,
  signal: AbortSignal,
): AsyncGenerator<BoxEvent> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  let timer = setTimeout(() => leaving.abort(), SILENCE_MS);
  try {
    const response = await requestOnce(
      place,
      {
        method: 'POST',
        path: '/agents/run/stream',
        body,
        headers: {
          accept: 'application/x-ndjson',
          'x-execution-id': executionId,
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      },
      either,
    );
    if (!response.body) throw new NoAnswer('The response was empty.');
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await awaitResponse(reader.read(), either);
      clearTimeout(timer);
      // A line without its end is dropped; it is read again.
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield readLine(line);
      timer = setTimeout(() => leaving.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (leaving.signal.aborted && !signal.aborted) throw new NoAnswer('No data was received for too long.');
    throw error;
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

function readLine(text: string): BoxEvent {
  try {
    const event = JSON.parse(text) as BoxEvent;
    if (typeof event.id === 'string' && typeof event.type === 'string') return event;
  } catch {
    // Told below.
  }
  throw new NoAnswer('The response was not a stream of execution events.');
}
