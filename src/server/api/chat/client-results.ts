/**
 * What a client says that it has come to with the calls of its own tools (core/project/client-tool.ts), whatever its door.
 * E1. The same results again are the same answers: the first one counts. Of several calls the thread asks for one after the other, and each is answered
 *     from the same request as it is asked.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { parseClientToolName } from '../../../core/project/client-tool.ts';
import type { ThreadRecord, Wait } from '../../../store/port/thread-store.ts';
import type { Caller } from '../caller.ts';

/** By the id of the call. */
export type ClientResults = ReadonlyMap<string, unknown>;

/** E1: as it is asked; answers the wait of this call, where there is a result for it. */
export type GiveResult = (waitId: string, callId: string) => Promise<boolean>;

export interface GivenResults {
  /** Of the calls that there are results for: those that were asked for until now. */
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
