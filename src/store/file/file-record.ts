/**
 * The file system of a thread (definitions §18), a part of the ThreadStore port. Paths are rows of the thread;
 * `core/file/file-path.ts` defines what a path means. Each command may be given twice: only the resulting content of a
 * path counts. `write` is several transactions, of which the last one decides. Searches read page by page, and see each
 * page as it is then. Reads work on a terminated thread, and return nothing for an unknown one. Writes throw
 * `ThreadTerminated`, `ThreadNotFound`, `InvalidPath`, `InvalidValue`, `FileConflict`, `LimitExceeded`.
 *
 * The tables of values and files, as Kysely sees them. The rest is in tables.ts.
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

export interface ThreadValueTable {
  thread_id: string;
  key: string;
  /** JSON text. */
  value: string;
  updated_at: number;
}

export interface ThreadFileTable {
  thread_id: string;
  path: string;
  /** The directory that contains it. */
  parent: string;
  /** implied: a directory that exists only because something is in it, and is removed with the last of that. */
  kind: 'file' | 'directory' | 'implied';
  mime_type: string;
  size: number;
  /** Null for directories and empty files. */
  blob_id: string | null;
  /** JSON text. */
  metadata: string | null;
  width: number | null;
  height: number | null;
  thumbnail: Uint8Array | null;
  created_at: number;
  updated_at: number;
}

/** A content, stored once for all files of the store that have it. */
export interface BlobTable {
  id: string;
  /** SHA-256, in hex. */
  hash: string;
  size: number;
  /** Number of files that have it. */
  names: number;
}

export interface BlobChunkTable {
  /** The id of a blob, or of an upload that may become one. */
  blob_id: string;
  idx: number;
  data: Uint8Array;
}

/** An upload in progress: its chunks are written before the transaction that links them to a file. */
export interface BlobUploadTable {
  id: string;
  begun_at: number;
}

export interface ValueAndFileTables {
  thread_values: ThreadValueTable;
  thread_files: ThreadFileTable;
  blobs: BlobTable;
  blob_chunks: BlobChunkTable;
  blob_uploads: BlobUploadTable;
}
