/**
 * Results that an OpenAI client returns for calls of its own tools.
 * L1. A call id that is sent to a client contains its thread's id. So a client that names no thread finds it again.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import { type Caller, requireReachable } from '../caller.ts';
import { type ChatBegin, findAnswerBegin } from '../chat/chat-begin.ts';
import { type GiveResult, giveResults } from '../chat/client-results.ts';
import { refuseRequest } from '../problem.ts';

/** L1: appends the thread's id. */
export function toClientCallId(callId: string, threadId: string): string {
  return `${callId}@${threadId}`;
}

function parseClientCallId(clientId: string): { readonly callId: string; readonly threadId: string } {
  const at = clientId.lastIndexOf('@');
  if (at < 1)
    return refuseRequest(
      `tool_call_id: ${JSON.stringify(clientId.slice(0, 80))} is not the id of a call that an agent has made.`,
    );
  return { callId: clientId.slice(0, at), threadId: clientId.slice(at + 1) };
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
  readonly begin: ChatBegin;
  readonly give: GiveResult;
}

/** Throws `ThreadNotFound`, `InvalidRequest`, or `WaitNotFound` if none of the calls was asked for. */
export async function takeResults(
  client: RuntimeClient,
  caller: Caller,
  resultsByCall: ReadonlyMap<string, string>,
): Promise<TakenResults> {
  const ids = [...resultsByCall.keys()].map(parseClientCallId);
  const { threadId = '' } = ids[0] ?? {};
  if (ids.some((id) => id.threadId !== threadId))
    return refuseRequest('tool_call_id: the last messages have results for two threads.');
  const thread = await requireReachable(client, caller, threadId);
  const results = new Map(
    ids.map(({ callId }) => [callId, resultsByCall.get(toClientCallId(callId, threadId)) ?? '']),
  );
  const { waits, give } = await giveResults(client, caller, thread, results);
  if (waits.length === 0)
    throw new RuntimeError(
      'WaitNotFound',
      `Thread "${threadId}" is not waiting for a result of these calls.`,
    );
  const begin = await findAnswerBegin(
    client,
    thread,
    waits.map(({ waitId }) => waitId),
  );
  return { threadId, begin: { ...begin, joins: true }, give };
}
