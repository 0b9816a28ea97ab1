/**
 * Watches the database file of a Temporal server that this process started, because the server itself reports nothing.
 * On a full disk it rejects what it cannot store, retries and recovers by itself. If the file is removed, the server
 * continues to write to it, and those writes are lost when the server ends.
 */
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { RuntimeError } from '../core/value/error.ts';
import { hasRoom } from '../store/sqlite/disk.ts';

const CHECK_INTERVAL_MS = 1000;
/** Bytes free below which the disk counts as full: SQLite's log grows by some megabytes before it is merged. */
const MIN_FREE_BYTES = 1024 * 1024;

export interface DatabaseWatch {
  /** Fires when the file was removed or replaced; its reason is a `StoreLost`. */
  readonly lost: AbortSignal;
  close(): void;
}

/** `tell` is called when the disk becomes full, and when there is space again. */
export function watchDatabase(path: string, warn: (line: string) => void): DatabaseWatch {
  const lost = new AbortController();
  const known = statSync(path);
  let full = false;
  const timer = setInterval(() => {
    if (!isSame(known, statSync(path, { throwIfNoEntry: false }))) {
      clearInterval(timer);
      lost.abort(databaseLost(path));
      return;
    }
    if (full !== hasRoom(dirname(path), MIN_FREE_BYTES)) return;
    full = !full;
    warn(full ? fullDisk(path) : `The disk of ${path} has free space again: threads continue.`);
  }, CHECK_INTERVAL_MS).unref();
  return { lost: lost.signal, close: () => clearInterval(timer) };
}

function isSame(known: Stats, found: Stats | undefined): boolean {
  return found?.ino === known.ino && found.dev === known.dev;
}

/** The message that reports a full disk. */
export function fullDisk(path: string): string {
  return `The disk of ${path} is full (StoreFull): the Temporal server accepts no more writes, and threads wait. Free some space: nothing is lost.`;
}

function databaseLost(path: string): RuntimeError {
  return new RuntimeError(
    'StoreLost',
    `The Temporal server's database ${path} was removed or replaced while the server ran: everything it accepted from now on would be ` +
      'lost when it ends, so everything is stopped. Restore the file, with its -wal file, or start again: threads that are in the ' +
      'store continue with their next message.',
  );
}
