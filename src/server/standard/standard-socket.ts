/**
 * The stream of a thread over a WebSocket: its access and its frames. It uses no library of sockets: the host supplies
 * the socket.
 * - A ticket in the URL decides access; without one, the request's own credentials do, as for any request.
 * - A page of frames is sent only once the page before it has left. So nothing piles up for a slow reader.
 * - A message in line, which is sent without waiting for the log, is never sent after the log's row of it.
 * - The stream stays open after the thread's end, and closes after a while like every stream. Its client reconnects
 *   by itself.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import {
  isAskedFor,
  rowFrame,
  type StandardFilter,
  type StandardFrame,
  toStandardRow,
} from '../../projections/standard/standard-frame.ts';
import { type Caller, requireReachable, requireScope } from '../api/caller.ts';
import type { StreamPlace } from '../api/host.ts';
import { openStream } from '../api/stream.ts';
import type { LiveStreams } from './live-streams.ts';
import { streamThread } from './routes/streams.ts';
import { countOf } from './standard-route.ts';
import { standardPages } from './stream-reading.ts';
import type { Tickets } from './tickets.ts';

/** An open WebSocket, supplied by the host. */
export interface StreamSocket {
  send(text: string): void;
  /** Resolves once all that was sent has left, or the socket has closed. */
  drained(): Promise<void>;
  /** Registers a listener for incoming texts. */
  onText(listener: (text: string) => void): void;
  close(code: number, reason: string): void;
  /** Fires when the socket has closed, by either side. */
  readonly closed: AbortSignal;
}

/** An accepted upgrade. */
export interface SocketStream {
  /** Runs the stream until the socket closes, and then frees its place. Never rejects. */
  open(socket: StreamSocket): Promise<void>;
}

export interface SocketHost {
  readonly client: RuntimeClient;
  readonly streams: StreamPlace;
  readonly live: LiveStreams;
  readonly tickets: Tickets;
  readonly requireCaller: (request: Request) => Promise<Caller>;
  readonly onError: (error: unknown) => void;
}

/** Number of message ids that are remembered as sent; the oldest are forgotten. */
const MAX_REMEMBERED_IDS = 1000;
const PONGS: Readonly<Record<string, string>> = { ping: 'pong', stream_ping: 'stream_pong' };

/** Throws the error with which the request is refused. */
export async function acceptStream(host: SocketHost, request: Request): Promise<SocketStream> {
  const { pathname, searchParams } = new URL(request.url);
  const threadId = streamThread(pathname);
  if (threadId === null) throw new RuntimeError('RouteNotFound', `There is no WebSocket at ${pathname}.`);
  const caller = await callerOf(host, request, { pathname, ticket: searchParams.get('ticket') });
  requireScope(caller, 'read');
  await requireReachable(host.client, caller, threadId);
  const filter = {
    includeSilent: searchParams.get('includeSilent') === 'true',
    depth: countOf(searchParams, 'depth', { usual: 0, least: 0 }),
  };
  return { open: (socket) => streamToSocket(host, { threadId, filter, socket }) };
}

/** A ticket, else the request's own credentials. */
async function callerOf(
  { tickets, requireCaller }: SocketHost,
  request: Request,
  { pathname, ticket }: { readonly pathname: string; readonly ticket: string | null },
): Promise<Caller> {
  if (ticket === null) return requireCaller(request);
  const caller = tickets.take(ticket, pathname);
  if (caller) return caller;
  throw new RuntimeError(
    'Unauthorized',
    'The ticket is invalid or has expired: request another one at /api/auth/websocket-ticket.',
  );
}

interface OpenStream {
  readonly threadId: string;
  readonly filter: StandardFilter;
  readonly socket: StreamSocket;
}

async function streamToSocket(host: SocketHost, { threadId, filter, socket }: OpenStream): Promise<void> {
  const { client, live, onError } = host;
  const sentIds = new Set<string>();
  const send = (frame: StandardFrame) => {
    if (frame.type === 'message_data') remember(sentIds, frame.message_id);
    if (isAskedFor(frame, filter)) socket.send(JSON.stringify(frame));
  };
  let leave = () => {};
  try {
    const place = openStream(host, threadId);
    const forget = live.join(threadId, (message) => {
      if (!sentIds.has(message.id)) send(rowFrame(toStandardRow(message)));
    });
    leave = () => {
      forget();
      place.leave();
    };
    socket.onText((text) => {
      const pong = PONGS[text];
      if (pong !== undefined) socket.send(pong);
    });
    const signal = AbortSignal.any([place.signal, socket.closed]);
    for await (const frames of standardPages(client, { threadId, depth: filter.depth, signal })) {
      for (const frame of frames) send(frame);
      // The next page only once this one has left.
      await socket.drained();
    }
    // Open until the stream is too old, or the client has left.
    await whenAborted(signal);
    socket.close(1001, 'Reconnect.');
  } catch (error) {
    onError(error);
    // 1013: try again later.
    socket.close(1013, 'The stream was cut off: reconnect.');
  } finally {
    leave();
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_REMEMBERED_IDS && oldest !== undefined) ids.delete(oldest);
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
