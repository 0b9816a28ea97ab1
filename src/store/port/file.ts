/**
 * The file system of a thread (definitions §18), a part of the ThreadStore port. Paths are rows of the thread; what a
 * path means is in `core/file-path.ts`. Each command may be given twice: a path's content is what counts. `writeFile` is
 * several transactions, of which the last one decides; searches read page by page and see what is there when they come by.
 * Reads work on a terminated thread, and answer nothing for an unknown one. Writes throw `ThreadTerminated`,
 * `ThreadNotFound`, `InvalidPath`, `InvalidValue`, `FileConflict`, `LimitExceeded`.
 */
import type { FileRecord, FileStats, FindResult, GrepResult, ReaddirResult } from '../../core/thread-file.ts';

export interface NewFile {
  readonly path: string;
  /** Must not change before the command has ended. */
  readonly content: Uint8Array;
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
  writeFile(threadId: string, file: NewFile): Promise<FileRecord>;
  /** As `writeFile`, for a thread that may not be there yet: what its first message names. */
  stageFile(threadId: string, file: NewFile): Promise<FileRecord>;
  mkdirFile(threadId: string, path: string): Promise<FileRecord>;
  rmdirFile(threadId: string, path: string): Promise<void>;
  unlinkFile(threadId: string, path: string): Promise<void>;

  statFile(threadId: string, path: string): Promise<FileRecord | null>;
  readdirFile(threadId: string, path: string): Promise<ReaddirResult>;
  getFileStats(threadId: string): Promise<FileStats>;
  getFileThumbnail(threadId: string, path: string): Promise<Uint8Array | null>;
  /** Null when there is no such file; `file-content.ts` reads what it answers. */
  openFile(threadId: string, path: string): Promise<OpenedFile | null>;
  /** Null when the file has another content by now, or is gone. */
  readFileChunk(threadId: string, chunk: FileChunkRef): Promise<Uint8Array | null>;
  findFiles(threadId: string, pattern: string): Promise<FindResult>;
  /** Throws `Timeout` when the pattern computes too long. */
  grepFiles(threadId: string, pattern: string): Promise<readonly GrepResult[]>;
}
