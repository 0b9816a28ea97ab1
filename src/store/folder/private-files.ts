/**
 * Files and folders that only their owner may read, whatever the umask: what a store and a project's `.everthread` hold is
 * what users said to agents.
 * V1. What is made here is private from its first moment; what was there with wider rights is narrowed.
 * V2. Rights are only ever taken away, from group and others. Links are not followed, and what belongs to somebody else stays
 *     as it is. Windows has no such rights: there nothing happens.
 */
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;

/** Answers what was narrowed: the folder itself, and everything in it. */
export function makePrivateFolder(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  // The folder may be a link to another disk: then that is meant.
  return [...narrow(folder, statSync), ...narrowContent(folder)];
}

/** Makes the file unless it is there. Answers whether one that was there has been narrowed. */
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
    // Gone meanwhile, or of somebody else, or on a disk that cannot be written to.
    if (code === 'ENOENT' || code === 'EPERM' || code === 'EROFS') return [];
    throw error;
  }
}
