/**
 * Builds the package into the clone's dist/, as `npm pack` does before it packs. It is built once per state of the
 * sources, by the first test that requests it; the others wait.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFileLock } from '../../src/temporal-service/file-lock.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DIST = join(ROOT, 'dist');
const CACHE = join(ROOT, 'node_modules', '.cache', 'everthread-built');
/** The last file that the build writes. */
const LAST_FILE = join(DIST, 'cli', 'reader', 'LICENSES.txt');

/** Builds if necessary; returns the folder. */
export async function buildPackage(): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const waits = () => undefined;
  await withFileLock(join(CACHE, 'lock'), waits, async () => {
    const note = join(CACHE, 'built');
    const sources = hashSources();
    if (readNote(note) === describeBuilt(sources)) return;
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const [, ...line] = (scripts.prepack as string).split(' ');
    // The type check is skipped: a separate step checks all code.
    const env = { ...process.env, EVERTHREAD_BUILD_UNCHECKED: '1' };
    await promisify(execFile)(process.execPath, line, { cwd: ROOT, env });
    writeFileSync(note, describeBuilt(sources));
  });
  return DIST;
}

/** Identifies sources and build: a rebuild by hand changes the time of the last file. */
function describeBuilt(sources: string): string {
  return `${sources} ${statSync(LAST_FILE, { throwIfNoEntry: false })?.mtimeMs}`;
}

function readNote(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function hashSources(): string {
  const hash = createHash('sha256');
  const inFolder = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort();
  const alone = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'node_modules/.package-lock.json'];
  const builders = readdirSync(join(ROOT, 'scripts')).filter((name) => name.startsWith('build'));
  for (const file of [
    ...inFolder('src'),
    ...[...alone, ...builders.map((name) => `scripts/${name}`)].map((name) => join(ROOT, name)),
  ])
    hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}
