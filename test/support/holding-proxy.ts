/** In front of a server of MCP over HTTP: counts the calls of tools, and holds them until it lets go. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

export interface HoldingProxy {
  readonly url: string;
  /** Calls of tools that have come. */
  readonly calls: number;
  /** From now on they are passed on; those that are held stay so. */
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
