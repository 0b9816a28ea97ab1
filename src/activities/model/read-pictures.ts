/**
 * Reads the recent images of a step's messages (definitions §15.5), once for all models that may be asked.
 * V1. No problem with a file fails a step: an image that cannot be shown is replaced by words.
 * V2. Only bytes whose own header identifies them as an image are sent, with the type from that header. A provider
 *     refuses anything else, and would do so in every following step.
 * V3. If there is not room for all images, the newest are preferred.
 */

import type { Picture, Pictures } from '../../core/context/context-attachment.ts';
import { readImageType } from '../../core/file/image-size.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { readWholeFile } from '../../store/file/file-content.ts';
import type { ThreadStore } from '../../store/store.ts';

type Reader = { readonly files: Pick<ThreadStore['files'], 'open' | 'readChunk'> };

/** `images`: newest first. */
export async function readPictures(
  store: Reader,
  threadId: string,
  images: readonly AttachmentRef[],
): Promise<Pictures> {
  const pictures = new Map<string, Picture>();
  let left: number = LIMITS.requestImageBytes;
  for (const { path, size } of images) {
    const bytes = size > left ? 'too large to show' : await read(store, threadId, path, left);
    if (typeof bytes === 'string') {
      pictures.set(path, { kind: 'absent', why: bytes });
      continue;
    }
    left -= bytes.length;
    pictures.set(path, toPicture(bytes));
  }
  return pictures;
}

/**
 * Returns the bytes, or why they cannot be shown. The file's size may have changed since it was stored in the message.
 */
async function read(
  store: Reader,
  threadId: string,
  path: string,
  most: number,
): Promise<Uint8Array | string> {
  try {
    const file = await store.files.open(threadId, path);
    if (!file) return 'unavailable: the file no longer exists';
    if (file.record.size > most) return 'too large to show';
    const content = await readWholeFile(store, threadId, path);
    return content ? new Uint8Array(content) : 'unavailable: the file no longer exists';
  } catch (error) {
    // An unreachable store fails the step, which is then retried.
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return 'unavailable: the file cannot be read';
  }
}

function toPicture(bytes: Uint8Array): Picture {
  const mediaType = readImageType(bytes);
  if (mediaType === undefined) return { kind: 'absent', why: 'not shown: not an image that models can see' };
  return { kind: 'shown', data: Buffer.from(bytes).toString('base64'), mediaType };
}
