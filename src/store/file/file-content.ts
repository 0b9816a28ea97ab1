/**
 * Reads the content of a file chunk by chunk, so that no read is large or blocks others for long.
 * If the file is replaced in the meantime, `readWholeFile` begins again; a stream fails, since it has delivered parts
 * already.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { FileChunk } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { FileChunkRef, OpenedFile } from './file-record.ts';

/** The part of a store that is used here. */
interface Reader extends ChunkReader {
  readonly files: ChunkReader['files'] & { open(threadId: string, path: string): Promise<OpenedFile | null> };
}

interface ChunkReader {
  readonly files: { readChunk(threadId: string, place: FileChunkRef): Promise<Uint8Array | null> };
}

const MAX_TRIES = 5;

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
      if (tries === MAX_TRIES || !isReplaced(error)) throw error;
    }
  }
}

/** Null if there is no such file. An empty file is one empty chunk. */
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

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Index of the first chunk to read; default 0. */
  readonly begin?: number;
}

export async function* readChunks(
  { files }: ChunkReader,
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
    // SQLite answers without returning to the event loop, so other work gets its turn here.
    await breathe();
  }
}

function replaced(path: string): RuntimeError {
  return new RuntimeError('FileConflict', `${path} was replaced or removed while it was read.`);
}

export function isReplaced(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'FileConflict';
}
