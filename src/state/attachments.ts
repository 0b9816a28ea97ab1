/**
 * Attachments of messages and results (definitions §15.4): new content is stored under `/attachments`; a path must name
 * a file of this thread. Both become AttachmentRefs.
 */

import type { MessageAttachment } from '../core/author/thread-message.ts';
import { ATTACHMENT_FOLDER, attachmentName, toAttachmentRef } from '../core/file/attachment.ts';
import { extensionOf } from '../core/file/mime-type.ts';
import type { AttachmentRef, ToolAttachment } from '../core/message/message.ts';
import { parseBase64 } from '../core/value/base64.ts';
import { copyBytes } from '../core/value/bytes.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

export interface AttachmentTarget {
  readonly store: ThreadStore;
  readonly threadId: string;
  /** Returns ids for new files, equal in every attempt at the same work. */
  readonly nextId: () => string;
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
  { store, threadId, nextId }: AttachmentTarget,
  path: string,
  given: Partial<AttachmentRef>,
): Promise<AttachmentRef> {
  const record = await store.files.stat(threadId, path);
  if (!record || record.isDirectory) {
    throw new RuntimeError(
      'FileNotFound',
      `Thread "${threadId}" has no file "${path}" to attach. Write it first, or give the content as "data".`,
    );
  }
  const id = typeof given.id === 'string' && given.id.length > 0 ? given.id : nextId();
  return toAttachmentRef(id, record, given);
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
