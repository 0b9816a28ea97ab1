/**
 * Node's options for a sandbox child. Its permission model: it reads its own code, writes nothing, starts neither
 * process nor thread, opens no inspector. That is checked in JavaScript and in Node, and the kernel's wall behind it
 * does not rely on it.
 */

import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { findReadable } from './readable.ts';

/** `threads`: where a thread of the child's own has to watch its memory. */
export function nodeOptions(main: string, threads: boolean): string[] {
  return [
    '--no-node-snapshot',
    // Without it the engine drops the check by which a running loop is ended.
    '--no-turboshaft-loop-unrolling',
    // The engine's binding does not know `import source`, and falls.
    '--no-js-source-phase-imports',
    '--max-old-space-size=256',
    '--disable-warning=SecurityWarning',
    '--disable-warning=ExperimentalWarning',
    // A signal would open a debugger's port.
    '--disable-sigusr1',
    // Databases are files, and are opened and attached past the permission model.
    '--no-experimental-sqlite',
    '--permission',
    '--allow-addons',
    ...(threads ? ['--allow-worker'] : []),
    // The addon's loader asks whether it is on Alpine.
    '--allow-fs-read=/etc/alpine-release',
    ...findReadable(main).code.map((path) => `--allow-fs-read=${isFolder(path) ? `${path}${sep}*` : path}`),
  ];
}

const isFolder = (path: string): boolean => statSync(path).isDirectory();
