/** The tables of values and files, as Kysely sees them. The rest is in tables.ts. */

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
