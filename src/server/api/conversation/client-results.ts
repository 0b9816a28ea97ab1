/**
 * Results that a client returns for calls of its own tools (core/project/client-tool.ts), over any of the protocols.
 * E1. The first result of a call counts; repeated results change nothing. A thread asks for several calls one after the
 *     other, and one request answers each as it is asked.
 */
import { storeOf } from '../../../client/client-store.ts';
import {
  type OutgoingAttachment,
  pathOf,
  readAttachments,
  writeAttachments,
} from '../../../client/outgoing-file.ts';
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { parseClientToolName, toResultValue } from '../../../core/project/client-tool.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import type { Wait } from '../../../store/wait/wait-record.ts';
import type { Caller } from '../caller.ts';

export interface ClientResult {
  readonly text: string;
  /** True if the client could not run its tool. */
  readonly failed: boolean;
  readonly files: readonly OutgoingAttachment[];
}

/** Results by call id: the model's own, or the one that clients are given (core/project/client-call-id.ts). */
export type ClientResults = ReadonlyMap<string, ClientResult>;

/** E1: answers the wait of a call when it is asked. False if there is no result for it. */
export type GiveResult = (waitId: string, callId: string) => Promise<boolean>;

export interface GivenResults {
  /** Waits of the calls that have a result and were asked for until now. */
  readonly waits: readonly { readonly waitId: string; readonly callId: string }[];
  /** Set if all of them had their results before. */
  readonly repeated?: true;
  readonly give: GiveResult;
}

export async function giveResults(
  client: RuntimeClient,
  caller: Caller,
  { id: threadId }: Pick<ThreadRecord, 'id'>,
  results: ClientResults,
): Promise<GivenResults> {
  const resultOf = (waitId: string, callId: string) => results.get(waitId) ?? results.get(callId);
  const isAsked = ({ id, threadId: own, kind, name, toolCallId }: Wait) =>
    own === threadId &&
    kind === 'question' &&
    toolCallId !== null &&
    resultOf(id, toolCallId) !== undefined &&
    parseClientToolName(name) !== undefined;
  const by = caller.name === null ? {} : { by: caller.name };
  const give: GiveResult = async (waitId, callId) => {
    const result = resultOf(waitId, callId);
    if (!result) return false;
    const attachments = await storeFiles(client, { threadId, waitId, result });
    await client.answerWait(waitId, { value: toResultValue({ ...result, attachments }), ...by });
    return true;
  };
  const open = (await client.listWaits({ threadId })).filter(isAsked);
  const answered = (await client.listWaits({ threadId, state: 'answered', limit: 1000 })).filter(isAsked);
  for (const { id, toolCallId } of open) await give(id, toolCallId ?? '');
  const waits = [...answered, ...open].map(({ id, toolCallId }) => ({
    waitId: id,
    callId: toolCallId ?? '',
  }));
  return { waits, give, ...(waits.length > 0 && open.length === 0 && { repeated: true }) };
}

interface ResultFiles {
  readonly threadId: string;
  readonly waitId: string;
  readonly result: ClientResult;
}

/** Stores the files before the answer that names them. E1: a repeated result writes the same files, another one others. */
async function storeFiles(
  client: RuntimeClient,
  { threadId, waitId, result: { files } }: ResultFiles,
): Promise<readonly string[]> {
  const { files: place } = storeOf(client);
  const attached = readAttachments({ threadId, messageId: waitId }, files);
  await writeAttachments(attached, (file) => place.write(threadId, file));
  return attached.map(pathOf);
}
