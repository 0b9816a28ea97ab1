/** A provider's server that refuses what the provider refuses: the base of those in this folder. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StrictServer<Body> {
  readonly url: string;
  /** Bodies of all requests, refused ones too. */
  readonly requests: Body[];
  /** What was refused, in the provider's words. */
  readonly refusals: string[];
  close(): Promise<void>;
}

/** Events of an answer's stream; if it hangs, the stream stays open behind them. */
export interface Judged {
  readonly events: readonly object[];
  readonly hangs?: boolean;
}

/** Returns the answer, or why the request is refused with the status 400. */
export type Judge<Body> = (body: Body, path: string) => Judged | string;

export async function serveStrictly<Body>(
  judge: Judge<Body>,
  toError: (message: string) => object,
): Promise<StrictServer<Body>> {
  const requests: Body[] = [];
  const refusals: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
    requests.push(body);
    const judged = judge(body, request.url ?? '');
    if (typeof judged === 'string') {
      refusals.push(judged);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(toError(judged)));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of judged.events) {
      const { type } = event as { type?: string };
      response.write(`${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
    }
    if (!judged.hangs) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    refusals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
