/** A proxy for an MCP server over HTTP that counts tool calls, and holds them until `release`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

export interface HoldingProxy {
  readonly url: string;
  /** Number of tool calls received. */
  readonly calls: number;
  /** Forwards tool calls from now on; those already held are never answered. */
  release(): void;
  close(): void;
}

export async function holdingProxy(target: string): Promise<HoldingProxy> {
  let calls = 0;
  let released = false;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    if (body.includes('"tools/call"')) {
      calls += 1;
      if (!released) return;
    }
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    );
    const sent = body.length > 0 ? { body } : {};
    const { method = 'GET' } = request;
    const answer = await fetch(target, { method, headers: headers as [string, string][], ...sent }).catch(
      () => null,
    );
    if (!answer) return void response.destroy();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (!answer.body) return void response.end();
    Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0])
      .on('error', () => response.destroy())
      .pipe(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    get calls() {
      return calls;
    },
    release() {
      released = true;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
