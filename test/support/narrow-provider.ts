/**
 * A real HTTP server that stands in for a provider with a limit: it serves so many requests at a time, each for a
 * while, and refuses the others with 429. Nobody is answered before it has refused somebody. Its answers call the tool `finish`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { event } from './rude-provider.ts';

export interface NarrowProvider {
  /** Base URL; ends with `/v1`. */
  readonly url: string;
  /** When each request came, in milliseconds since 1970, and whether it was refused. */
  readonly requests: readonly { readonly at: number; readonly refused: boolean }[];
  close(): Promise<void>;
}

export interface Narrowness {
  readonly atOnce: number;
  /** How long an answer takes. */
  readonly busyMs: number;
  /** Headers of a refusal. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function serveNarrowProvider({
  atOnce,
  busyMs,
  headers = {},
}: Narrowness): Promise<NarrowProvider> {
  const requests: { at: number; refused: boolean }[] = [];
  let serving = 0;
  const first = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const refused = serving >= atOnce;
      requests.push({ at: Date.now(), refused });
      if (refused) {
        first.resolve();
        response.writeHead(429, { 'content-type': 'application/json', ...headers });
        response.end('{"error":{"message":"Too many requests."}}');
        return;
      }
      serving += 1;
      response.once('close', () => {
        serving -= 1;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      void first.promise.then(() => setTimeout(() => response.end(ANSWER), busyMs));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const CALL = {
  index: 0,
  id: 'c1',
  type: 'function',
  function: { name: 'finish', arguments: '{"line":"done"}' },
};
const ANSWER = [
  event({ tool_calls: [CALL] }),
  event({}, { finish_reason: 'tool_calls' }),
  'data: [DONE]\n\n',
].join('');
