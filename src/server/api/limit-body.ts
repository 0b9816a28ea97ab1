/** Limits the size of a request's body. A body that is a file is not held in memory, and may be larger. */
import type { RuntimeError } from '../../core/value/error.ts';
import { KeptBody } from './kept-body.ts';
import { tooLarge } from './problem.ts';

export interface LimitedRequest {
  readonly request: Request;
  /** The error with which reading the body has failed; whoever reads it may take it for a body that is not valid. */
  refusal(): RuntimeError | null;
}

type Bytes = TransformStream<Uint8Array, Uint8Array>;

/** How much larger the body of a conversation may be than what is kept of it. */
const CONVERSATION_FACTOR = 4;

/** Throws `RequestTooLarge` if `Content-Length` exceeds the limit; without it, reading the body fails at the limit. */
export function limitBody(request: Request, mostBytes: number): LimitedRequest {
  const declaredBytes = Number(request.headers.get('content-length') ?? 0);
  if (declaredBytes > mostBytes) throw tooLarge(mostBytes);
  return request.headers.has('content-length') ? unlimited(request) : through(request, passBytes(mostBytes));
}

/** The same for the body of a conversation, of which at most `keptBytes` are kept (kept-body.ts). */
export function limitConversation(request: Request, keptBytes: number): LimitedRequest {
  const declaredBytes = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY);
  if (declaredBytes <= keptBytes) return unlimited(request);
  const mostBytes = keptBytes * CONVERSATION_FACTOR;
  if (declaredBytes > mostBytes && Number.isFinite(declaredBytes)) throw tooLarge(mostBytes);
  return through(request, keepBytes(keptBytes, mostBytes));
}

const unlimited = (request: Request): LimitedRequest => ({ request, refusal: () => null });

/** What becomes of the chunks of a body; both throw `RequestTooLarge`. */
interface Limit {
  take(chunk: Uint8Array): readonly Uint8Array[];
  end(): readonly Uint8Array[];
}

function passBytes(mostBytes: number): Limit {
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.byteLength;
      if (bytes > mostBytes) throw tooLarge(mostBytes);
      return [chunk];
    },
    end: () => [],
  };
}

function keepBytes(keptBytes: number, mostBytes: number): Limit {
  const read = passBytes(mostBytes);
  const kept = new KeptBody(keptBytes);
  return {
    take(chunk) {
      for (const each of read.take(chunk)) kept.add(each);
      return [];
    },
    end: () => kept.end(),
  };
}

function through(request: Request, limit: Limit): LimitedRequest {
  if (!request.body) return unlimited(request);
  let refusal: RuntimeError | null = null;
  const bytes: Bytes = new TransformStream({
    transform(chunk, controller) {
      try {
        for (const each of limit.take(chunk)) controller.enqueue(each);
      } catch (error) {
        refusal = error as RuntimeError;
        controller.error(error);
      }
    },
    flush(controller) {
      for (const each of limit.end()) controller.enqueue(each);
    },
  });
  // Copied field by field: the request may be an instance of another realm's class.
  const { url, method, headers, signal } = request;
  const given = { method, headers, signal, body: request.body.pipeThrough(bytes), duplex: 'half' };
  return { request: new Request(url, given as RequestInit), refusal: () => refusal };
}
