/**
 * A real HTTP server that gives any answer, however wrong, and waits for its client to read, for tests of the bounds of
 * an answer.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RudeServer {
  /** Base URL, ending with `/v1`. */
  readonly url: string;
  /** Bytes written to sockets so far, before compression. */
  readonly sent: number;
  /** Number of requests so far. */
  readonly requests: number;
  close(): Promise<void>;
}

/** Parts that are written in order; the answer ends after the last part, or when the client has disconnected. */
export type Body = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

export interface RudeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
}

export async function serveRudely(
  answer: (headers: Readonly<Record<string, unknown>>) => RudeAnswer,
): Promise<RudeServer> {
  const count = { sent: 0, requests: 0 };
  const server = createServer((request, response) => {
    count.requests += 1;
    request.resume();
    write(response, answer(request.headers), count).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    get sent() {
      return count.sent;
    },
    get requests() {
      return count.requests;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function write(
  response: ServerResponse,
  { status, headers, body }: RudeAnswer,
  count: { sent: number },
) {
  response.writeHead(status ?? 200, { 'content-type': 'text/event-stream', ...headers });
  const gone = once(response, 'close');
  for await (const part of body) {
    if (response.destroyed) return;
    count.sent += part.length;
    if (!response.write(part)) await Promise.race([once(response, 'drain'), gone]);
  }
  response.end();
}

/** One event of a streamed chat completion. */
export function event(delta: object, rest: object = {}): string {
  return `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })}\n\n`;
}

export const FINISH =
  'data: {"id":"r","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** Repeats a part; infinitely by default. */
export function* again<Part>(part: Part, times = Number.POSITIVE_INFINITY): Generator<Part> {
  for (let n = 0; n < times; n++) yield part;
}
