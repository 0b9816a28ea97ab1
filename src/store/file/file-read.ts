/**
 * Reads of a thread's files. No read waits for a writer, and an unknown thread has no files.
 *
 * findFiles and grepFiles (definitions §18), over the names and the texts of one thread. Names are read in pages, so
 * that the event loop is not blocked, and sorted here, since engines order texts differently.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { parseFilePath } from '../../core/file/file-path.ts';
import { compileGlob } from '../../core/file/glob.ts';
import { isTextType } from '../../core/file/mime-type.ts';
import type {
  FileRecord,
  FileStats,
  FindResult,
  GrepResult,
  ReaddirResult,
} from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type PatternSearch, withPatternSearch } from '../search/pattern-search.ts';
import type { FoundLines } from '../search/protocol.ts';
import { type CommandContext, inSnapshot } from '../transaction/context.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { countChunks } from './blob.ts';
import { isReplaced, readChunks } from './file-content.ts';
import type { FileChunkRef, OpenedFile } from './file-record.ts';
import { conflict, FILE_COLUMNS, type FileRow, findFileRow, rootRecord, toFileRecord } from './file-tree.ts';

/** Null if there is nothing at the path. The root directory exists as soon as the thread does. */
export async function statFile(
  context: CommandContext,
  threadId: string,
  given: string,
): Promise<FileRecord | null> {
  const path = parseFilePath(given);
  if (path === '/') {
    const thread = await findRow(context.db, 'threads', { id: threadId }, ['created_at']);
    return thread ? rootRecord(thread.created_at) : null;
  }
  const row = await findFileRow(context.db, threadId, path);
  return row ? toFileRecord(row) : null;
}

/** Entries of a directory: directories first, then files, each sorted by name. */
export async function readdirFile(
  context: CommandContext,
  threadId: string,
  given: string,
): Promise<ReaddirResult> {
  const path = parseFilePath(given);
  const rows = await inSnapshot(context, async (trx) => {
    const itself = path === '/' ? undefined : await findFileRow(trx, threadId, path);
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
  const row = await findFileRow(db, threadId, parseFilePath(given));
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

const PAGE_SIZE = 500;

/** Paths that match a glob, sorted, up to `LIMITS.foundFiles`. */
export async function findFiles(
  context: CommandContext,
  threadId: string,
  pattern: string,
): Promise<FindResult> {
  const matches = compileGlob(requirePattern(pattern));
  const paths = await listPaths(context, threadId, ({ path }) => matches(path));
  return { paths: paths.slice(0, LIMITS.foundFiles) };
}

/**
 * Lines that match a regular expression, file by file, sorted by path. Rejects with `Timeout` if the pattern computes
 * too long.
 */
export async function grepFiles(
  context: CommandContext,
  threadId: string,
  pattern: string,
): Promise<GrepResult[]> {
  requirePattern(pattern);
  const paths = await listPaths(
    context,
    threadId,
    ({ mime_type: type, size }) => size > 0 && isTextType(type),
  );
  if (paths.length === 0) return [];
  return withPatternSearch(pattern, async (search) => {
    const results: GrepResult[] = [];
    for (const path of paths) {
      const result = await grepFile(context, threadId, path, search);
      if (result) results.push(result);
      if (results.length === LIMITS.foundFiles) break;
    }
    return results;
  });
}

/** Starts again if the file is replaced in the meantime. */
async function grepFile(
  context: CommandContext,
  threadId: string,
  path: string,
  search: PatternSearch,
): Promise<GrepResult | undefined> {
  for (;;) {
    const file = await openFile(context, threadId, path);
    if (!file) return undefined;
    try {
      const found = await searchContent(context, threadId, file, search);
      return found && found.matches.length > 0
        ? { path, name: file.record.name, matches: found.matches, lineNumbers: found.lineNumbers }
        : undefined;
    } catch (error) {
      if (!isReplaced(error)) throw error;
      // Ends the file in the search: its beginning must not be joined to the next one.
      await search.take(new Uint8Array(0), true);
    }
  }
}

async function searchContent(
  context: CommandContext,
  threadId: string,
  file: OpenedFile,
  search: PatternSearch,
): Promise<FoundLines | null> {
  const reader = { files: { readChunk: readFileChunk.bind(null, context) } };
  let found: FoundLines | null = null;
  for await (const { data, isLast } of readChunks(reader, threadId, file))
    found = await search.take(data, isLast);
  return found;
}

function requirePattern(pattern: string): string {
  if (typeof pattern !== 'string') throw new RuntimeError('InvalidValue', 'A pattern must be a string.');
  if (pattern.length <= LIMITS.patternChars) return pattern;
  throw new RuntimeError('LimitExceeded', `A pattern can have at most ${LIMITS.patternChars} characters.`);
}

interface Candidate {
  readonly path: string;
  readonly mime_type: string;
  readonly size: number;
}

/** Paths of the files for which `wanted` is true, sorted. */
async function listPaths(
  { db }: CommandContext,
  threadId: string,
  wanted: (file: Candidate) => boolean,
): Promise<string[]> {
  const paths: string[] = [];
  for (let after = ''; ; ) {
    const page = await selectRows(db, 'thread_files', { thread_id: threadId, kind: 'file' })
      .select(['path', 'mime_type', 'size'])
      .where('path', '>', after)
      .orderBy('path')
      .limit(PAGE_SIZE)
      .execute();
    for (const file of page) if (wanted(file)) paths.push(file.path);
    const last = page.at(-1);
    if (!last || page.length < PAGE_SIZE) break;
    after = last.path;
    await breathe();
  }
  return paths.sort();
}
