/**
 * Results that an OpenAI client returns for calls of its own tools.
 * L1. A call id that is sent to a client contains its thread's id. So a client that names no thread finds it again.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import type { ThreadRecord } from '../../../store/port/thread-store.ts';
import { requireThreadOf } from '../agent-thread.ts';
import type { Caller } from '../caller.ts';
import { type ChatBegin, findAnswerBegin } from '../chat/chat-begin.ts';
import { type ClientResults, type GiveResult, giveResults } from '../conversation/client-results.ts';
import { refuseRequest } from '../problem.ts';

/** L1: appends the thread's id. */
export function toClientCallId(callId: string, threadId: string): string {
  return `${callId}@${threadId}`;
}

/** Null for the id of a call that another server has made. */
function parseClientCallId(clientId: string): { readonly callId: string; readonly threadId: string } | null {
  const at = clientId.lastIndexOf('@');
  return at < 1 ? null : { callId: clientId.slice(0, at), threadId: clientId.slice(at + 1) };
}

export function withClientCallIds(
  outs: readonly CompletionOutput[],
  threadId: string,
): readonly CompletionOutput[] {
  return outs.map((out) => {
    if ('failed' in out) return out;
    const choices = out.choices.map(({ delta, ...choice }) => {
      const calls = delta.tool_calls?.map((call) => ({ ...call, id: toClientCallId(call.id, threadId) }));
      return { ...choice, delta: calls ? { ...delta, tool_calls: calls } : delta };
    });
    return { ...out, choices };
  });
}

export interface TakenResults {
  readonly threadId: string;
  readonly found: ThreadRecord;
  /** Null if the thread is not waiting for any of them. */
  readonly begin: ChatBegin | null;
  readonly give: GiveResult;
}

interface TakeInput {
  readonly agent: string;
  readonly results: ClientResults;
  /** Absent: the thread whose calls they answer. */
  readonly threadId: string | undefined;
}

/** Null if no result is for a call of a thread, or of the given one. Throws `ThreadNotFound`, `InvalidRequest`. */
export async function takeResults(
  client: RuntimeClient,
  caller: Caller,
  { agent, results: given, threadId: named }: TakeInput,
): Promise<TakenResults | null> {
  const own = [...given].flatMap(([clientId, result]) => {
    const place = parseClientCallId(clientId);
    return place && (named === undefined || place.threadId === named) ? [{ ...place, result }] : [];
  });
  const threadId = own[0]?.threadId;
  if (threadId === undefined) return null;
  if (own.some((each) => each.threadId !== threadId))
    return refuseRequest('tool_call_id: the last messages have results for two threads.');
  const thread = await requireThreadOf(client, caller, { agent, threadId });
  const results = new Map(own.map(({ callId, result }) => [callId, result]));
  const { waits, give } = await giveResults(client, caller, thread, results);
  const taken = { threadId, found: thread, give };
  if (waits.length === 0) return { ...taken, begin: null };
  const ids = waits.map(({ waitId }) => waitId);
  return { ...taken, begin: { ...(await findAnswerBegin(client, thread, ids)), joins: true } };
}

/** The error for results that no thread is waiting for. */
export function unwantedResults(taken: TakenResults | null): RuntimeError {
  const of = taken ? `Thread "${taken.threadId}" is not waiting for` : 'No thread has asked for';
  return new RuntimeError('WaitNotFound', `${of} a result of these calls: send a message of the user.`);
}
