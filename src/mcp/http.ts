/**
 * A server that is reached over streamable HTTP.
 * A1. It is asked where its author says, and nowhere else: whatever it answers, no request follows a redirect, and the author's headers,
 *     which may hold keys, go to that address alone.
 * A2. What answers one request is counted on the wire, after decompression.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpReach } from '../core/author/mcp-server.ts';
import { McpFailure } from './failure.ts';
import { MCP_LIMITS } from './limit.ts';

type Address = Extract<McpReach, { by: 'http' }>;

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Why it was given up, where it was at fault. */
  failure: McpFailure | undefined;

  constructor({ url, headers }: Address) {
    const target = new URL(url);
    super(target, {
      requestInit: { headers },
      fetch: (input, init) => this.#fetch(target, input, init),
      // A call that was cut off is not sent again, nor read on: whoever called decides.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }

  /** Each request is counted by itself. */
  allow(): void {}

  async #fetch(target: URL, input: string | URL, init?: RequestInit): Promise<Response> {
    const url = new URL(input);
    if (url.origin !== target.origin || url.pathname !== target.pathname)
      throw this.#fault(new McpFailure('McpRedirect', `It wanted ${url.origin} to be asked in its place.`));
    const response = await fetch(url, { ...init, redirect: 'manual' });
    // A1: whatever it names.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel().catch(() => {});
      const to = quoteOrigin(response.headers.get('location'), url);
      throw this.#fault(new McpFailure('McpRedirect', `It answers ${response.status}, towards ${to}.`));
    }
    return bound(response, () =>
      this.#fault(
        new McpFailure(
          'McpTooLarge',
          `It answered more than ${MCP_LIMITS.requestBytes} bytes or ${MCP_LIMITS.requestMessages} messages to one request.`,
        ),
      ),
    );
  }

  #fault(failure: McpFailure): McpFailure {
    this.failure ??= failure;
    return failure;
  }
}

function quoteOrigin(location: string | null, base: URL): string {
  try {
    return new URL(location ?? '', base).origin;
  } catch {
    return 'nowhere';
  }
}

/** A2: as it is read. A stream's messages end with an empty line each. */
function bound(response: Response, tooLarge: () => Error): Response {
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
      if (bytes > MCP_LIMITS.requestBytes || messages > MCP_LIMITS.requestMessages)
        controller.error(tooLarge());
      else controller.enqueue(piece);
    },
  });
  return new Response(body.pipeThrough(count), { status, statusText, headers });
}
