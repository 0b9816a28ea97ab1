/**
 * findFiles and grepFiles (definitions §18), over the names and the texts of one thread. Names are read in pages, so
 * that the event loop is not blocked, and sorted here, since engines order texts differently.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { compileGlob } from '../../core/file/glob.ts';
import { isTextType } from '../../core/file/mime-type.ts';
import type { FindResult, GrepResult } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { type PatternSearch, withPatternSearch } from '../search/pattern-search.ts';
import type { FoundLines } from '../search/protocol.ts';
import type { CommandContext } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import { isReplaced, readChunks } from './file-content.ts';
import { openFile, readFileChunk } from './file-read.ts';
import type { OpenedFile } from './file-record.ts';

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
