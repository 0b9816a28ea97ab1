/**
 * A SQLite store whose power can be cut. Its simulated disk holds two copies: of the database as it was opened, and of
 * its log as it was when the last completed sync began. A cut opens a store on these two alone. It replaces both forms
 * of `fdatasync` that Node offers, so it shows which sync each answer waits for, and in what order. It shows neither
 * what a disk does with a sync, nor SQLite's own syncs of the database file (the log stays too short for them).
 */
import fs, { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { TEST_KEYS } from './env-keys.ts';

type Sync = FileHandle['datasync'];
const SLOW_MS = 10;

export class CutStore {
  readonly store: ThreadStore;
  readonly #folder: string;
  readonly #restore: () => void;
  #log: Buffer;
  #held: PromiseWithResolvers<void> | undefined;
  #begun: PromiseWithResolvers<void> | undefined;
  #cuts = 0;
  syncs = 0;
  /** True simulates a slow disk, whose syncs are not waited for in place (wal-sync.ts, Y3). */
  slow = false;

  private constructor(store: ThreadStore, folder: string, prototype: { datasync: Sync }) {
    this.store = store;
    this.#folder = folder;
    copyFileSync(join(folder, 'store.db'), join(folder, 'disk.db'));
    this.#log = this.#readLog();
    const { datasync } = prototype;
    const sync = () => this.#sync();
    prototype.datasync = async function (this: FileHandle) {
      await sync();
      await datasync.call(this);
    };
    const { fdatasyncSync } = fs;
    fs.fdatasyncSync = (descriptor) => {
      this.syncs += 1;
      const log = this.#readLog();
      fdatasyncSync(descriptor);
      if (this.slow) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_MS);
      this.#log = log;
    };
    syncBuiltinESMExports();
    this.#restore = () => {
      prototype.datasync = datasync;
      fs.fdatasyncSync = fdatasyncSync;
      syncBuiltinESMExports();
    };
  }

  static async open(folder: string): Promise<CutStore> {
    mkdirSync(folder, { recursive: true });
    // All file handles share one prototype, which Node does not export.
    const handle = await open(join(folder, 'any'), 'w');
    const prototype = Object.getPrototypeOf(handle) as { datasync: Sync };
    await handle.close();
    const store = await openStore('sqlite:store.db', folder, { keys: TEST_KEYS });
    return new CutStore(store, folder, prototype);
  }

  /** Holds syncs: they end once `letGo` is called. On a slow disk only: a sync in place cannot be held. */
  hold(): { begun: Promise<void>; letGo(): void } {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    [this.#held, this.#begun] = [held, begun];
    const letGo = () => {
      this.#held = undefined;
      held.resolve();
    };
    return { begun: begun.promise, letGo };
  }

  /** Opens the store as it would be if the power were cut now; the caller closes it. */
  async afterCut(): Promise<ThreadStore> {
    const name = `cut-${++this.#cuts}.db`;
    copyFileSync(join(this.#folder, 'disk.db'), join(this.#folder, name));
    writeFileSync(join(this.#folder, `${name}-wal`), this.#log);
    return openStore(`sqlite:${name}`, this.#folder, { keys: TEST_KEYS });
  }

  async close(): Promise<void> {
    this.#restore();
    await this.store.close();
  }

  async #sync(): Promise<void> {
    this.syncs += 1;
    const log = this.#readLog();
    this.#begun?.resolve();
    await this.#held?.promise;
    this.#log = log;
  }

  #readLog(): Buffer {
    const path = join(this.#folder, 'store.db-wal');
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  }
}
