/**
 * The pool of MCP connections of this process.
 * - A connection belongs to one thread and one set of values, so a server cannot leak data between threads.
 * - A connection in use is not shared: a concurrent call gets another.
 * - An idle connection is kept for a while, so that the thread's next call need not start a process. If there are too
 *   many, the oldest is closed.
 */
import { hash } from 'node:crypto';
import type { McpReach } from '../../core/author/mcp-server.ts';
import type { AskTerms, McpConnection } from './connection.ts';
import { MCP_LIMITS } from './limit.ts';

interface IdleConnection {
  readonly key: string;
  readonly connection: McpConnection;
  readonly timer: NodeJS.Timeout;
}

/** Connections that are not in use, oldest first. */
const idleConnections = new Set<IdleConnection>();

/** A server as one thread reaches it. */
export interface McpPlace {
  readonly threadId: string;
  /** Address or command of the server, with the thread's variables filled in. */
  readonly reach: McpReach;
  readonly connectTimeoutMs: number;
}

/** Runs `use` on a connection that belongs to the thread. Rejects with an McpFailure if none can be opened. */
export async function withConnection<T>(
  { threadId, reach, connectTimeoutMs: timeoutMs }: McpPlace,
  signal: AbortSignal,
  use: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  // The key is a hash, because the values may be secrets.
  const key = hash('sha256', JSON.stringify([threadId, reach]));
  const connection = takeIdle(key) ?? (await open(reach, { signal, timeoutMs }));
  try {
    return await use(connection);
  } finally {
    keepIdle(key, connection);
  }
}

/** Loads the protocol's library on first use: a process that uses no server never loads it. */
async function open(reach: McpReach, terms: AskTerms): Promise<McpConnection> {
  const { openConnection } = await import('./connection.ts');
  return openConnection(reach, terms);
}

function takeIdle(key: string): McpConnection | undefined {
  for (const each of idleConnections) {
    if (each.key !== key) continue;
    dropIdle(each);
    if (!each.connection.closed) return each.connection;
  }
  return undefined;
}

function keepIdle(key: string, connection: McpConnection): void {
  if (connection.closed) return;
  const entry: IdleConnection = {
    key,
    connection,
    timer: setTimeout(() => {
      dropIdle(entry);
      void connection.close();
    }, MCP_LIMITS.idleMs).unref(),
  };
  idleConnections.add(entry);
  const [oldest] = idleConnections;
  if (!oldest || idleConnections.size <= MCP_LIMITS.connections) return;
  dropIdle(oldest);
  void oldest.connection.close();
}

function dropIdle(entry: IdleConnection): void {
  clearTimeout(entry.timer);
  idleConnections.delete(entry);
}

/** Closes all connections that are not in use. */
export async function closeConnections(): Promise<void> {
  const kept = [...idleConnections];
  for (const each of kept) dropIdle(each);
  await Promise.all(kept.map(({ connection }) => connection.close()));
}
