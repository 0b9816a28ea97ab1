/** Options of Node for programs that tests start by the hundred: the same program, loaded with less computing. */

export const PLAIN_IMPORTS = new URL('./plain-imports.mjs', import.meta.url).href.split('?')[0] as string;

export const PROGRAM_OPTIONS: readonly string[] = [
  '--import',
  PLAIN_IMPORTS,
  // As in the lanes (scripts/test.mjs): what a start makes is not collected dozens of times, by several threads side by side.
  '--single-threaded-gc',
  '--min-semi-space-size=16',
];
