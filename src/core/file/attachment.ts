/** References of messages to files of a thread (definitions §15.4). Pure. */

import type { AttachmentRef } from '../message/message.ts';
import { LIMITS } from '../value/limit.ts';
import type { FileRecord } from './thread-file.ts';

/** Folder for new content; a file in it is removed together with the last message that names it. */
export const ATTACHMENT_FOLDER = '/attachments';

/** `given` takes precedence over the file's own name and description. */
export function toAttachmentRef(
  id: string,
  { path, name, mimeType, size, width, height, metadata }: FileRecord,
  given: { readonly name?: unknown; readonly description?: unknown } = {},
): AttachmentRef {
  const description = textOf(given.description) ?? textOf(metadata?.description);
  return {
    id,
    type: 'file',
    path,
    name: attachmentName(textOf(given.name) ?? textOf(metadata?.name) ?? name),
    mimeType,
    size,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(description === undefined ? {} : { description }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim().length > 0 ? value : undefined;
}

/** Reduces any name to one line: an attachment's name is a label and never a path. */
export function attachmentName(name: string): string {
  const flat = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return flat.slice(0, LIMITS.fileNameBytes) || 'file';
}

/** True if a list from a sender is valid: non-empty texts as paths, not too many, not too long. */
export function isAttachmentList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= LIMITS.attachments &&
    value.every((path) => typeof path === 'string' && path.length > 0 && path.length <= LIMITS.filePathBytes)
  );
}
