/**
 * Attachments of messages and results (definitions §15.4): new content is stored under `/attachments`; a path must name
 * a file of this thread. Both become AttachmentRefs.
 * - What code attaches to a message of a relative may be a file of its own thread: it is copied (runtime §8.1). An
 *   AttachmentRef means the sender's file, unless only the receiver's fits it; a path means the receiver's, if there is one.
 */

import type { MessageAttachment } from '../../core/author/thread-message.ts';
import { ATTACHMENT_FOLDER, attachmentName, toAttachmentRef } from '../../core/file/attachment.ts';
import { extensionOf } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import type { AttachmentRef, ToolAttachment } from '../../core/message/message.ts';
import { parseBase64 } from '../../core/value/base64.ts';
import { copyBytes } from '../../core/value/bytes.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';

export interface AttachmentTarget {
  readonly store: ThreadStore;
  readonly threadId: string;
  /** Returns ids for new files, equal in every attempt at the same work. */
  readonly nextId: () => string;
  /** The thread whose code attaches the files to a relative; absent for its own messages. */
  readonly from?: string;
}

/** Stores or finds each attachment. Rejects with `InvalidMessage`, `FileNotFound`, or as `writeFile` does. */
export async function storeAttachments(
  place: AttachmentTarget,
  attachments: readonly MessageAttachment[] | undefined,
): Promise<readonly AttachmentRef[]> {
  if (attachments === undefined || attachments === null) return [];
  if (!Array.isArray(attachments)) throw invalid('attachments must be a list.');
  if (attachments.length > LIMITS.attachments) {
    throw invalid(`A message may have at most ${LIMITS.attachments} attachments, not ${attachments.length}.`);
  }
  const refs: AttachmentRef[] = [];
  for (const each of attachments as readonly MessageAttachment[]) refs.push(await toRef(place, each));
  return refs;
}

async function toRef(place: AttachmentTarget, given: MessageAttachment): Promise<AttachmentRef> {
  if (typeof given === 'string') return findRef(place, given, {});
  if (typeof given !== 'object' || given === null)
    throw invalid('An attachment must be a path or an object.');
  if ('data' in given) return storeNew(place, given);
  if ('path' in given && typeof given.path === 'string') return findRef(place, given.path, given);
  throw invalid(
    'An attachment needs "data" with its content in base64, or the "path" of a file of the thread.',
  );
}

async function storeNew(place: AttachmentTarget, given: ToolAttachment): Promise<AttachmentRef> {
  const { name, mimeType, data, width, height, description } = given;
  if (typeof name !== 'string' || name.length === 0) throw invalid('An attachment needs a "name".');
  if (typeof mimeType !== 'string') throw invalid(`The attachment "${name}" needs a "mimeType".`);
  if (description !== undefined && description !== null && typeof description !== 'string') {
    throw invalid(`The "description" of the attachment "${name}" must be a string.`);
  }
  const id = place.nextId();
  const label = attachmentName(name);
  const record = await place.store.files.write(place.threadId, {
    path: `${ATTACHMENT_FOLDER}/${id}${extensionOf(label, mimeType)}`,
    mimeType,
    content: fromBase64(label, data),
    metadata: { name: label, ...(description ? { description } : {}) },
    width,
    height,
  });
  return toAttachmentRef(id, record);
}

async function findRef(
  { store, threadId, nextId, from }: AttachmentTarget,
  path: string,
  given: Partial<AttachmentRef>,
): Promise<AttachmentRef> {
  const own = await findFile(store, threadId, path);
  const theirs = from === undefined ? undefined : await findFile(store, from, path);
  if (from !== undefined && theirs && meansSender(given, own, theirs)) {
    const id = nextId();
    const copy = await store.files.copy(threadId, { from, path, id });
    if (copy) return toAttachmentRef(id, copy, given);
  } else if (own) {
    const id = typeof given.id === 'string' && given.id.length > 0 ? given.id : nextId();
    return toAttachmentRef(id, own, given);
  }
  throw new RuntimeError(
    'FileNotFound',
    `Thread "${threadId}" has no file "${path}" to attach${from === undefined ? '' : `, nor has "${from}", which sends it`}. Write it first, or give the content as "data".`,
  );
}

async function findFile(store: ThreadStore, threadId: string, path: string): Promise<FileRecord | undefined> {
  const record = await store.files.stat(threadId, path);
  return record && !record.isDirectory ? record : undefined;
}

/** Whose file is meant, if the sender has one at the path. */
function meansSender(
  given: Partial<AttachmentRef>,
  own: FileRecord | undefined,
  theirs: FileRecord,
): boolean {
  if (!own) return true;
  if (given.id === undefined) return false;
  const fits = ({ size, mimeType }: FileRecord) => size === given.size && mimeType === given.mimeType;
  return fits(theirs) || !fits(own);
}

/** Maximum characters of base64 that fit into a file; longer data is not decoded. */
const MAX_BASE64_CHARS = Math.ceil(LIMITS.fileBytes / 3) * 4;

function fromBase64(name: string, data: unknown): Uint8Array {
  const text = parseBase64(data);
  if (text === undefined) throw invalid(`The data of the attachment "${name}" is not base64.`);
  if (text.length > MAX_BASE64_CHARS) {
    throw new RuntimeError(
      'LimitExceeded',
      `The attachment "${name}" is too large: a file may have at most ${LIMITS.fileBytes} bytes.`,
    );
  }
  return copyBytes(Buffer.from(text, 'base64'));
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
