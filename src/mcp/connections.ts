/**
 * The pool of MCP connections of this process.
 * C1. A connection belongs to one thread and one set of values, so a server cannot leak data between threads.
 * C2. A connection in use is not shared: a concurrent call gets another.
 * C3. An idle connection is kept for a while, so that the thread's next call need not start a process. If there are too
 *     many, the oldest is closed.
 */
import { createHash } from 'node:crypto';
import type { McpReach } from '../core/author/mcp-server.ts';
import type { AskTerms, McpConnection } from './connection.ts';
import { MCP_LIMITS } from './limit.ts';

interface Idle {
  readonly key: string;
  readonly connection: McpConnection;
  readonly timer: NodeJS.Timeout;
}

/** Connections that are not in use, oldest first. */
const idle = new Set<Idle>();

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
  // C1: the key is a hash, because the values may be secrets.
  const key = createHash('sha256')
    .update(JSON.stringify([threadId, reach]))
    .digest('hex');
  const connection = take(key) ?? (await open(reach, { signal, timeoutMs }));
  try {
    return await use(connection);
  } finally {
    keep(key, connection);
  }
}

/** Loads the protocol's library on first use: a process that uses no server never loads it. */
async function open(reach: McpReach, terms: AskTerms): Promise<McpConnection> {
  const { openConnection } = await import('./connection.ts');
  return openConnection(reach, terms);
}

function take(key: string): McpConnection | undefined {
  for (const each of idle) {
    if (each.key !== key) continue;
    drop(each);
    if (!each.connection.closed) return each.connection;
  }
  return undefined;
}

function keep(key: string, connection: McpConnection): void {
  if (connection.closed) return;
  const entry: Idle = {
    key,
    connection,
    timer: setTimeout(() => {
      drop(entry);
      void connection.close();
    }, MCP_LIMITS.idleMs).unref(),
  };
  idle.add(entry);
  const [oldest] = idle;
  if (!oldest || idle.size <= MCP_LIMITS.connections) return;
  drop(oldest);
  void oldest.connection.close();
}

function drop(entry: Idle): void {
  clearTimeout(entry.timer);
  idle.delete(entry);
}

/** Closes all connections that are not in use. */
export async function closeConnections(): Promise<void> {
  const kept = [...idle];
  for (const each of kept) drop(each);
  await Promise.all(kept.map(({ connection }) => connection.close()));
}
