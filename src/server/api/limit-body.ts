/** Limits the size of a request's body. A body that is a file is not held in memory, and may be larger. */
import { RuntimeError } from '../../core/value/error.ts';

/** Throws `RequestTooLarge` if `Content-Length` exceeds the limit; without it, reading the body fails at the limit. */
export function limitBody(request: Request, mostBytes: number): Request {
  const declaredBytes = Number(request.headers.get('content-length') ?? 0);
  if (declaredBytes > mostBytes) throw tooLarge(mostBytes);
  if (!request.body || request.headers.has('content-length')) return request;
  let bytes = 0;
  const bounded = request.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > mostBytes) controller.error(tooLarge(mostBytes));
        else controller.enqueue(chunk);
      },
    }),
  );
  // Copied field by field: the request may be an instance of another realm's class.
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body: bounded, duplex: 'half' } as RequestInit);
}

function tooLarge(mostBytes: number): RuntimeError {
  return new RuntimeError('RequestTooLarge', `The body of a request can have at most ${mostBytes} bytes.`);
}
