/**
 * The program of a sandbox child: its modules linked into one file, so that a start neither looks for some hundred files nor
 * translates them. The build leaves it in the package; of sources it is made once, and kept. The probe of a wall starts alike.
 * P1. A kept program belongs to exactly these sources and dependencies: its name is a hash of them.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SANDBOX } from './wall/readable.ts';

const EXTENSION = extname(import.meta.url);
const IS_BUILT = EXTENSION === '.js';
const inChild = (file: string): URL => new URL(`../child/${file}`, import.meta.url);
const MAIN = fileURLToPath(inChild(`main${EXTENSION}`));
/** Beside built code, where the build has left it. */
export const BUILT_PROGRAM = fileURLToPath(inChild('main.linked.mjs'));
/** The program of the thread with which a child watches its own memory. */
export const WATCHDOG = fileURLToPath(inChild(`watchdog${EXTENSION}`));

/** Where others may still start children with it, a program of sources that are gone is kept for so long. */
const KEPT_MS = 7 * 24 * 3600_000;

const programs = new Map<string, Promise<string>>();

/** What to start for `main`: that itself where nothing can be kept. */
export async function childProgram(main = MAIN): Promise<string> {
  if (IS_BUILT) return main === MAIN ? BUILT_PROGRAM : main;
  const known = programs.get(main) ?? keepProgram(main).catch(() => main);
  programs.set(main, known);
  const path = await known;
  return existsSync(path) ? path : main;
}

async function keepProgram(main: string): Promise<string> {
  const modules = join(SANDBOX, '..', '..', 'node_modules');
  const folder = join(modules, '.cache', 'everthread', 'sandbox', 'child');
  // P1: the name of the program.
  const hash = hashFiles([join(modules, '.package-lock.json'), main, ...listSources()]);
  const path = join(folder, `${basename(main, EXTENSION)}-${hash}.mjs`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    removeOld(folder);
    writeWhole(path, await linkProgram(main));
  }
  return realpathSync(path);
}

function listSources(): string[] {
  const files = readdirSync(SANDBOX, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith(EXTENSION))
    .sort()
    .map((file) => join(SANDBOX, file));
}

function hashFiles(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/** Everything but the engine's addon; the script for isolates stands in it as a text. */
export async function linkProgram(main = MAIN): Promise<string> {
  // What it needs is needed once: no host shall load it for nothing.
  const { link } = await import('../child/link.ts');
  const { BOOT_GLOBAL, makeBootScript } = await import('../child/boot-source.ts');
  const script = JSON.stringify(makeBootScript());
  const bootSource = `exports.BOOT_GLOBAL = '${BOOT_GLOBAL}'; exports.makeBootScript = () => ${script};`;
  const linked = link(pathToFileURL(main), {
    outside: ['isolated-vm'],
    awaits: true,
    given: { [inChild(`boot-source${EXTENSION}`).href]: bootSource },
  });
  return `import { createRequire } from 'node:module';\nconst outside = createRequire(import.meta.url);\nawait ${linked};\n`;
}

/** Completely or not at all: other processes may make the same at the same time. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function removeOld(folder: string): void {
  for (const file of readdirSync(folder).map((name) => join(folder, name))) {
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(file, { force: true });
  }
}
