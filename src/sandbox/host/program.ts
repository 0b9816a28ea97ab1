/**
 * The program of a sandbox child: its modules linked into one file, so that a start need not find and translate some
 * hundred files. A build contains it; when run from source, it is made once and cached on disk, like the wall probe.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cacheFile } from '../../kept-file.ts';
import { SANDBOX } from './wall/readable.ts';

const EXTENSION = extname(import.meta.url);
const IS_BUILT = EXTENSION === '.js';
const inChild = (file: string): URL => new URL(`../child/${file}`, import.meta.url);
const MAIN = fileURLToPath(inChild(`main${EXTENSION}`));
/** The linked program in a build. */
export const BUILT_PROGRAM = fileURLToPath(inChild('main.linked.mjs'));
/** The program of the thread with which a child watches its own memory. */
export const WATCHDOG = fileURLToPath(inChild(`watchdog${EXTENSION}`));

const programs = new Map<string, Promise<string>>();

/** Returns the file to start for `main`: `main` itself if the linked program cannot be stored. */
export async function childProgram(main = MAIN): Promise<string> {
  if (IS_BUILT) return main === MAIN ? BUILT_PROGRAM : main;
  const known = await programs.get(main);
  if (known !== undefined && existsSync(known)) return known;
  const program = cacheProgram(main).catch(() => main);
  programs.set(main, program);
  return program;
}

async function cacheProgram(main: string): Promise<string> {
  const file = {
    folder: join('everthread', 'sandbox', 'child'),
    name: basename(main, EXTENSION),
    extension: '.mjs',
    // Code of `core` is linked into the program too.
    sources: [main, SANDBOX, join(SANDBOX, '..', 'core')],
  } as const;
  const { path } = await cacheFile(file, () => linkProgram(main));
  return path === undefined ? main : realpathSync(path);
}

/** Links everything but the engine's addon; the script for isolates is embedded as a text. */
export async function linkProgram(main = MAIN): Promise<string> {
  // Imported only here, because it is needed only once: other hosts do not load it.
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
