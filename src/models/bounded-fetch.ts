/**
 * A `fetch` that bounds response bodies, measured after decompression: the libraries that read them buffer a whole
 * body, or a whole event of a stream, in memory before the first check elsewhere.
 * - Reading an answer above the limit fails with `AnswerTooLarge`, and the connection is closed.
 * - The body of an error response is truncated instead: its status matters more than the rest of the body.
 * - The HTTP client's own timeouts are disabled for requests with an abort signal. (They are five minutes, for the
 *   headers and between two pieces of the body; a model's timeouts are those of its definition.)
 */
import type { Transformer } from 'node:stream/web';
import { LIMITS } from '../core/value/limit.ts';
import { withTraceHeader } from '../traceparent.ts';
import { tooLarge } from './answer-failure.ts';
import { createEndWatch, type EndWatch, keepEndWatch } from './stream-end.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for self-written providers. Reading an answer above the limits of docs/operations.md fails with
 * `AnswerTooLarge`.
 * @example
 * ```ts
 * const response = await boundedFetch('http://127.0.0.1:8000/v1/models');
 * console.log(response.status);
 * ```
 */
export const boundedFetch: Fetch = async (input, init) => {
  const sent = withTraceHeader(init, input);
  const response = await fetch(input, sent?.signal ? withoutTimeouts(sent) : sent);
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const watch = createEndWatch();
  const bound = response.ok ? boundAnswer(headers, watch) : truncateAt(LIMITS.errorBodyBytes);
  const bounded = new Response(body.pipeThrough(new TransformStream(bound)), { status, statusText, headers });
  keepEndWatch(bounded, watch);
  return bounded;
};

interface Dispatcher {
  dispatch(request: object, handler: unknown): boolean;
}

/** Key under which Node's fetch finds its dispatcher; a program may have set another one, for a proxy. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Disables the timeouts by wrapping the dispatcher that is in use. */
function withoutTimeouts(init: RequestInit): RequestInit {
  const used = findDispatcher();
  if (used === undefined || 'dispatcher' in init) return init;
  const dispatcher: Dispatcher = {
    dispatch: (request, handler) => used.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
  return { ...init, dispatcher } as RequestInit;
}

/** Undefined in a context without Node's own fetch. Node loads that on first use, which `new Request` triggers. */
function findDispatcher(): Dispatcher | undefined {
  const holder = globalThis as { [GLOBAL_DISPATCHER]?: Dispatcher };
  if (holder[GLOBAL_DISPATCHER] === undefined) new Request('http://127.0.0.1');
  return holder[GLOBAL_DISPATCHER];
}

type BodyTransformer = Transformer<Uint8Array, Uint8Array>;

function boundAnswer(headers: Headers, watch: EndWatch): BodyTransformer {
  const streamed = headers.get('content-type')?.includes('text/event-stream') ?? false;
  const limit = streamed ? LIMITS.answerStreamBytes : LIMITS.answerBodyBytes;
  const countEvent = createEventCounter();
  let total = 0;
  return {
    transform(chunk, controller) {
      total += chunk.length;
      if (total > limit) throw tooLarge(`it has more than ${limit} bytes on the wire`);
      const longest = streamed ? countEvent(chunk) : 0;
      watch.note(chunk);
      if (longest > LIMITS.answerEventBytes)
        throw tooLarge(`one event of its stream has more than ${LIMITS.answerEventBytes} bytes`);
      controller.enqueue(chunk);
    },
  };
}

/** Truncates the body. */
function truncateAt(limit: number): BodyTransformer {
  let left: number = limit;
  return {
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  };
}

const LF = 0x0a;
const CR = 0x0d;

/** Returns the bytes of the longest event that a chunk ends or continues. An empty line ends an event. */
function createEventCounter(): (chunk: Uint8Array) => number {
  let length = 0;
  let lineIsEmpty = true;
  let before = 0;
  return (chunk) => {
    let longest = 0;
    const next = (byte: number, from: number) => {
      const found = chunk.indexOf(byte, from);
      return found < 0 ? chunk.length : found;
    };
    // Line ends are found with the engine's native search: counting byte by byte would cost more than all the rest.
    let [cr, lf] = [next(CR, 0), next(LF, 0)];
    for (let at = 0; at < chunk.length; ) {
      const end = Math.min(cr, lf);
      if (end > at) {
        length += end - at;
        lineIsEmpty = false;
        before = 0;
      }
      at = end + 1;
      if (end === chunk.length) break;
      length += 1;
      // The second half of CRLF belongs to the line that has ended.
      if (end === cr || before !== CR) {
        if (length > longest) longest = length;
        if (lineIsEmpty) length = 0;
        lineIsEmpty = true;
      }
      before = end === cr ? CR : LF;
      if (end === cr) cr = next(CR, at);
      else lf = next(LF, at);
    }
    return Math.max(longest, length);
  };
}
