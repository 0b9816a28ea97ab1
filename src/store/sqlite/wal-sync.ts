/**
 * Waits until SQLite's write-ahead log is on the disk, so that what was committed survives a power cut.
 * SQLite can do this itself (`synchronous = full`), but then each commit blocks the thread until the disk answers,
 * and no two commits share one wait. Under `normal` it writes the same log and leaves the waiting to us.
 * Y1. A wait ends with a sync that began after it: one that ran already may have missed what was just committed.
 * Y2. Whoever waits while a sync runs shares the next one.
 */
import { type FileHandle, open } from 'node:fs/promises';

export class WalSync {
  readonly #path: string;
  #file: FileHandle | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `path`: the database's; its log is beside it, for as long as a connection is open. */
  constructor(path: string) {
    this.#path = `${path}-wal`;
  }

  /** Rejects when the disk does. */
  wait(): Promise<void> {
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#running = this.#sync();
        return this.#running;
      });
    return this.#next;
  }

  async #sync(): Promise<void> {
    // Writable, because Windows syncs no other handle.
    this.#file ??= await open(this.#path, 'r+');
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#running.catch(() => undefined);
    await this.#file?.close();
  }
}
