/**
 * The file system of a thread (definitions §18), a part of the ThreadStore port. Paths are rows of the thread;
 * `core/file/file-path.ts` defines what a path means. Each command may be given twice: only the resulting content of a
 * path counts. `write` is several transactions, of which the last one decides. Searches read page by page, and see each
 * page as it is then. Reads work on a terminated thread, and return nothing for an unknown one. Writes throw
 * `ThreadTerminated`, `ThreadNotFound`, `InvalidPath`, `InvalidValue`, `FileConflict`, `LimitExceeded`.
 */
import type {
  FileRecord,
  FileStats,
  FindResult,
  GrepResult,
  ReaddirResult,
} from '../../core/file/thread-file.ts';

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

export interface FileStore {
  /** Writes a file. Replaces an existing file, but not a directory. */
  write(threadId: string, file: NewFile): Promise<FileRecord>;
  /** Like `write`, for a thread that may not exist yet: for files that its first message names. */
  stage(threadId: string, file: NewFile): Promise<FileRecord>;
  /** Creates the directory and its parents; an existing one stays as it is. */
  mkdir(threadId: string, path: string): Promise<FileRecord>;
  /** Removes an empty directory; no effect if there is none. */
  rmdir(threadId: string, path: string): Promise<void>;
  /** Removes a file, and its content with the last file that has it; no effect if there is none. */
  unlink(threadId: string, path: string): Promise<void>;

  /** Null if there is nothing at the path. The root directory exists as soon as the thread does. */
  stat(threadId: string, path: string): Promise<FileRecord | null>;
  /** Entries of a directory: directories first, then files, each sorted by name. */
  /**
   * Copies a file of a relative to this thread, under a path of its own, which the same id and path give again. Null if there is
   * no such file, or no room for it.
   */
  copy(threadId: string, source: FileSource): Promise<FileRecord | null>;
  readdir(threadId: string, path: string): Promise<ReaddirResult>;
  getStats(threadId: string): Promise<FileStats>;
  getThumbnail(threadId: string, path: string): Promise<Uint8Array | null>;
  /** Opens a file to be read chunk by chunk (`file-content.ts`). Null if there is no such file. */
  open(threadId: string, path: string): Promise<OpenedFile | null>;
  /** Null if the file has been replaced or removed. */
  readChunk(threadId: string, chunk: FileChunkRef): Promise<Uint8Array | null>;
  /** Paths that match a glob, sorted, up to `LIMITS.foundFiles`. */
  find(threadId: string, pattern: string): Promise<FindResult>;
  /**
   * Lines that match a regular expression, file by file, sorted by path. Rejects with `Timeout` if the pattern computes
   * too long.
   */
  grep(threadId: string, pattern: string): Promise<GrepResult[]>;
}
