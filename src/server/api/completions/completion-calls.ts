/**
 * What a client says that it has come to with the calls of its own tools.
 * L1. The id of a call as it is told names its thread: a client that names none comes back by it.
 * L2. The same results again are the same answers: the first one counts. Of several calls the thread asks for one after the other, and each is answered
 *     from the same request as it is asked.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { parseClientToolName } from '../../../core/project/client-tool.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { CompletionOut } from '../../../projections/openai/completion-chunk.ts';
import type { Wait } from '../../../store/port/thread-store.ts';
import { type Caller, requireReachable } from '../caller.ts';
import { beginOfAnswer, type ChatBegin } from '../chat/chat-begin.ts';
import { refuseRequest } from '../problem.ts';

/** L1: it names its thread. */
export function toToldId(callId: string, threadId: string): string {
  return `${callId}@${threadId}`;
}

function parseToldId(told: string): { readonly callId: string; readonly threadId: string } {
  const at = told.lastIndexOf('@');
  if (at < 1)
    return refuseRequest(
      `tool_call_id: ${JSON.stringify(told.slice(0, 80))} is no id that an agent has told.`,
    );
  return { callId: told.slice(0, at), threadId: told.slice(at + 1) };
}

export function withToldIds(outs: readonly CompletionOut[], threadId: string): readonly CompletionOut[] {
  return outs.map((out) => {
    if ('failed' in out) return out;
    const choices = out.choices.map(({ delta, ...choice }) => {
      const calls = delta.tool_calls?.map((call) => ({ ...call, id: toToldId(call.id, threadId) }));
      return { ...choice, delta: calls ? { ...delta, tool_calls: calls } : delta };
    });
    return { ...out, choices };
  });
}

export interface GivenResults {
  readonly threadId: string;
  readonly begin: ChatBegin;
  /** L2: as it is asked; answers the wait of this call, where there is a result for it. */
  readonly give: (waitId: string, callId: string) => Promise<boolean>;
}

/** Throws `ThreadNotFound`, `WaitNotFound` where no call of them was asked for, `InvalidRequest`. */
export async function giveResults(
  client: RuntimeClient,
  caller: Caller,
  told: ReadonlyMap<string, string>,
): Promise<GivenResults> {
  const ids = [...told.keys()].map(parseToldId);
  const { threadId = '' } = ids[0] ?? {};
  if (ids.some((id) => id.threadId !== threadId))
    return refuseRequest('tool_call_id: the last messages have results of two threads.');
  const thread = await requireReachable(client, caller, threadId);
  const results = new Map(ids.map(({ callId }) => [callId, told.get(toToldId(callId, threadId)) ?? '']));
  const isAsked = ({ threadId: own, name, toolCallId }: Wait) =>
    own === threadId &&
    toolCallId !== null &&
    results.has(toolCallId) &&
    parseClientToolName(name) !== undefined;
  const by = caller.name === null ? {} : { by: caller.name };
  const give = async (waitId: string, callId: string) => {
    const value = results.get(callId);
    if (value === undefined) return false;
    await client.answerWait(waitId, { value, ...by });
    return true;
  };
  const open = (await client.listWaits({ threadId })).filter(isAsked);
  const answered = (await client.listWaits({ threadId, state: 'answered', limit: 1000 })).filter(isAsked);
  const waits = [...answered, ...open];
  if (waits.length === 0)
    throw new RuntimeError('WaitNotFound', `Thread "${threadId}" waits for no result of these calls.`);
  for (const { id, toolCallId } of open) await give(id, toolCallId ?? '');
  const begin = await beginOfAnswer(
    client,
    thread,
    waits.map(({ id }) => id),
  );
  return { threadId, begin: { ...begin, joins: true }, give };
}
