/**
 * The file system of a thread (definitions §18), a part of the ThreadStore port. Paths are rows of the thread;
 * `core/file/file-path.ts` defines what a path means. Each command may be given twice: only the resulting content of a
 * path counts. `write` is several transactions, of which the last one decides. Searches read page by page, and see each
 * page as it is then. Reads work on a terminated thread, and return nothing for an unknown one. Writes throw
 * `ThreadTerminated`, `ThreadNotFound`, `InvalidPath`, `InvalidValue`, `FileConflict`, `LimitExceeded`.
 */
import type { FileRecord } from '../../core/file/thread-file.ts';

export interface NewFile {
  readonly path: string;
  /**
   * Bytes that must not change until the command has ended, or a stream of bytes, which is read as fast as it is
   * stored.
   */
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly mimeType: string;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly thumbnail?: Uint8Array;
  readonly width?: number;
  readonly height?: number;
}

/** A file that can be read chunk by chunk. */
export interface OpenedFile {
  readonly record: FileRecord;
  /** Identifies exactly this content; null if the file is empty. */
  readonly contentId: string | null;
  readonly chunks: number;
}

export interface FileChunkRef {
  readonly path: string;
  readonly contentId: string;
  /** Index of the chunk, from 0. */
  readonly index: number;
}

export interface FileSource {
  /** The thread that has the file. */
  readonly from: string;
  readonly path: string;
  /** Idempotency key. */
  readonly id: string;
}
