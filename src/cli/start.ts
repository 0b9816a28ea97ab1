/**
 * The first file of the command: chooses what `main` is loaded from. In a package, a command that needs only the store
 * is loaded from the bundle that the build makes of `main` and these commands, because Node takes a millisecond for
 * each file and a store has 500 of them. Every other command loads projects or Temporal, and so the files that they
 * share.
 * S5. A process loads only the bundle or only the files: modules with state, such as `secret-environment`, exist once.
 */
import { existsSync } from 'node:fs';
import { namedCommands } from './command-table.ts';
import { enableCodeCache } from './compile-cache.ts';

const EXIT_GRACE_MS = 1_000;
const BUNDLE = new URL('./reader/main.js', import.meta.url);

/** `argv` without node and script. Resolves to the exit code. */
export async function start(argv: string[]): Promise<number> {
  // Before everything whose compiled form is cached.
  enableCodeCache();
  const { main } = await loadMain(argv);
  const code = await main(argv);
  // What the project's files have opened must not keep the process of a command that is done.
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
  return code;
}

function loadMain(argv: string[]): Promise<typeof import('./main.ts')> {
  const reads = namedCommands(argv).at(-1)?.reads === true;
  return reads && existsSync(BUNDLE) ? import(BUNDLE.href) : import('./main.ts');
}
