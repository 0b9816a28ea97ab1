/** Rows of files and their records. The thumbnail, which may be large, is read only if asked for. */
import type { Kysely, Selectable } from 'kysely';
import { nameOf } from '../../core/file/file-path.ts';
import { DIRECTORY_TYPE } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import type { Tables } from '../schema/tables.ts';
import { findRow } from '../transaction/rows.ts';
import { countChunks } from './blob.ts';
import type { ThreadFileTable } from './file-table.ts';

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

export async function findEntry(
  db: Kysely<Tables>,
  threadId: string,
  path: string,
): Promise<FileRow | undefined> {
  return findRow(db, 'thread_files', { thread_id: threadId, path }, FILE_COLUMNS);
}
