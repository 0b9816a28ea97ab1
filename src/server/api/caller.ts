/**
 * Who asks, and what they may. A caller without a user or an organisation may reach every thread; one with a user reaches the threads of that user and
 * their families, one with an organisation those of the organisation, and every other thread is not found.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/port/thread-store.ts';

/** `read`: everything that can be read. `write`: what changes threads. `answer`: what is asked of people. `admin`: all of it. */
export const API_SCOPES = ['read', 'write', 'answer', 'admin'] as const;
export type ApiScope = (typeof API_SCOPES)[number];

export interface Caller {
  /** For what a caller has done: `by` of answers. */
  readonly name: string | null;
  readonly scopes: readonly ApiScope[];
  /** The `userId` of the threads that it may reach; null: of all. */
  readonly userId: string | null;
  /** Whose threads it may reach; null: anybody's. Those that it starts are of it. */
  readonly organizationId?: string | null;
}

/** Everything is allowed. */
export const OPERATOR: Caller = { name: null, scopes: ['admin'], userId: null };

/** What a thread begins with that this caller starts: its organisation counts, whatever the request says. */
export function standingContext<Context extends object>(
  { organizationId }: Caller,
  context?: Context,
): Context | { readonly organizationId: string } | undefined {
  return organizationId == null ? context : { ...context, organizationId };
}

/** Which threads a list has. */
export function ownThreads({ userId, organizationId }: Caller) {
  return {
    ...(userId === null ? {} : { userId }),
    ...(organizationId == null ? {} : { organizationId }),
  };
}

/** Throws `Forbidden`. */
export function requireScope({ scopes }: Caller, scope: ApiScope): void {
  if (scopes.includes(scope) || scopes.includes('admin')) return;
  throw new RuntimeError(
    'Forbidden',
    `The token lacks the scope "${scope}": it has ${scopes.join(', ') || 'none'}.`,
  );
}

/** Throws `ThreadNotFound`, also for a thread of somebody else: that it is there is not told. */
export async function requireReachable(
  client: RuntimeClient,
  caller: Caller,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await client.getThread(threadId);
  const isOwn = caller.organizationId == null || thread.organizationId === caller.organizationId;
  if (isOwn && (caller.userId === null || (await ownerOf(client, thread)) === caller.userId)) return thread;
  throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}".`);
}

/** A family is its root's user's. */
async function ownerOf(client: RuntimeClient, { id, rootId, userId }: ThreadRecord): Promise<string | null> {
  return rootId === id ? userId : (await client.getThread(rootId)).userId;
}
