/** ThreadState's files (definitions §18), backed by the store: converts authors' content to and from bytes. */
import { types } from 'node:util';
import type { FileContent, ThreadFiles } from '../../core/file/thread-file.ts';
import { copyBytes } from '../../core/value/bytes.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { readWholeFile, streamFile } from '../../store/file/file-content.ts';
import type { ThreadStore } from '../../store/store.ts';

/**
 * `redactKnown` removes secrets from paths: the same path still leads to the same file, under a name that may be shown.
 */
export function createThreadFiles(
  store: ThreadStore,
  threadId: string,
  redactKnown: <T>(value: T) => T = (value) => value,
): ThreadFiles {
  return {
    writeFile: async (path, data, mimeType, { thumbnail, ...options } = {}) =>
      store.files.write(threadId, {
        ...redactKnown(options),
        path: redactKnown(path),
        mimeType,
        content: toBytes('data', data),
        thumbnail: thumbnail && toBytes('thumbnail', thumbnail),
      }),
    readFile: (path) => readWholeFile(store, threadId, redactKnown(path)),
    readFileStream: (path, options) => streamFile(store, threadId, redactKnown(path), options?.signal),
    statFile: (path) => store.files.stat(threadId, redactKnown(path)),
    readdirFile: (path) => store.files.readdir(threadId, redactKnown(path)),
    unlinkFile: (path) => store.files.unlink(threadId, redactKnown(path)),
    mkdirFile: (path) => store.files.mkdir(threadId, redactKnown(path)),
    rmdirFile: (path) => store.files.rmdir(threadId, redactKnown(path)),
    getFileStats: () => store.files.getStats(threadId),
    grepFiles: (pattern) => store.files.grep(threadId, pattern),
    findFiles: (pattern) => store.files.find(threadId, pattern),
    getFileThumbnail: async (path) => {
      const bytes = await store.files.getThumbnail(threadId, redactKnown(path));
      return bytes && (bytes.buffer as ArrayBuffer);
    },
  };
}

/** Returns a copy, since the author's buffer may change while it is written. */
function toBytes(name: string, data: FileContent): Uint8Array {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  // Not by `instanceof`: the buffer may come from another realm.
  if (ArrayBuffer.isView(data) || types.isAnyArrayBuffer(data)) return copyBytes(data);
  throw new RuntimeError(
    'InvalidValue',
    `${name} must be the content of a file: a string, an ArrayBuffer or a view of one.`,
  );
}
