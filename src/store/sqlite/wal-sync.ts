/**
 * Waits until SQLite's write-ahead log is on the disk, so that what was committed survives a power cut.
 * SQLite can do this itself (`synchronous = full`), but then each commit blocks the thread until the disk answers,
 * and no two commits share one wait. Under `normal` it writes the same log and leaves the waiting to us.
 * Y1. A wait ends with a sync that began after it: one that ran already may have missed what was just committed.
 * Y2. Whoever waits while a sync runs shares the next one.
 * Y3. A quick disk is waited for in place: to hand a sync to another thread and to hear of its end costs more than the sync. A slow
 *     one would block this thread, so after a slow sync many go to another thread before one is tried in place again.
 */
import { fdatasyncSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A sync in place that takes longer is slow. */
const SLOW_MS = 1;
const ELSEWHERE_AFTER_SLOW = 200;

export class WalSync {
  readonly #path: string;
  #file: FileHandle | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Syncs that go to another thread before one is tried in place. */
  #elsewhere = 0;

  readonly #now: () => number;

  /** `path`: the database's; its log is beside it, for as long as a connection is open. `now`: milliseconds. */
  constructor(path: string, now = () => performance.now()) {
    this.#path = `${path}-wal`;
    this.#now = now;
  }

  /** Rejects when the disk does. */
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
      // Writable, because Windows syncs no other handle.
      this.#file ??= await open(this.#path, 'r+');
      await this.#file.datasync();
    } finally {
      this.#elsewhere = Math.max(0, this.#elsewhere - 1);
      this.#running = undefined;
    }
  }

  /** Y3: on a quick disk. */
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
