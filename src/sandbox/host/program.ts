/**
 * The program of a sandbox child: its modules linked into one file, so that a start neither looks for some hundred files nor
 * translates them. The build leaves it in the package; of sources it is made once, and kept.
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
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

let program: Promise<string> | undefined;

/** The unlinked modules where nothing can be kept. */
export async function childProgram(): Promise<string> {
  program ??= IS_BUILT ? Promise.resolve(BUILT_PROGRAM) : keepProgram().catch(() => MAIN);
  const path = await program;
  return existsSync(path) ? path : MAIN;
}

async function keepProgram(): Promise<string> {
  const modules = join(SANDBOX, '..', '..', 'node_modules');
  const folder = join(modules, '.cache', 'everthread', 'sandbox', 'child');
  // P1: the name of the program.
  const path = join(folder, `main-${hashSources(join(modules, '.package-lock.json'))}.mjs`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    removeOld(folder);
    writeWhole(path, await linkProgram());
  }
  return realpathSync(path);
}

function hashSources(lockFile: string): string {
  const hash = createHash('sha256').update(SANDBOX).update(readFileSync(lockFile));
  const files = readdirSync(SANDBOX, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(SANDBOX, file)));
  return hash.digest('hex');
}

/** Everything but the engine's addon; the script for isolates stands in it as a text. */
export async function linkProgram(): Promise<string> {
  // What it needs is needed once: no host shall load it for nothing.
  const { link } = await import('../child/link.ts');
  const { BOOT_GLOBAL, makeBootScript } = await import('../child/boot-source.ts');
  const script = JSON.stringify(makeBootScript());
  const bootSource = `exports.BOOT_GLOBAL = '${BOOT_GLOBAL}'; exports.makeBootScript = () => ${script};`;
  const linked = link(inChild(`main${EXTENSION}`), {
    outside: ['isolated-vm'],
    given: { [inChild(`boot-source${EXTENSION}`).href]: bootSource },
  });
  return `import { createRequire } from 'node:module';\nconst outside = createRequire(import.meta.url);\n${linked};\n`;
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
