/**
 * Waits until SQLite's write-ahead log is on the disk, so that what was committed survives a power cut.
 * SQLite can do this itself (`synchronous = full`), but then each commit blocks the thread until the disk answers, and
 * no two commits share one wait. Under `normal` it writes the same log and leaves the waiting to us.
 * - A wait ends with a sync that began after it: one that ran already may have missed what was just committed.
 * - All waits that begin while a sync runs share the next one.
 * Y3. On a quick disk a sync runs in place, because passing it to another thread costs more than the sync. On a slow
 *     disk that would block this thread, so after a slow sync the next ELSEWHERE_AFTER_SLOW ones run in another thread.
 */
import { fdatasyncSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Milliseconds; a sync in place that takes longer is slow. */
const SLOW_MS = 1;
const ELSEWHERE_AFTER_SLOW = 200;

export class WalSync {
  readonly #path: string;
  #file: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Number of syncs that go to another thread before one is tried in place. */
  #elsewhere = 0;

  readonly #now: () => number;

  /** `path`: path of the database; its log is beside it as long as a connection is open. `now`: milliseconds. */
  constructor(path: string, now = () => performance.now()) {
    this.#path = `${path}-wal`;
    this.#now = now;
  }

  /** Resolves once what was committed before is on the disk. Rejects if the sync fails. */
  wait(): Promise<void> {
    const file = this.#file;
    const idle = this.#running === undefined && this.#next === undefined;
    if (file && idle && this.#elsewhere === 0) return this.#syncInPlace(file);
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<void> {
    await this.#running?.catch(() => undefined);
    this.#next = undefined;
    this.#running = this.#sync();
    return this.#running;
  }

  async #sync(): Promise<void> {
    try {
      // Opened for writing, because Windows syncs no other handle.
      this.#file ??= await open(this.#path, 'r+');
      await this.#file.datasync();
    } finally {
      this.#elsewhere = Math.max(0, this.#elsewhere - 1);
      this.#running = undefined;
    }
  }

  /** Y3: in place, on a quick disk. */
  async #syncInPlace(file: FileHandle): Promise<void> {
    const startedAt = this.#now();
    fdatasyncSync(file.fd);
    if (this.#now() - startedAt > SLOW_MS) this.#elsewhere = ELSEWHERE_AFTER_SLOW;
  }

  async close(): Promise<void> {
    await this.#running?.catch(() => undefined);
    await this.#file?.close();
  }
}
