/**
 * The folder `.everthread` of a project: what Everthread stores there (store, keys, Temporal's database, logs, locks)
 * is for its owner only.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from './private-files.ts';

/** The folder for what Everthread keeps in a project. */
export function projectFolder(projectDir: string): string {
  return join(projectDir, '.everthread');
}

/** Creates the folder, and narrows what was open to others. `tell` receives a line if anything was narrowed. */
export function makeProjectFolder(projectDir: string, warn?: (line: string) => void): string {
  const folder = projectFolder(projectDir);
  const { length } = makePrivateFolder(folder);
  if (length > 0) {
    warn?.(
      `${folder} was accessible to other users of this machine (${length === 1 ? 'one path' : `${length} paths`}): access is now ` +
        'restricted to its owner.',
    );
  }
  return folder;
}

/** Narrows the folder if it exists; does not create it. */
export function narrowProjectFolder(projectDir: string, warn: (line: string) => void): void {
  if (existsSync(projectFolder(projectDir))) makeProjectFolder(projectDir, warn);
}
