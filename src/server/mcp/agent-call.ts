/**
 * A call of an agent as a tool: one message begins an execution of a thread, and the thread's log is read until that
 * execution ends.
 * - The execution's id is fixed before anything is sent. So the outcome of this call is found by the id, whatever
 *   others do on the thread. If the caller gave the id, a repeated call is the same execution, in the same thread.
 * - The position from which the log is read is noted before the message is sent.
 * - A client that disconnects stops nothing; only a cancellation cancels, and only this execution. A later call with
 *   the thread's id finds it.
 * - A call does not stay open while a person is waited for, unless its client can ask that person. It ends, and
 *   reports the open waits.
 * - Answers that come with a call are stored before the log is read. They can answer waits of this thread only.
 */

import { hash, randomUUID } from 'node:crypto';
import { checkExecutionId } from '../../client/execution-claim.ts';
import { isAlreadyCreated } from '../../client/make-thread.ts';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { OutgoingMessage } from '../../client/outgoing.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { deriveThreadId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { requireThreadOf } from '../api/agent-thread.ts';
import { type Caller, callerContext, requireScope, withTracedContext } from '../api/caller.ts';
import { findOwnThread } from '../api/turn/turn.ts';
import { type FilledForm, toAnswer } from './client-form.ts';
import { blockingWaits, type Ended, followCall } from './follow-call.ts';

export interface AgentCall {
  readonly agent: string;
  /** Absent: the call only waits for what the thread is doing. */
  readonly message?: string | undefined;
  /** Absent: a new thread is started. */
  readonly threadId?: string | undefined;
  /** The id that the caller chose; absent: a new one. */
  readonly executionId?: string | undefined;
  /** Arguments of the thread, if this call starts it. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Filled forms for the waits that an earlier call reported, by wait id. */
  readonly filled?: Readonly<Record<string, FilledForm>> | undefined;
  /** Log row up to which an earlier call has reported progress. */
  readonly reportedSeq?: number | undefined;
}

export interface CallTerms {
  /** Fires when the caller cancels the call. */
  readonly canceled: AbortSignal;
  /** Fires when the response must end; the work continues. */
  readonly leaving: AbortSignal;
  /** Fires when the client's user has dismissed a form. */
  readonly dismissed?: AbortSignal | undefined;
  /** Reports progress to the client. */
  readonly tell: (words: string) => void;
  /** Shows the open waits to the client's user while the call stays open. False: the call ends, and reports them. */
  readonly show?: ((waits: readonly Wait[]) => boolean) | undefined;
}

export type CallEnd = { readonly threadId: string; readonly executionId: string } & (
  | Ended
  | { readonly kind: 'working' }
);

type Place = Pick<CallEnd, 'threadId' | 'executionId'> & { readonly after: number };

/** Throws the errors of the RuntimeClient: `ThreadNotFound`, `AgentNotFound`, … */
export async function callAgent(
  client: RuntimeClient,
  caller: Caller,
  call: AgentCall,
  terms: CallTerms,
): Promise<CallEnd> {
  const place = await beginCall(client, caller, call);
  const { threadId, executionId } = place;
  await answerFilledForms(client, caller, place, call.filled);
  const { canceled, leaving, dismissed } = terms;
  const ending = AbortSignal.any([canceled, leaving, ...(dismissed ? [dismissed] : [])]);
  const end = await followCall(client, { ...place, reportedSeq: call.reportedSeq ?? 0 }, ending, terms);
  if (end) return { ...end, threadId, executionId };
  if (!canceled.aborted) {
    // After a dismissal the open waits are reported.
    const waits = dismissed?.aborted ? await blockingWaits(client, threadId) : [];
    if (waits.length > 0) return { kind: 'waits', waits, reportedSeq: place.after, threadId, executionId };
    return { kind: 'working', threadId, executionId };
  }
  const request = {
    executionId,
    reason: 'canceled by the client',
    ...(caller.name !== null && { by: caller.name }),
  };
  await client.cancelExecution(threadId, request).catch(() => {});
  return { kind: 'failed', error: 'canceled', threadId, executionId };
}

/** Skips waits that are no longer open, and forms that were dismissed. Throws `Forbidden`, `InvalidValue`. */
async function answerFilledForms(
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

/** Throws `ExecutionConflict` if the named execution was begun by another message. */
async function beginCall(client: RuntimeClient, caller: Caller, call: AgentCall): Promise<Place> {
  const { agent, message, executionId = `mcp-${randomUUID()}` } = call;
  const threadId = call.threadId ?? (await startFor(client, caller, call));
  const thread = await requireThreadOf(client, caller, { agent, threadId });
  if (message === undefined) {
    const { id, firstSeq } = await client.getExecution(threadId, call.executionId);
    return { threadId, executionId: id, after: (firstSeq ?? 1) - 1 };
  }
  // Known if this call is a repeated one.
  const known = call.executionId && (await client.store.executions.get(threadId, executionId));
  const said: OutgoingMessage = { content: message, executionId };
  await client.queueMessage(threadId, withTracedContext(caller, said));
  // The end of the log before the message was sent.
  return { threadId, executionId, after: known ? (known.firstSeq ?? 1) - 1 : thread.lastSeq };
}

async function startFor(client: RuntimeClient, caller: Caller, call: AgentCall): Promise<string> {
  const { agent, message, executionId } = call;
  if (message === undefined) throw new RuntimeError('InvalidMessage', 'A call needs a message or a thread.');
  checkExecutionId(executionId);
  // A repeated call gets the same thread.
  const threadId = executionId === undefined ? newThreadId(agent) : threadOf(caller, agent, executionId);
  if (executionId !== undefined && (await findOwnThread({ client }, caller, { agent, threadId })))
    return threadId;
  await client
    .startThread({
      agent,
      threadId,
      userId: caller.userId ?? undefined,
      arguments: call.arguments,
      context: callerContext(caller),
    })
    .catch((error) => {
      // A concurrent repeat of this call has started the thread.
      if (executionId === undefined || !isAlreadyCreated(error)) throw error;
    });
  return threadId;
}

function threadOf({ organizationId, userId }: Caller, agent: string, executionId: string): string {
  const whose = JSON.stringify([organizationId ?? null, userId, agent, executionId]);
  return deriveThreadId(agent, hash('sha256', whose));
}
