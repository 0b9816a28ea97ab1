/**
 * A `fetch` for requests to untrusted servers. All requests to MCP servers and A2A agents go through it.
 * W3. Requests go only to addresses that the author allows, and redirects are never followed. So an untrusted server
 *     cannot reach the worker's internal network, and headers, which may hold keys, are sent to those addresses only.
 * - The body of a response is counted after decompression; reading it fails once it exceeds its limits.
 */

import { withTraceHeader } from '../../traceparent.ts';

/** Creates the error that the caller receives. */
export type WallFault = (kind: 'redirect' | 'too_large', message: string) => Error;

export interface Wall {
  /** W3: true if the author allows requests to this address. */
  allows(url: URL): boolean;
  /** Maximum size of one response body, in bytes. */
  readonly maxBytes: number;
  /** Maximum number of messages in one event stream; unlimited if absent. */
  readonly maxMessages?: number;
  readonly fault: WallFault;
}

export type WalledFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export function walledFetch(wall: Wall): WalledFetch {
  const { allows, fault } = wall;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!allows(url)) throw fault('redirect', `Requests to ${url.origin} are not allowed.`);
    const response = await fetch(url, { ...withTraceHeader(init), redirect: 'manual' });
    // W3: a redirect is an error, wherever it leads.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel().catch(() => {});
      const to = originOf(response.headers.get('location'), url);
      throw fault('redirect', `The server answered ${response.status}, a redirect to ${to}.`);
    }
    return limitBody(response, wall);
  };
}

function originOf(location: string | null, base: URL): string {
  try {
    return new URL(location ?? '', base).origin;
  } catch {
    return 'an invalid address';
  }
}

/** Enforces the limits while the body is read. Each message of an event stream ends with an empty line. */
function limitBody(
  response: Response,
  { maxBytes, maxMessages = Number.POSITIVE_INFINITY, fault }: Wall,
): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  let bytes = 0;
  let messages = 0;
  let last = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.length;
      for (const byte of piece) {
        if (byte === 13) continue;
        if (byte === 10 && last === 10) messages += 1;
        last = byte;
      }
      if (bytes > maxBytes)
        controller.error(
          fault('too_large', `The server returned more than ${maxBytes} bytes for one request.`),
        );
      else if (messages > maxMessages)
        controller.error(
          fault('too_large', `The server returned more than ${maxMessages} messages for one request.`),
        );
      else controller.enqueue(piece);
    },
  });
  return new Response(body.pipeThrough(count), { status, statusText, headers });
}
