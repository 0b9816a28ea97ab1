/** Node options for programs that tests start by the hundred: the same program, loaded with less computing. */

export const PLAIN_IMPORTS = new URL('./plain-imports.mjs', import.meta.url).href.split('?')[0] as string;

export const PROGRAM_OPTIONS: readonly string[] = [
  '--import',
  PLAIN_IMPORTS,
  // As for the lanes (scripts/test.mjs): avoids dozens of parallel garbage collections while a program starts.
  '--single-threaded-gc',
  '--min-semi-space-size=16',
];
