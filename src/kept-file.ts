/**
 * Files that are made of the sources of a clone, and kept so that the next process need not make them again.
 * K1. A kept file belongs to exactly these sources and dependencies: its name holds a hash of them.
 * K2. It is there completely or not at all: other processes may make the same one at the same time.
 * K3. Nobody deletes what another may still need: those of other sources go when nobody has written them for a day.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const KEPT_MS = 24 * 3600_000;
const MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

export interface KeptFile {
  /** The folder in the clone's cache, for this kind of file alone. */
  readonly folder: string;
  /** Before the hash, and after it. */
  readonly name: string;
  readonly extension: '.js' | '.mjs';
  /** Absolute paths of the files and folders that it is made of. */
  readonly sources: readonly string[];
}

export interface Kept {
  readonly text: string;
  /** Unless nothing can be written there. */
  readonly path?: string;
}

/** Made first where there is none. Throws what `make` throws. */
export async function keepFile(file: KeptFile, make: () => Promise<string>): Promise<Kept> {
  const path = pathOf(file);
  if (existsSync(path)) return { text: readFileSync(path, 'utf8'), path };
  const text = await make();
  try {
    writeWhole(path, text);
    return { text, path };
  } catch {
    return { text };
  }
}

function pathOf({ folder, name, extension, sources }: KeptFile): string {
  const hash = createHash('sha256');
  // K1. Paths count too: names of sources stand in what is made of them.
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

/** K2: whole or not at all. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  removeOld(dirname(path));
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** K3: what nobody has written for a day. */
function removeOld(folder: string): void {
  for (const file of readdirSync(folder).map((name) => join(folder, name))) {
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(file, { force: true });
  }
}
