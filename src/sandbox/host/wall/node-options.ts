/**
 * Node's options for a sandbox child. By Node's permission model, it reads its own code, writes nothing, starts neither
 * processes nor threads, and opens no inspector. Node itself enforces that, in JavaScript and native code; the kernel's
 * wall does not rely on it.
 */

import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { findReadable } from './readable.ts';

/** `threads`: whether a thread of the child must watch its memory. */
export function nodeOptions(main: string, threads: boolean): string[] {
  return [
    '--no-node-snapshot',
    // Otherwise the engine removes the check by which a running loop is terminated.
    '--no-turboshaft-loop-unrolling',
    // isolated-vm does not know `import source`, and would crash.
    '--no-js-source-phase-imports',
    '--max-old-space-size=256',
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
    // Otherwise a signal would open a debugger port.
    '--disable-sigusr1',
    // SQLite opens and attaches database files without the checks of the permission model.
    '--no-experimental-sqlite',
    '--permission',
    '--allow-addons',
    // A Node that knows this permission wants it for the channel; the child then drops it (`child/main.ts`).
    ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
    ...(threads ? ['--allow-worker'] : []),
    // The addon's loader reads this file to detect Alpine.
    '--allow-fs-read=/etc/alpine-release',
    ...findReadable(main).code.map((path) => `--allow-fs-read=${isFolder(path) ? `${path}${sep}*` : path}`),
  ];
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();
