/**
 * A box of another Everthread: what it is prompted with is an execution of a thread there, and outlives whoever listens. Nothing here needs Node.
 * B1. The id of an execution is known before anything is sent, so a prompt whose answer was lost is sent again, and runs once.
 * B2. Where a stream breaks it is read on behind the last whole event, which its reader does not notice.
 */
import {
  answerOf,
  askOnce,
  type HttpConnectOptions,
  NoAnswer,
  toPlace,
} from '../../client/http/http-place.ts';
import { newId } from '../../client/http/outgoing-json.ts';
import { isPassing, Patience, pauseFor } from '../../client/http/patience.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { isLastEvent, type TangleEvent } from '../../projections/tangle/tangle-event.ts';

export type BoxEvent = TangleEvent & {
  /** Where a reader goes on behind it: `lastEventId`. */
  readonly id: string;
};

export interface PromptOptions {
  /** The same again attaches, or replays; made unless given. */
  readonly executionId?: string | undefined;
  /** The thread; made of the execution's id unless given. */
  readonly sessionId?: string | undefined;
  /** Events behind this one. */
  readonly lastEventId?: string | undefined;
  /** Of the message. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The stream ends where a person is waited for, with `execution.waiting`. */
  readonly endAtWait?: boolean | undefined;
  /** Code of this process that answers, in place of an agent; of boxes that say so (`produces`). */
  readonly produce?: Produce | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is told, as it comes, and what it has come to. */
export interface Production {
  readonly lines: AsyncIterable<{ readonly type: string; readonly data?: unknown }>;
  /** Behind the last line. */
  end(): Promise<{ readonly text: string }>;
}

export type Produce = (producing: {
  readonly executionId: string;
  /** Fires when nobody takes any more of it: it was stopped, or its process taken for lost. */
  readonly signal: AbortSignal;
}) => Promise<Production> | Production;

/** Anything that can be prompted, and streams what happens. */
export interface Box<Event = unknown> {
  readonly id?: string | undefined;
  /** It takes `produce`: code of this process answers. */
  readonly produces?: true;
  streamPrompt(message: string, options?: PromptOptions): AsyncIterable<Event>;
}

export interface RemoteBoxOptions extends HttpConnectOptions {
  /** Who answers, in sessions that begin. */
  readonly agent: string;
  /** Of all prompts that name none. */
  readonly sessionId?: string;
}

export interface RemoteBox extends Box<BoxEvent> {
  streamPrompt(message: string, options?: PromptOptions): AsyncGenerator<BoxEvent, void>;
  /** The events of an execution that somebody has begun, from any process. Throws `ExecutionNotFound`. */
  attach(
    executionId: string,
    options?: Omit<PromptOptions, 'executionId' | 'metadata'>,
  ): AsyncGenerator<BoxEvent, void>;
}

/** Of silence; keep-alives come every 15 s. */
const SILENCE_MS = 40_000;
const AGAIN_MS = 300;

/**
 * Throws `InvalidConfiguration` for what is no address. Its streams throw what the other side refuses with (`ExecutionConflict`, `Unauthorized` …), and
 * `ServerUnavailable` where it is away for longer than `patienceMs`.
 * @example
 * ```ts
 * const box = remoteBox({ url: 'http://127.0.0.1:7777', agent: 'assistant' });
 * for await (const event of box.streamPrompt('hello', { executionId: 'tax:session-7:0' }))
 *   if (event.type === 'message.part.updated') console.log(event.data.delta);
 * ```
 */
export function remoteBox({ agent, sessionId, ...options }: RemoteBoxOptions): RemoteBox {
  const place = toPlace(options, new AbortController().signal);
  const stream = (body: object, executionId: string, { lastEventId, signal }: PromptOptions) =>
    follow({ place, body, executionId, lastEventId, signal });
  return {
    id: sessionId,
    streamPrompt(message, given = {}) {
      if (given.produce)
        throw new RuntimeError(
          'InvalidConfiguration',
          'Code of this process cannot answer in a box elsewhere: give a box of `clientBox`.',
        );
      const session = given.sessionId ?? sessionId;
      // B1: before it goes out.
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

interface Following {
  readonly place: ReturnType<typeof toPlace>;
  readonly body: object;
  readonly executionId: string;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** B2. Rejects with the reason of its signal. */
async function* follow({ place, signal: given, ...asked }: Following): AsyncGenerator<BoxEvent, void> {
  const patience = new Patience(place, given);
  const { signal } = patience;
  let { lastEventId } = asked;
  for (;;) {
    let told = false;
    try {
      for await (const event of connect(place, { ...asked, lastEventId }, signal)) {
        told = true;
        patience.answered();
        lastEventId = event.id;
        yield event;
        if (isLastEvent(event)) return;
      }
      // Cut, at an end that is none: streams grow old.
      if (!told) await pauseFor(AGAIN_MS, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      await patience.pause(error);
    }
  }
}

async function* connect(
  place: Following['place'],
  { body, executionId, lastEventId }: Omit<Following, 'place' | 'signal'>,
  signal: AbortSignal,
): AsyncGenerator<BoxEvent> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  let timer = setTimeout(() => leaving.abort(), SILENCE_MS);
  try {
    const response = await askOnce(
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
    if (!response.body) throw new NoAnswer('The answer was empty.');
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await answerOf(reader.read(), either);
      clearTimeout(timer);
      // B2: a line without its end is none.
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield readLine(line);
      timer = setTimeout(() => leaving.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (leaving.signal.aborted && !signal.aborted) throw new NoAnswer('Nothing came for too long.');
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
  throw new NoAnswer('The answer was no execution.');
}
