/** Serves the HTTP API on a socket of this machine. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createAdaptorServer } from '@hono/node-server';
import { type WebSocket, WebSocketServer } from 'ws';
import { readConfiguration } from '../../configuration.ts';
import type { Api } from '../../server/api/create-api.ts';
import type { StreamSocket } from '../../server/standard/standard-socket.ts';
import { listenAt } from './listen-address.ts';

export interface ServedApi {
  /** `http://host:port`. */
  readonly url: string;
  /** Accepts no new requests, ends streams, and waits for open requests. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host: string;
  /** Port to listen on; 0 for any free one. */
  readonly port: number;
  /** Milliseconds for which a connection without a request stays open; unless given, as configured. */
  readonly keepAliveMs?: number;
}

const SERVED = { what: 'the API', setting: '--host or --port' };

/** Throws `InvalidConfiguration` if the address cannot be listened on. */
export async function serveApi(
  api: Api,
  { host, port, keepAliveMs = readConfiguration().apiKeepAliveMs }: ServeOptions,
): Promise<ServedApi> {
  // HTTP/1.1, unless another server is asked for.
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => api.fetch(request, { peer: incoming.socket?.remoteAddress }),
    overrideGlobalObjects: false,
  }) as Server;
  Object.assign(server, timeoutsFor(keepAliveMs));
  const closeIdle = trackConnections(server);
  const cutOff = serveSockets(server, api);
  const { port: taken } = await listenAt(server, { host, port }, SERVED);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        api.close();
        cutOff();
        closeIdle();
      }),
  };
}

/**
 * The connections of an HTTP server.
 * - A connection without a request stays open longer than proxies keep theirs, usually a minute: a proxy must never
 *   send a request on a connection that this server is about to close.
 * - A server that closes waits for open requests only: it cuts off connections that have none.
 */

/** Node's own limit for the headers of a request. It also limits a connection that has not sent a request yet. */
const HEADERS_MS = 60_000;
/** How much longer that limit is than the one between requests. */
const MARGIN_MS = 5000;

export function timeoutsFor(keepAliveMs: number): Pick<Server, 'keepAliveTimeout' | 'headersTimeout'> {
  return {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: Math.max(keepAliveMs, HEADERS_MS) + MARGIN_MS,
  };
}

/** Returns a function that cuts off connections without a request, and each other one after its answer. */
function trackConnections(server: Server): () => void {
  /** Answers that are under way, by connection. */
  const open = new Map<Socket, Set<ServerResponse>>();
  let closing = false;
  server.on('connection', (socket: Socket) => {
    open.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
  });
  // WebSockets end by themselves.
  server.on('upgrade', ({ socket }) => open.delete(socket));
  server.prependListener('request', ({ socket }, response) => {
    const answers = open.get(socket);
    answers?.add(response);
    response.shouldKeepAlive &&= !closing;
    response.once('close', () => {
      answers?.delete(response);
      if (closing && answers?.size === 0) socket.destroySoon();
    });
  });
  return () => {
    closing = true;
    for (const [socket, answers] of open) {
      if (answers.size === 0) socket.destroy();
      for (const response of answers) response.shouldKeepAlive = false;
    }
  };
}

/** WebSockets beside the HTTP API: from Node's upgrade to the API's stream, with `ws`. */

/** Milliseconds between pings; a peer that has not answered by the next one is cut off. */
const PING_MS = 30_000;
/** Most bytes of a client's message: clients send `ping`, and nothing longer. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Milliseconds until a socket that was asked to close is cut off. */
const CLOSE_MS = 1000;

/** Returns a function that cuts off sockets that do not close by themselves. */
function serveSockets(server: Server, api: Api): () => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  server.on('upgrade', (incoming, raw, head) => {
    raw.on('error', () => raw.destroy());
    void upgrade(incoming, raw, head);
  });
  async function upgrade(incoming: IncomingMessage, raw: Duplex, head: Buffer): Promise<void> {
    const request = toRequest(incoming);
    const accepted = request ? await api.connect(request) : new Response(null, { status: 400 });
    if ('open' in accepted)
      sockets.handleUpgrade(incoming, raw, head, (ws) => void accepted.open(toSocket(ws)));
    else await sendRefusal(raw, accepted);
  }
  return () => {
    const timer = setTimeout(() => {
      for (const ws of sockets.clients) ws.terminate();
    }, CLOSE_MS);
    timer.unref();
  };
}

/** Returns null if no Request can be made of it. */
function toRequest({ method = 'GET', url = '/', headers }: IncomingMessage): Request | null {
  try {
    const given = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    );
    return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), { method, headers: given });
  } catch {
    return null;
  }
}

async function sendRefusal(raw: Duplex, response: Response): Promise<void> {
  const body = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const head = [`HTTP/1.1 ${response.status} Refused`, ...headers, length, 'connection: close'];
  raw.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toSocket(ws: WebSocket): StreamSocket {
  const closed = new AbortController();
  let left: Promise<void> = Promise.resolve();
  let alive = true;
  const pulse = setInterval(() => {
    if (!alive) return ws.terminate();
    alive = false;
    ws.ping();
  }, PING_MS);
  pulse.unref();
  ws.on('pong', () => {
    alive = true;
  });
  // Any error closes the socket.
  ws.on('error', () => ws.terminate());
  ws.on('close', () => {
    clearInterval(pulse);
    closed.abort();
  });
  return {
    closed: closed.signal,
    send(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      left = promise;
      ws.send(text, () => resolve());
    },
    drained: () => left,
    onText(listener) {
      ws.on('message', (data, isBinary) => {
        if (!isBinary) listener(String(data));
      });
    },
    close: (code, reason) => ws.close(code, reason),
  };
}
