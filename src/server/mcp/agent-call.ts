/**
 * A call of an agent as a tool: an execution of a thread, begun by one message, and read off the thread's log to its end.
 * G1. The execution has an id before anything is sent, so what becomes of this call is found by it, and by nothing that others do on the thread.
 *     Where the caller has given it, the same call again is the same execution, in the same thread.
 * G2. Where the log is read from is noted before the message is sent.
 * G3. Whoever goes away leaves the thread to its work; only a cancellation cancels, and this execution alone. Coming back with the thread's id finds it.
 * G4. A call never outlives a wait for a person, unless its caller asks them meanwhile: it ends and says who is waited for.
 * G5. Answers that come with a call are kept before the log is read. Whoever gives them may answer what is asked in this thread, and nothing else.
 */

import { createHash, randomUUID } from 'node:crypto';
import { storeOf } from '../../client/client-store.ts';
import { checkExecutionId } from '../../client/execution-claim.ts';
import { isMade } from '../../client/make-thread.ts';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { Wait } from '../../store/port/wait.ts';
import { type Caller, requireReachable, requireScope, standingContext } from '../api/caller.ts';
import { findChat } from '../api/chat/chat-say.ts';
import { type FilledForm, toAnswer } from './client-form.ts';
import { blockingWaits, type Ended, followCall } from './follow-call.ts';

export interface AgentCall {
  readonly agent: string;
  /** Absent: what the thread does is waited for. */
  readonly message?: string | undefined;
  /** Absent: a new one. */
  readonly threadId?: string | undefined;
  /** The caller's own; absent: a new one. */
  readonly executionId?: string | undefined;
  /** Of a thread that this begins. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** What was asked by an earlier call, by the ids of the waits. */
  readonly filled?: Readonly<Record<string, FilledForm>> | undefined;
  /** As far as an earlier call has told what goes on. */
  readonly heard?: number | undefined;
}

export interface CallTerms {
  /** The caller wants it no more. */
  readonly canceled: AbortSignal;
  /** The response is to end; the work goes on. */
  readonly leaving: AbortSignal;
  /** The caller's person has put away what was shown. */
  readonly dismissed?: AbortSignal | undefined;
  /** Says what is going on. */
  readonly tell: (words: string) => void;
  /** Shows the caller's person what is waited for now, while the call stays. False: the call ends, and says it. */
  readonly show?: ((waits: readonly Wait[]) => boolean) | undefined;
}

export type CallEnd = { readonly threadId: string; readonly executionId: string } & (
  | Ended
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
  await answerFilled(client, caller, place, call.filled);
  const { canceled, leaving, dismissed } = terms;
  const ending = AbortSignal.any([canceled, leaving, ...(dismissed ? [dismissed] : [])]);
  const end = await followCall(client, { ...place, heard: call.heard ?? 0 }, ending, terms);
  if (end) return { ...end, threadId, executionId };
  if (!canceled.aborted) {
    // G4: what was put away is told.
    const waits = dismissed?.aborted ? await blockingWaits(client, threadId) : [];
    if (waits.length > 0) return { kind: 'waits', waits, heard: place.after, threadId, executionId };
    return { kind: 'working', threadId, executionId };
  }
  // G3: this execution alone.
  const request = {
    executionId,
    reason: 'canceled by the client',
    ...(caller.name !== null && { by: caller.name }),
  };
  await client.cancelExecution(threadId, request).catch(() => {});
  return { kind: 'failed', error: 'canceled', threadId, executionId };
}

/** G5. What is over by now, and what was put away, is left as it is. Throws `Forbidden`, `InvalidValue`. */
async function answerFilled(
  client: RuntimeClient,
  caller: Caller,
  { threadId }: Place,
  filled: Readonly<Record<string, FilledForm>> = {},
): Promise<void> {
  if (Object.keys(filled).length === 0) return;
  requireScope(caller, 'answer');
  for (const wait of await client.listWaits({ threadId })) {
    const form = filled[wait.id];
    const answer = form && toAnswer(wait, form);
    if (answer) await client.answerWait(wait.id, { ...answer, by: caller.name ?? 'mcp' });
  }
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
      arguments: call.arguments,
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
