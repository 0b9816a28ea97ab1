/**
 * The first file of the command: chooses the door. A command that reads the store alone starts, in a package, from the bundle that the build makes
 * of `main` and these commands, because Node takes a millisecond for each file and a store has 500 of them. Every other command loads projects or
 * Temporal, and so the files that they share.
 * S1. A process has one of both: modules with state, such as `secret-environment`, exist once in it.
 */
import { existsSync } from 'node:fs';
import { namedCommands } from './command-table.ts';
import { keepCompiled } from './compile-cache.ts';

const BUNDLE = new URL('./reader/main.js', import.meta.url);

/** `argv` without node and script. Resolves to the exit code. */
export async function start(argv: string[]): Promise<number> {
  // Before all that is worth keeping.
  keepCompiled();
  const { main } = await loadMain(argv);
  return main(argv);
}

function loadMain(argv: string[]): Promise<typeof import('./main.ts')> {
  const reads = namedCommands(argv).at(-1)?.reads === true;
  return reads && existsSync(BUNDLE) ? import(BUNDLE.href) : import('./main.ts');
}
