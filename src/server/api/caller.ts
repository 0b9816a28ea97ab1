/**
 * The caller of a request, and its permissions. A caller without a user or an organisation may reach every thread; one
 * with a user reaches the threads of that user and their families, one with an organisation those of the organisation.
 * Every other thread is reported as not found.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import { MAX_TRACE_LINKS } from '../../core/governance/traceparent.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

/** `read`: all reads. `write`: changes of threads. `answer`: answers to waits. `admin`: everything. */
export const API_SCOPES = ['read', 'write', 'answer', 'admin'] as const;
export type ApiScope = (typeof API_SCOPES)[number];

export interface Caller {
  /** Recorded as `by` in what the caller does, such as answers. */
  readonly name: string | null;
  readonly scopes: readonly ApiScope[];
  /** The caller may reach only threads of this user and their families; null: threads of all users. */
  readonly userId: string | null;
  /** The caller may reach only threads of this organisation, and starts threads in it; null: any organisation. */
  readonly organizationId?: string | null;
  /** The span from which the request comes, as `traceparent`: what the caller begins is a part of it, or linked to it. */
  readonly trace?: { readonly traceparent?: string; readonly joins: boolean };
}

/** A caller that may do everything. */
export const OPERATOR: Caller = { name: null, scopes: ['admin'], userId: null };

/** Returns the run context for a thread that this caller starts: its organisation overrides the request's. */
export function callerContext(caller: Caller, context?: GivenContext): GivenContext | undefined {
  const { organizationId } = caller;
  const traced = tracedContext(caller, context);
  return organizationId == null ? traced : { ...traced, organizationId };
}

/** The context of a message of this caller. A span that the caller may not join becomes a link. */
function tracedContext({ trace }: Caller, context?: GivenContext): GivenContext | undefined {
  const traceparent = context?.traceparent ?? trace?.traceparent;
  if (traceparent === undefined) return context;
  if (trace?.joins) return { ...context, traceparent };
  const { traceparent: _, traceLinks = [], ...rest } = context ?? {};
  return { ...rest, traceLinks: [...traceLinks, traceparent].slice(0, MAX_TRACE_LINKS) };
}

/** A message of this caller, with its context. */
export function withTracedContext<Given extends { readonly context?: GivenContext | undefined }>(
  caller: Caller,
  message: Given,
): Given {
  const context = tracedContext(caller, message.context);
  return context === message.context ? message : { ...message, context };
}

/** True if the caller may reach only the threads of a user or of an organisation. */
export function isLimited({ userId, organizationId }: Caller): boolean {
  return userId !== null || organizationId != null;
}

/** Returns filters that limit a list to the threads that the caller may reach. */
export function ownThreadFilters({ userId, organizationId }: Caller) {
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

/** Throws `ThreadNotFound`, also for a thread of another caller, whose existence is not revealed. */
export async function requireReachable(
  client: RuntimeClient,
  caller: Caller,
  threadId: string,
): Promise<ThreadRecord> {
  const thread = await client.threads.findThread(threadId);
  const isOwn = caller.organizationId == null || thread.organizationId === caller.organizationId;
  if (isOwn && (caller.userId === null || (await ownerOf(client, thread)) === caller.userId)) return thread;
  throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}".`);
}

/** Returns the user of a thread's family: that of its root. */
async function ownerOf(client: RuntimeClient, { id, rootId, userId }: ThreadRecord): Promise<string | null> {
  return rootId === id ? userId : (await client.threads.findThread(rootId)).userId;
}
