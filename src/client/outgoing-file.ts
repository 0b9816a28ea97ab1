/**
 * Files that a client sends along with a message (definitions §15.4). A new file is written to the thread first, and the
 * message then names its path. The path is derived from the message's id and the content, so that sending again writes
 * the same file, and another file makes another message.
 */
import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { ATTACHMENT_FOLDER, attachmentName, isAttachmentList } from '../core/file/attachment.ts';
import { extensionOf } from '../core/file/mime-type.ts';
import { parseBase64 } from '../core/value/base64.ts';
import { copyBytes } from '../core/value/bytes.ts';
import { RuntimeError } from '../core/value/error.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { NewFile } from '../store/file/file-record.ts';

/** New content: bytes, or a text in base64. */
export interface NewAttachment {
  readonly name: string;
  readonly mimeType: string;
  readonly data: Uint8Array | ArrayBuffer | string;
  readonly description?: string;
}

/** The path of an existing file of the thread, or a new one. */
export type OutgoingAttachment = string | NewAttachment;

export type WriteFile = (file: NewFile) => Promise<{ readonly path: string }>;

interface FilePlace {
  readonly threadId: string;
  readonly messageId: string;
}

/** The path of a file of the thread, or a file that is to be written before the message that names it. */
export type AttachedFile = string | (NewFile & { readonly path: string });

export const pathOf = (file: AttachedFile) => (typeof file === 'string' ? file : file.path);

/** Checks all attachments. Throws `InvalidMessage`. */
export function readAttachments(
  place: FilePlace,
  attachments: readonly OutgoingAttachment[],
): readonly AttachedFile[] {
  if (!Array.isArray(attachments) || attachments.length > LIMITS.attachments) {
    throw invalid(`The attachments of a message must be a list of at most ${LIMITS.attachments}.`);
  }
  if (!isAttachmentList(attachments.filter((each) => typeof each === 'string'))) {
    throw invalid(`The path of an attachment must have 1 to ${LIMITS.filePathBytes} characters.`);
  }
  return attachments.map((each, index) => (typeof each === 'string' ? each : toFile(place, each, index)));
}

export async function writeAttachments(files: readonly AttachedFile[], write: WriteFile): Promise<void> {
  for (const file of files) if (typeof file !== 'string') await write(file);
}

function toFile({ threadId, messageId }: FilePlace, given: NewAttachment, index: number) {
  const { name, mimeType, data, description } = (given ?? {}) as Partial<NewAttachment>;
  if (typeof name !== 'string' || typeof mimeType !== 'string') {
    throw invalid('An attachment must be the path of a file of the thread, or { name, mimeType, data }.');
  }
  if (description !== undefined && typeof description !== 'string') {
    throw invalid(`The "description" of the attachment "${name}" must be a string.`);
  }
  const label = attachmentName(name);
  const content = toBytes(label, data);
  const place = createHash('sha256').update(`${threadId}\n${messageId}\n${index}\n`).update(content);
  return {
    path: `${ATTACHMENT_FOLDER}/${place.digest('hex').slice(0, 32)}${extensionOf(label, mimeType)}`,
    mimeType,
    content,
    metadata: { name: label, ...(description ? { description } : {}) },
  };
}

/** Returns a copy: the caller may change the original while the copy is written. */
function toBytes(name: string, data: unknown): Uint8Array {
  if (ArrayBuffer.isView(data) || types.isAnyArrayBuffer(data)) return copyBytes(data);
  const text = parseBase64(data);
  if (text !== undefined) return copyBytes(Buffer.from(text, 'base64'));
  throw invalid(`The data of the attachment "${name}" must be bytes, or a base64 string.`);
}

function invalid(message: string): RuntimeError {
  return new RuntimeError('InvalidMessage', message);
}
