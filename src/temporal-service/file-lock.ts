/** Waits for a lock between processes, for installing into the shared cache and for starting a project's server. */
import { setTimeout as sleep } from 'node:timers/promises';
import { tryFileLock } from '../store/sqlite/file-lock.ts';

/** Runs `work` while this process alone holds the lock; `onWait` is called once when another holder delays it. */
export async function withFileLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let release = tryFileLock(path);
  if (!release) onWait();
  while (!release) {
    await sleep(100);
    release = tryFileLock(path);
  }
  try {
    return await work();
  } finally {
    release();
  }
}
