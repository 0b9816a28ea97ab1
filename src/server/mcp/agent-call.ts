/**
 * A call of an agent as a tool: an execution of a thread, begun by one message, and read off the thread's log to its end.
 * G1. The execution has an id before anything is sent, so what becomes of this call is found by it, and by nothing that others do on the thread.
 *     Where the caller has given it, the same call again is the same execution, in the same thread.
 * G2. Where the log is read from is noted before the message is sent.
 * G3. Whoever goes away leaves the thread to its work; only a cancellation cancels, and this execution alone. Coming back with the thread's id finds it.
 * G4. A call never outlives a wait for a person: it ends and says who is waited for.
 */

import { createHash, randomUUID } from 'node:crypto';
import { storeOf } from '../../client/client-store.ts';
import { checkExecutionId } from '../../client/execution-claim.ts';
import { followPages } from '../../client/follow-events.ts';
import { isMade } from '../../client/make-thread.ts';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { Wait } from '../../store/port/wait.ts';
import { type Caller, requireReachable, standingContext } from '../api/caller.ts';
import { findChat } from '../api/chat/chat-say.ts';

export interface AgentCall {
  readonly agent: string;
  /** Absent: what the thread does is waited for. */
  readonly message?: string | undefined;
  /** Absent: a new one. */
  readonly threadId?: string | undefined;
  /** The caller's own; absent: a new one. */
  readonly executionId?: string | undefined;
}

export interface CallTerms {
  /** The caller wants it no more. */
  readonly canceled: AbortSignal;
  /** The response is to end; the work goes on. */
  readonly leaving: AbortSignal;
  /** Says what is going on. */
  readonly tell: (words: string) => void;
}

export type CallEnd = { readonly threadId: string; readonly executionId: string } & (
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'waits'; readonly waits: readonly Pick<Wait, 'id' | 'kind' | 'summary'>[] }
  | { readonly kind: 'working' }
);

type Place = Pick<CallEnd, 'threadId' | 'executionId'> & { readonly after: number };

/** Throws what the client throws: `ThreadNotFound`, `AgentNotFound`, … */
export async function callAgent(
  client: RuntimeClient,
  caller: Caller,
  call: AgentCall,
  terms: CallTerms,
): Promise<CallEnd> {
  const place = await begin(client, caller, call);
  const { threadId, executionId } = place;
  const ending = AbortSignal.any([terms.canceled, terms.leaving]);
  const end = await follow(client, place, ending, terms);
  if (end) return { ...end, threadId, executionId };
  if (!terms.canceled.aborted) return { kind: 'working', threadId, executionId };
  // G3: this execution alone.
  const request = {
    executionId,
    reason: 'canceled by the client',
    ...(caller.name !== null && { by: caller.name }),
  };
  await client.cancelExecution(threadId, request).catch(() => {});
  return { kind: 'failed', error: 'canceled', threadId, executionId };
}

/** Throws `ExecutionConflict` where the execution that is named was begun by another message. */
async function begin(client: RuntimeClient, caller: Caller, call: AgentCall): Promise<Place> {
  const { agent, message, executionId = `mcp-${randomUUID()}` } = call;
  const threadId = call.threadId ?? (await startFor(client, caller, call));
  const thread = await requireReachable(client, caller, threadId);
  if (thread.agent !== agent)
    throw new RuntimeError('ThreadNotFound', `There is no thread "${threadId}" of the agent "${agent}".`);
  if (message === undefined) {
    const { id, firstSeq } = await client.getExecution(threadId, call.executionId);
    return { threadId, executionId: id, after: (firstSeq ?? 1) - 1 };
  }
  // G1: one that was begun before.
  const known = call.executionId && (await storeOf(client).executions.get(threadId, executionId));
  await client.queueMessage(threadId, { content: message, executionId });
  // G2: as it was before.
  return { threadId, executionId, after: known ? (known.firstSeq ?? 1) - 1 : thread.lastSeq };
}

async function startFor(client: RuntimeClient, caller: Caller, call: AgentCall): Promise<string> {
  const { agent, message, executionId } = call;
  if (message === undefined) throw new RuntimeError('InvalidMessage', 'A call needs a message, or a thread.');
  checkExecutionId(executionId);
  // G1: in the same thread.
  const threadId = executionId === undefined ? newThreadId(agent) : threadOf(caller, agent, executionId);
  if (executionId !== undefined && (await findChat({ client }, caller, threadId))) return threadId;
  await client
    .startThread({
      agent,
      threadId,
      userId: caller.userId ?? undefined,
      context: standingContext(caller),
    })
    .catch((error) => {
      // The same call, twice at once.
      if (executionId === undefined || !isMade(error)) throw error;
    });
  return threadId;
}

function threadOf({ organizationId, userId }: Caller, agent: string, executionId: string): string {
  const whose = JSON.stringify([organizationId ?? null, userId, agent, executionId]);
  return deriveThreadId(agent, createHash('sha256').update(whose).digest('hex'));
}

type Ended =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'waits'; readonly waits: readonly Pick<Wait, 'id' | 'kind' | 'summary'>[] };

/** Undefined where it is left before its end. */
async function follow(
  client: RuntimeClient,
  { threadId, executionId, after }: Place,
  signal: AbortSignal,
  { tell }: CallTerms,
): Promise<Ended | undefined> {
  const store = storeOf(client);
  let isIn = false;
  let answer: string | undefined;
  for await (const page of followPages(store, threadId, { after, signal, marks: true })) {
    for (const event of page) {
      if (event.type === 'execution.started') isIn = event.data.executionId === executionId;
      if (event.type === 'thread.terminated') return { kind: 'failed', error: 'The thread was terminated.' };
      if (!isIn) continue;
      const words = wordsOf(event);
      if (words !== undefined) tell(words);
      if (event.type === 'message.created' && event.data.role === 'assistant' && !event.data.depth)
        answer = event.data.messageId;
      if (event.type !== 'execution.ended' || event.data.executionId !== executionId) continue;
      const { status, error, reason } = event.data;
      if (status === 'failed')
        return { kind: 'failed', error: error ? `${error.code}: ${error.message}` : reason };
      if (status === 'stopped') return { kind: 'failed', error: reason };
      const message = answer === undefined ? null : await store.messages.get(threadId, answer);
      return { kind: 'answered', text: message?.content ?? '' };
    }
    // G4: once the log has no more for now.
    const waits = page.length === 0 ? await blockingWaits(client, threadId) : [];
    if (waits.length > 0) return { kind: 'waits', waits };
  }
  return undefined;
}

async function blockingWaits(client: RuntimeClient, threadId: string) {
  const open = await client.listWaits({ threadId });
  return open.filter(({ blocks }) => blocks).map(({ id, kind, summary }) => ({ id, kind, summary }));
}

function wordsOf(event: ThreadEvent): string | undefined {
  switch (event.type) {
    case 'step.started':
      return 'thinking';
    case 'tool.started':
      return `running ${event.data.name}`;
    case 'subagent.created':
      return 'asking a subagent';
    default:
      return undefined;
  }
}
