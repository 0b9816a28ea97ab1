/**
 * Files of threads that a conversation names by their signed addresses, as snapshots give them. A file of another thread
 * is copied: the conversation has it from there on, whatever becomes of the other thread.
 * - An address counts by its signature alone: it is ours under every public address that the server has or had.
 * - Only what the caller may read is copied, although the address alone would show it.
 * - A signed address is a key, so it stands in no text that a model reads, and in no error.
 */
import type { RuntimeClient } from '../../../client/runtime-client.ts';
import { toAttachmentRef } from '../../../core/file/attachment.ts';
import { isRuntimeError } from '../../../core/value/error.ts';
import { LIMITS } from '../../../core/value/limit.ts';
import { readWholeFile } from '../../../store/file/file-content.ts';
import { type Caller, requireReachable } from '../caller.ts';
import { hasValidSignature, parseFileAddress } from '../signed-address.ts';
import type { GivenFile, GivenMessage, GivenPart } from './given-message.ts';

/** Returns the messages with the files of other threads within them. */
export type CopyFiles = <Given extends GivenMessage>(messages: readonly Given[]) => Promise<readonly Given[]>;

/** The newest files are copied, up to the limit of a conversation. `threadId`: the thread that the messages are for. */
export function ownFiles(client: RuntimeClient, caller: Caller, threadId: string | undefined): CopyFiles {
  return async (messages) => {
    let room: number = LIMITS.earlierFileBytes;
    const copied = [];
    for (const message of messages.toReversed()) {
      const parts: GivenPart[] = [];
      for (const part of message.parts) {
        const taken = part.kind === 'file' ? await copyFile({ client, caller, threadId, room }, part) : part;
        if (taken !== part && taken.kind === 'file') room -= (taken.url.length * 3) / 4;
        parts.push(taken);
      }
      copied.push({ ...message, parts });
    }
    return copied.reverse();
  };
}

interface CopyTerms {
  readonly client: RuntimeClient;
  readonly caller: Caller;
  readonly threadId: string | undefined;
  readonly room: number;
}

async function copyFile(terms: CopyTerms, part: GivenFile): Promise<GivenPart> {
  const signed = parseFileAddress(part.url);
  // The thread's own file is named by its path.
  if (!signed || signed.threadId === terms.threadId) return part;
  const { client, caller, room } = terms;
  const { type } = part;
  const lost = (reason: string): GivenPart => ({ kind: 'other', type, reason });
  const refusal = await refuseAddress(client, caller, { url: part.url, threadId: signed.threadId });
  if (refusal !== null) return lost(refusal);
  const store = client.store;
  const record = await store.files.stat(signed.threadId, signed.path);
  if (record && record.size > room)
    return lost(
      `the file has ${record.size} bytes, and the conversation has room for ${Math.max(0, Math.floor(room))}`,
    );
  const bytes = record && (await readWholeFile(store, signed.threadId, signed.path));
  if (!record || !bytes) return lost('the file has been removed');
  const { name, mimeType } = toAttachmentRef('', record);
  const base64 = Buffer.from(bytes).toString('base64');
  return { kind: 'file', type, url: `data:${mimeType};base64,${base64}`, mimeType, name };
}

/** Returns why the file is not copied; null if it may be. */
async function refuseAddress(
  client: RuntimeClient,
  caller: Caller,
  { url, threadId }: { readonly url: string; readonly threadId: string },
): Promise<string | null> {
  try {
    if (!(await hasValidSignature(client.store.tokens, url, threadId))) return 'the address is not signed';
    await requireReachable(client, caller, threadId);
    return null;
  } catch (error) {
    if (isRuntimeError(error, 'Forbidden')) return lowered(error.message);
    if (isRuntimeError(error, 'ThreadNotFound')) return 'the caller has no such thread';
    throw error;
  }
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}
