/** Node options for programs that tests start by the hundred: the same program, loaded with less computing. */
import { isLong } from './long-form.ts';

export const PLAIN_IMPORTS = new URL('./plain-imports.mjs', import.meta.url).href.split('?')[0] as string;

/** For programs that work for minutes. */
export const LASTING_OPTIONS: readonly string[] = [
  '--import',
  PLAIN_IMPORTS,
  // As for the lanes (scripts/test.mjs): avoids dozens of parallel garbage collections while a program starts.
  '--single-threaded-gc',
  '--min-semi-space-size=16',
];

/**
 * Most programs end before optimised code has paid for its compilation: without it, files that start and kill workers
 * compute up to a twelfth less. In the long forms programs last.
 */
export const PROGRAM_OPTIONS: readonly string[] = [
  ...LASTING_OPTIONS,
  ...(isLong ? [] : ['--no-opt', '--no-maglev']),
];
