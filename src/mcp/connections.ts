/**
 * The connections of this process.
 * C1. One belongs to one thread and one set of values: what a server remembers of a thread, it tells no other.
 * C2. One that is in use is nobody else's: who comes meanwhile gets another.
 * C3. It is kept for a while without a call, so that a thread's next one need not start a process; the oldest gives way where there are too many.
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

/** Oldest first. */
const idle = new Set<Idle>();

/** A server as one thread reaches it. */
export interface McpPlace {
  readonly threadId: string;
  /** With the values of the thread. */
  readonly reach: McpReach;
  readonly connectTimeoutMs: number;
}

/** Runs `use` on a connection of the thread's own. Rejects with an McpFailure where there is none. */
export async function withConnection<T>(
  { threadId, reach, connectTimeoutMs: timeoutMs }: McpPlace,
  signal: AbortSignal,
  use: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  // C1: the values are in it, so they are not kept as they are.
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

/** The protocol's library is loaded with the first: who uses no server does not pay for it. */
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

/** Ends all that nobody uses. */
export async function closeConnections(): Promise<void> {
  const kept = [...idle];
  for (const each of kept) drop(each);
  await Promise.all(kept.map(({ connection }) => connection.close()));
}
