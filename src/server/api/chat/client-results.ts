/**
 * Results that a client returns for calls of its own tools (core/project/client-tool.ts), over any of the protocols.
 * E1. The first result of a call counts; repeated results change nothing. A thread asks for several calls one after the
 *     other, and one request answers each as it is asked.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { parseClientToolName } from '../../../core/project/client-tool.ts';
import type { ThreadRecord, Wait } from '../../../store/port/thread-store.ts';
import type { Caller } from '../caller.ts';

/** Results by call id. */
export type ClientResults = ReadonlyMap<string, unknown>;

/** E1: answers the wait of a call when it is asked. False if there is no result for it. */
export type GiveResult = (waitId: string, callId: string) => Promise<boolean>;

export interface GivenResults {
  /** Waits of the calls that have a result and were asked for until now. */
  readonly waits: readonly { readonly waitId: string; readonly callId: string }[];
  readonly give: GiveResult;
}

export async function giveResults(
  client: RuntimeClient,
  caller: Caller,
  { id: threadId }: Pick<ThreadRecord, 'id'>,
  results: ClientResults,
): Promise<GivenResults> {
  const isAsked = ({ threadId: own, kind, name, toolCallId }: Wait) =>
    own === threadId &&
    kind === 'question' &&
    toolCallId !== null &&
    results.has(toolCallId) &&
    parseClientToolName(name) !== undefined;
  const by = caller.name === null ? {} : { by: caller.name };
  const give: GiveResult = async (waitId, callId) => {
    if (!results.has(callId)) return false;
    await client.answerWait(waitId, { value: results.get(callId), ...by });
    return true;
  };
  const open = (await client.listWaits({ threadId })).filter(isAsked);
  const answered = (await client.listWaits({ threadId, state: 'answered', limit: 1000 })).filter(isAsked);
  for (const { id, toolCallId } of open) await give(id, toolCallId ?? '');
  const waits = [...answered, ...open].map(({ id, toolCallId }) => ({
    waitId: id,
    callId: toolCallId ?? '',
  }));
  return { waits, give };
}
