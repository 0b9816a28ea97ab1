/**
 * Caches files that are built from the sources of a clone, so that the next process need not build them again.
 * - A cached file belongs to exactly these sources and dependencies: its name contains a hash of them.
 * - A cached file is complete or absent, even if several processes build the same one at the same time.
 * - A file that another process may still need is not deleted: only those that were written more than a day ago are.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolders } from './store/folder/private-files.ts';

const MAX_AGE_MS = 24 * 3600_000;
const MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

export interface CachedFile {
  /** Folder in the clone's cache, for this kind of file only. */
  readonly folder: string;
  /** Part of the file name before the hash; `extension` follows it. */
  readonly name: string;
  readonly extension: '.js' | '.mjs';
  /** Absolute paths of the files and folders that it is built from. */
  readonly sources: readonly string[];
}

export interface CachedText {
  readonly text: string;
  /** Absent if nothing can be written there. */
  readonly path?: string;
}

/** Builds the file if it is not cached. Throws what `make` throws. */
export async function cacheFile(file: CachedFile, make: () => Promise<string>): Promise<CachedText> {
  const path = pathOf(file);
  if (existsSync(path)) return { text: readFileSync(path, 'utf8'), path };
  const text = await make();
  try {
    writeAtomically(path, text);
    return { text, path };
  } catch {
    return { text };
  }
}

function pathOf({ folder, name, extension, sources }: CachedFile): string {
  const hash = createHash('sha256');
  // Paths are hashed, too, since a built file contains the names of its sources.
  for (const source of [join(MODULES, '.package-lock.json'), ...sources.flatMap(listFiles)])
    hash.update(`\0${source}\0`).update(readFileSync(source));
  return join(MODULES, '.cache', folder, `${name}-${hash.digest('hex')}${extension}`);
}

function listFiles(source: string): string[] {
  if (statSync(source).isFile()) return [source];
  return readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => ['.ts', '.js'].includes(extname(file)))
    .sort()
    .map((file) => join(source, file));
}

/** Complete or absent. */
function writeAtomically(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`;
  makeFolders(dirname(path));
  removeOld(dirname(path));
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Deletes files that were written more than a day ago. */
function removeOld(folder: string): void {
  for (const file of readdirSync(folder).map((name) => join(folder, name))) {
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > MAX_AGE_MS) rmSync(file, { force: true });
  }
}
