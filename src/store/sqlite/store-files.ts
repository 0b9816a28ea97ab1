/**
 * Whether the files behind an open connection are still the store: SQLite goes on reading and writing what was unlinked,
 * and all of that is gone with the process.
 * F1. Asked before anything is read, and after each commit before anybody is told of it: nothing is accepted that is lost.
 * F2. A file that became shorter was cut, unless somebody moved its log into the database or gave free pages back: a second
 *     connection of SQLite, which has no cached pages, decides.
 * F3. What was lost or damaged stays so for this process; every later command is answered alike.
 * F4. Nothing here opens the files themselves: POSIX ends a process's locks on a file with the first handle that it closes.
 */
import { statSync } from 'node:fs';
import { isRuntimeError } from '../../core/value/error.ts';
import { openDatabase } from './engine.ts';
import { explainSqlite, storeCorrupt, storeLost } from './error.ts';

/** The log and its index are beside the database for as long as a connection is open. */
const SUFFIXES = ['', '-wal', '-shm'] as const;
const LOOK_EVERY_MS = 1000;

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

  /** Fires when the store can be used no more (F3); its reason is the error. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The files as they are now, a connection having just read from them, are the store; from now on also looked at unasked. */
  remember(): void {
    this.#known = SUFFIXES.map((suffix) => {
      const path = this.#path + suffix;
      const { dev: device, ino: inode, size } = statSync(path);
      return { path, device, inode, size };
    });
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
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

  /** What SQLite said, for callers; what cannot heal ends the store (F3). */
  explain(error: unknown): unknown {
    const explained = explainSqlite(error, this.#path);
    const final = isRuntimeError(explained, 'StoreLost') || isRuntimeError(explained, 'StoreCorrupt');
    return final ? this.#end(explained) : explained;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    try {
      this.check();
    } catch {
      // Whoever listens to `ended` has been told.
      this.close();
    }
  }

  /** F2: a shorter file may be a cut one. */
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
