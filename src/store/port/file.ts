/**
 * The file system of a thread (definitions §18), a part of the ThreadStore port. Paths are rows of the thread; what a
 * path means is in `core/file/file-path.ts`. Each command may be given twice: a path's content is what counts. `write` is
 * several transactions, of which the last one decides; searches read page by page and see what is there when they come by.
 * Reads work on a terminated thread, and answer nothing for an unknown one. Writes throw `ThreadTerminated`,
 * `ThreadNotFound`, `InvalidPath`, `InvalidValue`, `FileConflict`, `LimitExceeded`.
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
  /** Bytes, which must not change before the command has ended; or a stream of them, which is taken as fast as it is stored. */
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
  /** Names this content and no other; null when the file is empty. */
  readonly contentId: string | null;
  readonly chunks: number;
}

export interface FileChunkRef {
  readonly path: string;
  readonly contentId: string;
  /** From 0. */
  readonly index: number;
}

export interface FileStore {
  /** Replaces what is at the path, but not a directory. */
  write(threadId: string, file: NewFile): Promise<FileRecord>;
  /** As `write`, for a thread that may not be there yet: what its first message names. */
  stage(threadId: string, file: NewFile): Promise<FileRecord>;
  /** Makes the directory and those above it; one that is there stays. */
  mkdir(threadId: string, path: string): Promise<FileRecord>;
  /** Removes an empty directory; without one nothing happens. */
  rmdir(threadId: string, path: string): Promise<void>;
  /** Removes a file, and its content with the last file that has it; without one nothing happens. */
  unlink(threadId: string, path: string): Promise<void>;

  /** The root is there as soon as the thread is. */
  stat(threadId: string, path: string): Promise<FileRecord | null>;
  /** Directories first, each kind by name. */
  readdir(threadId: string, path: string): Promise<ReaddirResult>;
  getStats(threadId: string): Promise<FileStats>;
  getThumbnail(threadId: string, path: string): Promise<Uint8Array | null>;
  /** Null when there is no such file; `file-content.ts` reads what it answers. */
  open(threadId: string, path: string): Promise<OpenedFile | null>;
  /** Null when the file has another content by now, or is gone. */
  readChunk(threadId: string, chunk: FileChunkRef): Promise<Uint8Array | null>;
  /** Paths that a glob fits, sorted, up to `LIMITS.foundFiles`. */
  find(threadId: string, pattern: string): Promise<FindResult>;
  /** Lines that a regular expression fits, file by file, sorted by path. Rejects with `Timeout` when the pattern computes too long. */
  grep(threadId: string, pattern: string): Promise<GrepResult[]>;
}
