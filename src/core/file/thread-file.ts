/**
 * The files of a thread as callers see them (definitions §18). Types alone.
 * Times are milliseconds since 1970, unlike those of messages (definitions §22.10).
 */

export interface FileRecord {
  /** Absolute: begins with `/`, ends with a name. */
  readonly path: string;
  readonly name: string;
  /** `inode/directory` for a directory. */
  readonly mimeType: string;
  /** Where the content is. This runtime keeps all content itself. */
  readonly storage: 'local' | 'url' | 's3' | 'r2';
  readonly location?: string;
  /** Bytes; 0 for a directory. */
  readonly size: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly isDirectory: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Pixels of an image: as given, else as read from its header. */
  readonly width?: number;
  readonly height?: number;
  /** True if its stream has more than one chunk. */
  readonly isChunked?: boolean;
  readonly chunkCount?: number;
}

export type FileContent = ArrayBuffer | ArrayBufferView | string;

export interface WriteFileOptions {
  /** JSON; at most 16 KiB. */
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  /** A small image that represents the file; at most 256 KiB. */
  readonly thumbnail?: ArrayBuffer | ArrayBufferView;
  /** Pixels. */
  readonly width?: number;
  readonly height?: number;
}

export interface FileChunk {
  readonly data: Uint8Array;
  /** From 0. */
  readonly index: number;
  readonly totalChunks: number;
  readonly isLast: boolean;
}

export interface ReaddirResult {
  /** Directories first, then by name. */
  readonly entries: FileRecord[];
}

export interface FileStats {
  readonly fileCount: number;
  readonly directoryCount: number;
  /** Bytes of all files. */
  readonly totalSize: number;
}

/** A file with matching lines (definitions §22.29). */
export interface GrepResult {
  readonly path: string;
  readonly name: string;
  /** The matching lines, at most 1,000, each cut after 1,000 characters. */
  readonly matches: string[];
  /** Numbers of these lines, from 1. */
  readonly lineNumbers: number[];
}

export interface FindResult {
  readonly paths: string[];
}

/** The part of ThreadState for files. */
export interface ThreadFiles {
  /**
   * Writes a whole file; an existing one is replaced with its type, metadata and thumbnail. Missing directories above it
   * are made. A text becomes UTF-8. Durable once resolved.
   * Rejects with `InvalidPath`, `InvalidValue`, `LimitExceeded`, `FileConflict`, `ThreadTerminated`.
   */
  writeFile(
    path: string,
    data: FileContent,
    mimeType: string,
    options?: WriteFileOptions,
  ): Promise<FileRecord>;
  /** Null when there is no such file. */
  readFile(path: string): Promise<ArrayBuffer | null>;
  /** In chunks of at most 1 MiB; null when there is no such file. Fails if the file is replaced during the read. */
  readFileStream(
    path: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<FileChunk> | null>;
  statFile(path: string): Promise<FileRecord | null>;
  /** Immediate children; an empty list when the directory does not exist. `FileConflict` when it is a file. */
  readdirFile(path: string): Promise<ReaddirResult>;
  /** Removes a file; a missing one is not an error. `FileConflict` when it is a directory. */
  unlinkFile(path: string): Promise<void>;
  /** Makes a directory that stays when it is empty; an existing one is not an error. */
  mkdirFile(path: string): Promise<FileRecord>;
  /** Removes a directory; a missing one is not an error. `FileConflict` when it is a file or not empty. */
  rmdirFile(path: string): Promise<void>;
  getFileStats(): Promise<FileStats>;
  /**
   * Text files with lines that match a JavaScript regular expression, or contain the pattern if it is not a valid one;
   * by path, at most 100. Rejects with `Timeout` when the pattern takes too long.
   */
  grepFiles(pattern: string): Promise<GrepResult[]>;
  /**
   * Paths of files that match: `*` and `**` stand for any characters, `?` for one. Without a leading `/` the pattern is matched
   * against the end of the path. Sorted, at most 100.
   */
  findFiles(pattern: string): Promise<FindResult>;
  /** The thumbnail that was given with the file, or null. */
  getFileThumbnail(path: string): Promise<ArrayBuffer | null>;
}
