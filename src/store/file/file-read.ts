/** Reads of a thread's files. No read waits for a writer, and an unknown thread has no files. */
import { parseFilePath } from '../../core/file/file-path.ts';
import type { FileRecord, FileStats, ReaddirResult } from '../../core/file/thread-file.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { countChunks } from './blob.ts';
import type { FileChunkRef, OpenedFile } from './file-record.ts';
import { FILE_COLUMNS, type FileRow, findEntry, rootRecord, toFileRecord } from './file-row.ts';
import { conflict } from './file-tree.ts';

/** Null if there is nothing at the path. The root directory exists as soon as the thread does. */
export async function statFile(
  context: CommandContext,
  threadId: string,
  given: string,
): Promise<FileRecord | null> {
  const path = parseFilePath(given);
  if (path === '/') return statRoot(context, threadId);
  const row = await findEntry(context.db, threadId, path);
  return row ? toFileRecord(row) : null;
}

async function statRoot({ db }: CommandContext, threadId: string): Promise<FileRecord | null> {
  const thread = await findRow(db, 'threads', { id: threadId }, ['created_at']);
  return thread ? rootRecord(thread.created_at) : null;
}

/** Entries of a directory: directories first, then files, each sorted by name. */
export async function readdirFile(
  context: CommandContext,
  threadId: string,
  given: string,
): Promise<ReaddirResult> {
  const path = parseFilePath(given);
  const rows = await inSnapshot(context, async (trx) => {
    const itself = path === '/' ? undefined : await findEntry(trx, threadId, path);
    if (itself?.kind === 'file') throw conflict(`not a directory: ${path}`);
    return selectRows(trx, 'thread_files', { thread_id: threadId, parent: path })
      .select(FILE_COLUMNS)
      .execute();
  });
  return { entries: rows.sort(directoriesFirst).map(toFileRecord) };
}

/** Sorted here and not in the database: engines order texts differently. */
function directoriesFirst(a: FileRow, b: FileRow): number {
  if ((a.kind === 'file') !== (b.kind === 'file')) return a.kind === 'file' ? 1 : -1;
  return a.path < b.path ? -1 : 1;
}

export async function getFileStats({ db }: CommandContext, threadId: string): Promise<FileStats> {
  const groups = await db
    .selectFrom('thread_files')
    .select((eb) => [
      'kind',
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<number | string>('size').as('size'),
    ])
    .where('thread_id', '=', threadId)
    .groupBy('kind')
    .execute();
  const files = groups.filter(({ kind }) => kind === 'file');
  const total = (some: typeof groups) => some.reduce((sum, { count }) => sum + count, 0);
  return {
    fileCount: total(files),
    directoryCount: total(groups) - total(files),
    totalSize: Number(files[0]?.size ?? 0),
  };
}

export async function getFileThumbnail(
  { db }: CommandContext,
  threadId: string,
  given: string,
): Promise<Uint8Array | null> {
  const row = await findRow(db, 'thread_files', { thread_id: threadId, path: parseFilePath(given) }, [
    'thumbnail',
  ]);
  return row?.thumbnail ? ownBytes(row.thumbnail) : null;
}

/** Opens a file to be read chunk by chunk (`file-content.ts`). Null if there is no such file. */
export async function openFile(
  { db }: CommandContext,
  threadId: string,
  given: string,
): Promise<OpenedFile | null> {
  const row = await findEntry(db, threadId, parseFilePath(given));
  if (row?.kind !== 'file') return null;
  return { record: toFileRecord(row), contentId: row.blob_id, chunks: countChunks(row.size) };
}

/** Null if the file has been replaced or removed. */
export async function readFileChunk(
  { db }: CommandContext,
  threadId: string,
  { path, contentId, index }: FileChunkRef,
): Promise<Uint8Array | null> {
  const row = await db
    .selectFrom('thread_files')
    .innerJoin('blob_chunks', 'blob_chunks.blob_id', 'thread_files.blob_id')
    .select('data')
    .where('thread_id', '=', threadId)
    .where('path', '=', path)
    .where('thread_files.blob_id', '=', contentId)
    .where('idx', '=', index)
    .executeTakeFirst();
  return row ? ownBytes(row.data) : null;
}

/** A driver may return a view of memory that also holds other data. */
function ownBytes(data: Uint8Array): Uint8Array {
  return new Uint8Array(data);
}
