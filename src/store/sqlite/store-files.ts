/**
 * Checks whether the files of an open connection are still the store's. SQLite continues to read and write files that
 * were unlinked, and all of that is lost when the process ends.
 * - The files are checked before each read, and after each commit before it is acknowledged: no lost write is
 *   accepted.
 * - A file that became shorter may have been truncated, or SQLite may have moved its log into the database or given
 *   free pages back. A second connection of SQLite, which has no cached pages, decides.
 * - A lost or damaged store stays so for this process: every later command is refused with the same error.
 * - The files are not opened here, except by SQLite: under POSIX, a process that closes any handle of a file loses
 *   all its locks on it.
 */
import { statSync } from 'node:fs';
import { isRuntimeError } from '../../core/value/error.ts';
import { openDatabase } from './engine.ts';
import { explainSqlite, storeCorrupt, storeLost } from './error.ts';

/** The log and its index are beside the database as long as a connection is open. */
const SUFFIXES = ['', '-wal', '-shm'] as const;
const CHECK_INTERVAL_MS = 1000;

interface KnownFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  size: number;
}

export class StoreFiles {
  readonly #path: string;
  readonly #ended = new AbortController();
  #known: KnownFile[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Aborted when the store can no longer be used; its reason is the error. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /**
   * Takes the present files for the store's, since a connection has just read from them, and checks them regularly from
   * now on.
   */
  remember(): void {
    this.#known = SUFFIXES.map((suffix) => {
      const path = this.#path + suffix;
      const { dev: device, ino: inode, size } = statSync(path);
      return { path, device, inode, size };
    });
    this.#timer = setInterval(() => this.#checkFiles(), CHECK_INTERVAL_MS).unref();
  }

  /** Throws `StoreLost` or `StoreCorrupt`. */
  check(): void {
    this.#ended.signal.throwIfAborted();
    let shorter = false;
    for (const file of this.#known) {
      const found = statSync(file.path, { throwIfNoEntry: false });
      if (found?.ino !== file.inode || found.dev !== file.device)
        throw this.#end(storeLost(file.path, 'was removed or replaced'));
      shorter ||= found.size < file.size;
      file.size = found.size;
    }
    if (shorter) this.#examine();
  }

  /** Converts an error of SQLite for callers; an error that cannot heal ends the store. */
  explain(error: unknown): unknown {
    const explained = explainSqlite(error, this.#path);
    const final = isRuntimeError(explained, 'StoreLost') || isRuntimeError(explained, 'StoreCorrupt');
    return final ? this.#end(explained) : explained;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #checkFiles(): void {
    try {
      this.check();
    } catch {
      // Listeners of `ended` have been notified.
      this.close();
    }
  }

  /** A shorter file may have been truncated. */
  #examine(): void {
    try {
      const verdict = this.#known[0]?.size === 0 ? 'it is empty' : quickCheck(this.#path);
      if (verdict !== 'ok') throw storeCorrupt(this.#path, verdict);
    } catch (error) {
      throw this.explain(error);
    }
  }

  #end<Fault>(error: Fault): Fault {
    if (!this.#ended.signal.aborted) this.#ended.abort(error);
    return this.#ended.signal.reason as Fault;
  }
}

function quickCheck(path: string): unknown {
  const database = openDatabase(path, { readOnly: true });
  try {
    return Object.values(database.prepare('pragma quick_check(1)').get() ?? {})[0];
  } finally {
    database.close();
  }
}
