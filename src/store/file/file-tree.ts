/**
 * The tree of a thread's files, and their rows. The thumbnail, which may be large, is read only if asked for.
 * - The parent of every entry exists and is a directory. One that was not created explicitly is `implied`: it is
 *   created with its first entry and removed with the last, so a path needs no preparation and leaves nothing behind.
 * - All changes of the tree run in the thread's transaction, so what was looked up stays true.
 */

import type { Kysely, Selectable } from 'kysely';
import { ancestorsOf, nameOf, parentOf, parseFilePath } from '../../core/file/file-path.ts';
import { DIRECTORY_TYPE } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inThread, refuseTerminated } from '../transaction/context.ts';
import { findRow, insertRows, selectRows } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { countChunks, releaseContent } from './blob.ts';
import type { ThreadFileTable } from './file-record.ts';

/** Creates the directory and its parents; an existing one stays as it is. */
export async function mkdirFile(
  context: CommandContext,
  threadId: string,
  given: string,
): Promise<FileRecord> {
  const path = parseFilePath(given);
  return inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    if (path === '/') return rootRecord(thread.row.created_at);
    const found = await findFileRow(thread.trx, threadId, path);
    if (found?.kind === 'file') throw conflict(`not a directory: ${path}`);
    if (found?.kind === 'directory') return toFileRecord(found);
    if (found) {
      await at(thread, path).set({ kind: 'directory' }).executeTakeFirst();
      return toFileRecord({ ...found, kind: 'directory' });
    }
    const missing = await missingParents(thread, path);
    await requireRoom(thread, { entries: missing.length + 1, bytes: 0 });
    const made = toDirectory(thread, path, 'directory');
    await insertRows(thread.trx, 'thread_files', [...missing, made]);
    return toFileRecord(made);
  });
}

/** Removes an empty directory; no effect if there is none. */
export async function rmdirFile(context: CommandContext, threadId: string, given: string): Promise<void> {
  const path = parseFilePath(given);
  if (path === '/') throw conflict('/ cannot be removed');
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const found = await findFileRow(thread.trx, threadId, path);
    if (!found) return;
    if (found.kind === 'file') throw conflict(`not a directory: ${path}`);
    if (await hasChildren(thread, path)) throw conflict(`directory not empty: ${path}`);
    await removeRow(thread, path);
  });
}

/** Removes a file, and its content with the last file that has it; no effect if there is none. */
export async function unlinkFile(context: CommandContext, threadId: string, given: string): Promise<void> {
  const path = parseFilePath(given);
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    const found = await findFileRow(thread.trx, threadId, path);
    if (path === '/' || (found && found.kind !== 'file')) throw conflict(`is a directory: ${path}`);
    if (found) await removeFile(thread, found);
  });
}

/** Removes a file with its name, and its content with the last name. */
export async function removeFile(thread: ThreadTransaction, row: FileRow): Promise<void> {
  await removeRow(thread, row.path);
  await releaseContent(thread.trx, row.blob_id);
  emitFile(thread, 'file.deleted', row);
}

export function emitFile(
  thread: ThreadTransaction,
  type: 'file.created' | 'file.updated' | 'file.deleted',
  { path, mime_type: mimeType, size }: Pick<FileRow, 'path' | 'mime_type' | 'size'>,
): void {
  thread.emit(type, { path, mimeType, size });
}

/** Removes a row, and the implied directories above that it leaves empty. */
async function removeRow(thread: ThreadTransaction, path: string): Promise<void> {
  const { trx, threadId } = thread;
  await thread.delete('thread_files', { path });
  const parent = parentOf(path);
  if (parent === '/' || (await hasChildren(thread, parent))) return;
  if ((await findFileRow(trx, threadId, parent))?.kind === 'implied') await removeRow(thread, parent);
}

async function hasChildren(thread: ThreadTransaction, path: string): Promise<boolean> {
  return thread.has('thread_files', { parent: path });
}

/** The part of a transaction that the tree needs; also available for a thread that has no row yet. */
export type TreePlace = Pick<ThreadTransaction, 'trx' | 'threadId' | 'now'>;

/** Rows for the missing directories above a path. Throws if a file is in the way. */
export async function missingParents(thread: TreePlace, path: string): Promise<ThreadFileTable[]> {
  const above = ancestorsOf(path);
  if (above.length === 0) return [];
  const found = await selectRows(thread.trx, 'thread_files', { thread_id: thread.threadId })
    .select(FILE_COLUMNS)
    .where('path', 'in', above)
    .execute();
  const inTheWay = found.find(({ kind }) => kind === 'file');
  if (inTheWay) throw conflict(`not a directory: ${inTheWay.path}`);
  const known = new Set(found.map((row) => row.path));
  return above.filter((parent) => !known.has(parent)).map((parent) => toDirectory(thread, parent, 'implied'));
}

function toDirectory(
  { threadId, now }: TreePlace,
  path: string,
  kind: 'directory' | 'implied',
): ThreadFileTable {
  return {
    thread_id: threadId,
    path,
    parent: parentOf(path),
    kind,
    mime_type: DIRECTORY_TYPE,
    size: 0,
    blob_id: null,
    metadata: null,
    width: null,
    height: null,
    thumbnail: null,
    created_at: now,
    updated_at: now,
  };
}

/** Throws `LimitExceeded` if the thread cannot have this many more entries or bytes. */
export async function requireRoom(
  { trx, threadId }: TreePlace,
  more: { readonly entries: number; readonly bytes: number },
): Promise<void> {
  const { count, size } = await trx
    .selectFrom('thread_files')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.sum<number | string | null>('size').as('size'),
    ])
    .where('thread_id', '=', threadId)
    .executeTakeFirstOrThrow();
  if (more.entries > 0 && count + more.entries > LIMITS.filesPerThread) {
    throw new RuntimeError(
      'LimitExceeded',
      `Thread "${threadId}" cannot have more than ${LIMITS.filesPerThread} files and directories.`,
    );
  }
  if (more.bytes > 0 && Number(size) + more.bytes > LIMITS.threadFileBytes) {
    throw new RuntimeError(
      'LimitExceeded',
      `The files of thread "${threadId}" cannot have more than ${LIMITS.threadFileBytes} bytes in all.`,
    );
  }
}

export function conflict(message: string): RuntimeError {
  return new RuntimeError('FileConflict', message);
}

function at({ trx, threadId }: ThreadTransaction, path: string) {
  return trx.updateTable('thread_files').where('thread_id', '=', threadId).where('path', '=', path);
}

export const FILE_COLUMNS = [
  'path',
  'kind',
  'mime_type',
  'size',
  'blob_id',
  'metadata',
  'width',
  'height',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ThreadFileTable)[];

export type FileRow = Pick<Selectable<ThreadFileTable>, (typeof FILE_COLUMNS)[number]>;

export function toFileRecord(row: FileRow): FileRecord {
  const { size } = row;
  const chunkCount = countChunks(size);
  return {
    path: row.path,
    name: nameOf(row.path),
    mimeType: row.mime_type,
    storage: 'local',
    size,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata),
    isDirectory: row.kind !== 'file',
    createdAt: toMilliseconds(row.created_at),
    updatedAt: toMilliseconds(row.updated_at),
    width: row.width ?? undefined,
    height: row.height ?? undefined,
    ...(chunkCount > 1 ? { isChunked: true, chunkCount } : {}),
  };
}

/** `/` exists as soon as the thread does, and has no row. */
export function rootRecord(createdAt: number): FileRecord {
  const at = toMilliseconds(createdAt);
  return {
    path: '/',
    name: '/',
    mimeType: DIRECTORY_TYPE,
    storage: 'local',
    size: 0,
    metadata: null,
    isDirectory: true,
    createdAt: at,
    updatedAt: at,
  };
}

function toMilliseconds(microseconds: number): number {
  return Math.floor(microseconds / 1000);
}

export async function findFileRow(
  db: Kysely<Tables>,
  threadId: string,
  path: string,
): Promise<FileRow | undefined> {
  return findRow(db, 'thread_files', { thread_id: threadId, path }, FILE_COLUMNS);
}
