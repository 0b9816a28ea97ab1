/** WebSockets beside the HTTP API: from Node's upgrade to the API's stream, with `ws`. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Api } from '../../server/api/create-api.ts';
import type { StreamSocket } from '../../server/standard/standard-socket.ts';

/** Milliseconds between pings; a peer that has not answered by the next one is cut off. */
const PING_MS = 30_000;
/** Most bytes of a client's message: clients send `ping`, and nothing longer. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Milliseconds until a socket that was asked to close is cut off. */
const CLOSE_MS = 1000;

/** Returns a function that cuts off sockets that do not close by themselves. */
export function serveSockets(server: Server, api: Api): () => void {
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
