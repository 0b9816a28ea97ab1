/**
 * A real HTTP server that stands in for a provider: for each model id it misbehaves as configured, and otherwise
 * answers correctly. It counts its open sockets and the bytes that it has sent; correct answers close their sockets.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface RudeExchange {
  readonly streamed: boolean;
  /** Number of the request to this model, from 1. */
  readonly request: number;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /**
   * Writes parts, each once the previous one is written; stops when the client disconnects. `pauseMs` delays each part.
   */
  send(parts: Iterable<string | Uint8Array>, pauseMs?: number): Promise<void>;
  /** Sends the headers, by default those of an event stream. */
  head(headers?: Readonly<Record<string, string>>, status?: number): void;
  /** Sends a correct answer, streamed if the request asks for it. */
  answer(): void;
}

export type Rudeness = (exchange: RudeExchange) => unknown;

/** The fields of a request that tests read. */
export interface RudeRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly {
    readonly role: string;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string }[];
  }[];
}

export interface RudeProvider {
  /** Base URL; ends with `/v1`. */
  readonly url: string;
  readonly openSockets: number;
  /** Requests in the order of their arrival. */
  readonly requests: readonly RudeRequest[];
  /** Bytes written to sockets for this model. */
  sent(model: string): number;
  /** Makes all answers correct from now on. */
  behave(): void;
  close(): Promise<void>;
}

const FINISH = { index: 0, delta: {}, finish_reason: 'stop' };

/** Formats one event of a streamed chat completion. */
export function event(delta: object, rest: object = {}): string {
  return `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })}\n\n`;
}

export const DONE = `data: ${JSON.stringify({ id: 'r', choices: [FINISH] })}\n\ndata: [DONE]\n\n`;

const PROPER = 'Here I am.';

export async function serveRudeProvider(rudeness: Readonly<Record<string, Rudeness>>): Promise<RudeProvider> {
  const sockets = new Set<Socket>();
  const requests: RudeRequest[] = [];
  const sent = new Map<string, number>();
  let behaves = false;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as RudeRequest;
    requests.push(body);
    const { model } = body;
    const count = (bytes: number) => sent.set(model, (sent.get(model) ?? 0) + bytes);
    const number = requests.filter((each) => each.model === model).length;
    const exchange = exchangeOf(body, number, response, count);
    const rude = behaves ? undefined : rudeness[model];
    await (rude ? rude(exchange) : exchange.answer());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get openSockets() {
      return sockets.size;
    },
    sent: (model) => sent.get(model) ?? 0,
    behave() {
      behaves = true;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function exchangeOf(
  { stream: streamed = false }: RudeRequest,
  request: number,
  response: ServerResponse,
  count: (bytes: number) => void,
): RudeExchange {
  const socket = response.socket as Socket;
  const head: RudeExchange['head'] = (headers = { 'content-type': 'text/event-stream' }, status = 200) => {
    response.writeHead(status, { connection: 'close', ...headers });
    response.flushHeaders();
  };
  return {
    ...{ streamed, request, response, socket, head },
    async send(parts, pauseMs) {
      const gone = once(response, 'close');
      for (const part of parts) {
        if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        if (socket.destroyed) return;
        count(part.length);
        if (!response.write(part)) await Promise.race([once(response, 'drain'), gone]);
      }
    },
    answer() {
      if (streamed) {
        head();
        response.end(`${event({ content: PROPER })}${DONE}`);
      } else {
        head({ 'content-type': 'application/json' });
        const message = { role: 'assistant', content: PROPER };
        response.end(JSON.stringify({ id: 'r', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      }
    },
  };
}

async function textOf(request: AsyncIterable<unknown>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
