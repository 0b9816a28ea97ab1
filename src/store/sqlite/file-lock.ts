/**
 * A lock between processes of a machine.
 *
 * It is SQLite's lock on an empty database file: the operating system releases it when its holder ends in any way, so
 * there are no stale locks to detect and no lock is ever stolen from a slow holder. (A lock file with a process id has
 * both problems.)
 */
import { dirname } from 'node:path';
import { makeFolders, makePrivateFile } from '../folder/private-files.ts';
import { openDatabase } from './engine.ts';

/** SQLite's SQLITE_BUSY: another process holds the lock. */
const SQLITE_BUSY = 5;

/** Returns the function that releases the lock; undefined if it is held. */
export function tryFileLock(path: string): (() => void) | undefined {
  makeFolders(dirname(path), 0o700);
  makePrivateFile(path);
  const lock = openDatabase(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
