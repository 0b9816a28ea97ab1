/** The body of a request, up to a size. One that is a file is not held in memory, and may be larger. */
import { RuntimeError } from '../../core/value/error.ts';

/** Throws `RequestTooLarge`, where the length is told beforehand at once, else as soon as more comes. */
export function limitBody(request: Request, mostBytes: number): Request {
  const told = Number(request.headers.get('content-length') ?? 0);
  if (told > mostBytes) throw tooLarge(mostBytes);
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
  // By its parts: the request may be of another class than this realm's.
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body: bounded, duplex: 'half' } as RequestInit);
}

function tooLarge(mostBytes: number): RuntimeError {
  return new RuntimeError('RequestTooLarge', `The body of a request has at most ${mostBytes} bytes.`);
}
