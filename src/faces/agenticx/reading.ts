/**
 * Turns and tasks that are read. Where their callers gave them no ids, one reader of this machine has each: a lock, which
 * ends with its process in any way, tells the living readers from the lost ones.
 */
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryFileLock } from '../../store/sqlite/file-lock.ts';
import type { ThreadStore } from '../../store/store.ts';

/** A turn or a task that this process reads, until it is closed. */
export interface Reading {
  readonly id: string;
  close(): void;
}

/** Number of readings by id. */
const READ = new Map<string, number>();

export const isRead = (id: string): boolean => READ.has(id);

/** A reading beside others. */
export function read(id: string, release?: () => void): Reading {
  READ.set(id, (READ.get(id) ?? 0) + 1);
  const close = () => {
    const left = (READ.get(id) ?? 1) - 1;
    if (left > 0) READ.set(id, left);
    else READ.delete(id);
    release?.();
  };
  return { id, close };
}

/** Undefined if this process, or another one of this machine, reads it. */
export function tryRead({ id: store }: ThreadStore, id: string): Reading | undefined {
  if (isRead(id)) return undefined;
  const folder = join(tmpdir(), `everthread-${process.getuid?.() ?? 'user'}`, 'readings');
  const path = join(folder, hash('sha256', `${store} ${id}`));
  try {
    const release = tryFileLock(path);
    return (
      release &&
      read(id, () => {
        // While the lock is held: a process that opens the file later makes another one.
        rmSync(path, { force: true });
        release();
      })
    );
  } catch {
    // Without a folder to write to, or without SQLite, other processes are not seen.
    return read(id);
  }
}
