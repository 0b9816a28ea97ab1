/**
 * A `fetch` towards a stranger's server: the one wall that servers of MCP and agents of A2A are asked through.
 * W1. It is asked where its author says, and nowhere else: whatever it answers, no request follows a redirect, wherever that leads. So what a worker can
 *     reach inside stays out of a stranger's reach, and headers, which may hold keys, go to those addresses alone.
 * W2. What answers one request is counted on the wire, after decompression, and ends its reader where it is too much.
 */

/** Makes the error that whoever asks is met with. */
export type WallFault = (kind: 'redirect' | 'too_large', message: string) => Error;

export interface Wall {
  /** W1: where its author says. */
  allows(url: URL): boolean;
  /** Bytes of one answer. */
  readonly maxBytes: number;
  /** Messages of one stream; absent: any. */
  readonly maxMessages?: number;
  readonly fault: WallFault;
}

export type WalledFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export function walledFetch(wall: Wall): WalledFetch {
  const { allows, fault } = wall;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!allows(url)) throw fault('redirect', `It wanted ${url.origin} to be asked in its place.`);
    const response = await fetch(url, { ...init, redirect: 'manual' });
    // W1: whatever it names.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel().catch(() => {});
      const to = originOf(response.headers.get('location'), url);
      throw fault('redirect', `It answers ${response.status}, towards ${to}.`);
    }
    return bound(response, wall);
  };
}

function originOf(location: string | null, base: URL): string {
  try {
    return new URL(location ?? '', base).origin;
  } catch {
    return 'nowhere';
  }
}

/** W2: as it is read. A stream's messages end with an empty line each. */
function bound(
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
        controller.error(fault('too_large', `It answered more than ${maxBytes} bytes to one request.`));
      else if (messages > maxMessages)
        controller.error(fault('too_large', `It answered more than ${maxMessages} messages to one request.`));
      else controller.enqueue(piece);
    },
  });
  return new Response(body.pipeThrough(count), { status, statusText, headers });
}
