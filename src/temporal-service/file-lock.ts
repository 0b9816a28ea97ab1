/**
 * A lock between processes, for installing into the shared cache and for starting a project's server.
 *
 * It is SQLite's lock on an empty database file: the operating system releases it when its holder ends in any way, so
 * there are no stale locks to detect and no lock is ever stolen from a slow holder. (A lock file with a process id has
 * both problems.)
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makePrivateFile } from '../store/folder/private-files.ts';
import { openDatabase } from '../store/sqlite/engine.ts';

/** SQLite's SQLITE_BUSY: another process holds the lock. */
const SQLITE_BUSY = 5;

/** Runs `work` while this process alone holds the lock; `onWait` is called once when another holder delays it. */
export async function withFileLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivateFile(path);
  const lock = openDatabase(path, { timeout: 0 });
  try {
    for (let waited = false; !tryLock(lock); waited = true) {
      if (!waited) onWait();
      await sleep(100);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
