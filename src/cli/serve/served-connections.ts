/**
 * The connections of an HTTP server.
 * K1. A connection without a request stays open longer than proxies keep theirs, usually a minute: a proxy must never
 *     send a request on a connection that this server is about to close.
 * K2. A server that closes waits for open requests only: it cuts off connections that have none.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Node's own limit for the headers of a request. It also limits a connection that has not sent a request yet. */
const HEADERS_MS = 60_000;
/** K1: how much longer that limit is than the one between requests. */
const MARGIN_MS = 5000;

export function timeoutsFor(keepAliveMs: number): Pick<Server, 'keepAliveTimeout' | 'headersTimeout'> {
  return {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: Math.max(keepAliveMs, HEADERS_MS) + MARGIN_MS,
  };
}

/** Returns a function that cuts off connections without a request, and each other one after its answer. */
export function trackConnections(server: Server): () => void {
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
