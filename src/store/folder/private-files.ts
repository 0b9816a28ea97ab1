/**
 * Files and folders that only their owner may read, whatever the umask: a store and a project's `.everthread` contain
 * what users said to agents.
 * - What is created here is private from the start; an existing file with wider rights is narrowed.
 * - Rights are only ever taken away, from group and others. Links in a folder are not followed, and files of another
 *   owner stay unchanged. On Windows, which has no such rights, nothing happens.
 */
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;

/**
 * Creates the folder with those above it. One by one: Node's recursive way never ends where a folder refuses others with
 * ENOENT, as /proc does.
 */
export function makeFolders(folder: string, mode?: number): void {
  const exists = () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (exists()) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it.
    if (!exists()) throw error;
  }
}

/** Creates the folder if needed. Returns what was narrowed: the folder itself, and everything in it. */
export function makePrivateFolder(folder: string): string[] {
  makeFolders(folder, PRIVATE_FOLDER);
  // The folder itself may be a link to another disk, which is followed.
  return [...narrow(folder, statSync), ...narrowContent(folder)];
}

/** Creates the file unless it exists. True if an existing file has been narrowed. */
export function makePrivateFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return narrowFile(path);
  }
}

export function narrowFile(path: string): boolean {
  return narrow(path, statSync).length > 0;
}

function narrowContent(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) return [];
    return [...narrow(path, lstatSync), ...(entry.isDirectory() ? narrowContent(path) : [])];
  });
}

function narrow(path: string, stat: (path: string) => { readonly mode: number }): string[] {
  if (process.platform === 'win32') return [];
  try {
    const { mode } = stat(path);
    if ((mode & OTHERS) === 0) return [];
    chmodSync(path, mode & 0o7777 & ~OTHERS);
    return [path];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file is gone, has another owner, or is on a disk that cannot be written to.
    if (code === 'ENOENT' || code === 'EPERM' || code === 'EROFS') return [];
    throw error;
  }
}
