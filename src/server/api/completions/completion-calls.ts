/**
 * Results that an OpenAI client returns for calls of its own tools.
 * L1. A call is given to a client under the id of its wait, so a client that names no thread finds it again. Calls that
 *     are not asked yet have the ids that their waits will have.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { isRuntimeError, RuntimeError } from '../../../core/value/error.ts';
import type { CompletionCall, CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { requireThreadOf } from '../agent-thread.ts';
import type { Caller } from '../caller.ts';
import { type ChatBegin, findAnswerBegin } from '../chat/chat-begin.ts';
import { type ClientResults, type GiveResult, giveResults } from '../conversation/client-results.ts';
import { refuseRequest } from '../problem.ts';

/** Renames the calls of a client's tools to its own names. */
export function withOwnNames(
  outs: readonly CompletionOutput[],
  nameOf: (told: string) => string,
): readonly CompletionOutput[] {
  const rename = ({ function: called, ...call }: CompletionCall): CompletionCall => ({
    ...call,
    function: { ...called, name: nameOf(called.name) },
  });
  return outs.map((out) => {
    if ('failed' in out) return out;
    const choices = out.choices.map(({ delta, ...choice }) => {
      const calls = delta.tool_calls?.map(rename);
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
  const ids = [...given.keys()];
  const found = await Promise.all(ids.map((id) => findThread(client, id)));
  const [threadId, other] = new Set(found.filter((id) => id !== null && (named ?? id) === id));
  if (threadId == null) return null;
  if (other !== undefined)
    return refuseRequest('tool_call_id: the last messages have results for two threads.');
  const thread = await requireThreadOf(client, caller, { agent, threadId });
  const { waits, give, repeated } = await giveResults(client, caller, thread, given);
  const taken = { threadId, found: thread, give };
  if (waits.length === 0) return { ...taken, begin: null };
  const begin = await findAnswerBegin(
    client,
    thread,
    waits.map(({ waitId }) => waitId),
  );
  return { ...taken, begin: { ...begin, joins: true, ...(repeated && { repeated }) } };
}

/** L1. Null for the id of a call that another server has made, or that is not asked yet. */
async function findThread(client: RuntimeClient, clientId: string): Promise<string | null> {
  const wait = await client.getWait(clientId).catch((error: unknown) => {
    if (isRuntimeError(error, 'WaitNotFound')) return null;
    throw error;
  });
  return wait?.threadId ?? null;
}

/** The error for results that no thread is waiting for. */
export function unwantedResults(taken: TakenResults | null): RuntimeError {
  const of = taken ? `Thread "${taken.threadId}" is not waiting for` : 'No thread has asked for';
  return new RuntimeError('WaitNotFound', `${of} a result of these calls: send a message of the user.`);
}
