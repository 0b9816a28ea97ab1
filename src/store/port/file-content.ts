/**
 * The content of a file, read over the port chunk by chunk, so that nothing large is held and nobody waits long.
 * A file may be replaced meanwhile: a reader of the whole begins again, a stream, which has given parts away, fails.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { FileChunk } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { FileStore, OpenedFile } from './file.ts';

/** A store, or the part of it that is read here. */
interface Reader {
  readonly files: Pick<FileStore, 'open' | 'readChunk'>;
}

const TRIES = 5;

/** Null when there is no such file. */
export async function readWholeFile(
  store: Reader,
  threadId: string,
  path: string,
): Promise<ArrayBuffer | null> {
  for (let tries = 1; ; tries++) {
    const file = await store.files.open(threadId, path);
    if (!file) return null;
    const bytes = new Uint8Array(file.record.size);
    let at = 0;
    try {
      for await (const { data } of readChunks(store, threadId, file)) {
        bytes.set(data, at);
        at += data.length;
      }
      return bytes.buffer;
    } catch (error) {
      if (tries === TRIES || !isReplaced(error)) throw error;
    }
  }
}

/** Null when there is no such file. An empty one is one empty chunk. */
export async function streamFile(
  store: Reader,
  threadId: string,
  path: string,
  signal?: AbortSignal,
): Promise<AsyncIterable<FileChunk> | null> {
  signal?.throwIfAborted();
  const file = await store.files.open(threadId, path);
  return file && readChunks(store, threadId, file, { signal });
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** The first chunk that is read. */
  readonly begin?: number;
}

export async function* readChunks(
  { files }: { readonly files: Pick<FileStore, 'readChunk'> },
  threadId: string,
  { record, contentId, chunks: totalChunks }: OpenedFile,
  { signal, begin = 0 }: ReadOptions = {},
): AsyncGenerator<FileChunk, void> {
  if (contentId === null) {
    yield { data: new Uint8Array(0), index: 0, totalChunks: 1, isLast: true };
    return;
  }
  for (let index = begin; index < totalChunks; index++) {
    signal?.throwIfAborted();
    const data = await files.readChunk(threadId, { path: record.path, contentId, index });
    if (!data) throw replaced(record.path);
    yield { data, index, totalChunks, isLast: index === totalChunks - 1 };
    // An engine in this process answers without the event loop.
    await breathe();
  }
}

function replaced(path: string): RuntimeError {
  return new RuntimeError('FileConflict', `${path} was replaced or removed while it was read.`);
}

export function isReplaced(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'FileConflict';
}
