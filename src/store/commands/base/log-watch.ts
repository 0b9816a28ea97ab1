/**
 * Wakes readers that wait for a thread's log to grow. One poll serves all of them, whatever their number.
 * G1. A waiter states the sequence number up to which it has read, so a poll also finds earlier writes. A missing hint
 *     leaves no waiter hanging.
 * G2. A hint, given by a commit of this process, only makes the next poll come sooner.
 * G3. A poll that fails wakes all waiters: each then reads for itself and gets the error.
 * G4. Without waiters there are no polls.
 * G5. While no log grows and no waiter comes, polls are rare. Growth, or a new waiter, makes them frequent again,
 *     including a poll that is already due.
 */
import type { Kysely } from 'kysely';
import { defer } from '../../../core/value/deferred.ts';
import type { AwaitGrowth } from '../../port/event.ts';
import type { Tables } from '../../schema/tables.ts';

/** How often to poll. */
export interface Pace {
  /** Milliseconds between polls; adds to a reader's lag if another process writes. */
  readonly everyMs: number;
  /** Milliseconds without growth and without new waiters, after which polls become rare. */
  readonly quietAfterMs: number;
  readonly quietEveryMs: number;
}

/** `quietAfterMs` is longer than most models take for their first token. */
const PACE: Pace = { everyMs: 25, quietAfterMs: 10_000, quietEveryMs: 250 };
/** Most ids in one statement. */
const IDS = 500;

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}

export class LogWatch {
  readonly #db: Kysely<Tables>;
  readonly #pace: Pace;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking = false;
  #hinted = false;
  /** When a log last grew or a waiter last came, by a monotonic clock. */
  #lively = 0;
  /** True if a waiter has come since the last poll began. */
  #quick = false;
  #closed = false;

  constructor(db: Kysely<Tables>, pace = PACE) {
    this.#db = db;
    this.#pace = pace;
  }

  readonly wait = (
    threadId: string,
    after: number,
    { signal, withinMs }: AwaitGrowth = {},
  ): Promise<void> => {
    if (this.#closed || signal?.aborted) return Promise.resolve();
    const { promise, resolve } = defer<void>();
    let late: ReturnType<typeof setTimeout> | undefined;
    const wake = () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', wake);
      this.#forget(threadId, waiter);
      resolve();
    };
    const waiter: Waiter = { after, wake };
    signal?.addEventListener('abort', wake, { once: true });
    if (withinMs !== undefined) late = setTimeout(wake, withinMs);
    const here = this.#waiters.get(threadId) ?? new Set();
    this.#waiters.set(threadId, here.add(waiter));
    this.#quicken();
    return promise;
  };

  /** G2: the log of this thread has grown in a transaction that has committed. */
  hint(threadId: string): void {
    if (!this.#waiters.has(threadId)) return;
    this.#hinted = true;
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  #forget(threadId: string, waiter: Waiter): void {
    const here = this.#waiters.get(threadId);
    here?.delete(waiter);
    if (here?.size === 0) this.#waiters.delete(threadId);
    // G4: a poll that is due is cancelled too.
    if (this.#waiters.size === 0) this.#cancelLook();
  }

  /** G5: a rare poll that is due is replaced by an early one. */
  #quicken(): void {
    if (this.#isQuiet) this.#cancelLook();
    this.#lively = performance.now();
    this.#quick = true;
    this.#arm();
  }

  get #isQuiet(): boolean {
    return !this.#quick && performance.now() - this.#lively >= this.#pace.quietAfterMs;
  }

  #cancelLook(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    if (this.#looking || this.#waiters.size === 0 || (this.#timer && !this.#hinted)) return;
    clearTimeout(this.#timer);
    const { everyMs, quietEveryMs } = this.#pace;
    const pause = this.#isQuiet ? quietEveryMs : everyMs;
    this.#timer = setTimeout(() => void this.#look(), this.#hinted ? 0 : pause);
    this.#hinted = false;
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#looking = true;
    this.#quick = false;
    try {
      const ids = [...this.#waiters.keys()];
      for (let at = 0; at < ids.length; at += IDS) this.#tell(await this.#read(ids.slice(at, at + IDS)));
    } catch {
      // G3: each waiter gets the error from its own read.
      this.#wakeAll();
    } finally {
      this.#looking = false;
      this.#arm();
    }
  }

  #read(ids: readonly string[]) {
    return this.#db.selectFrom('threads').select(['id', 'event_seq']).where('id', 'in', ids).execute();
  }

  #tell(found: readonly { readonly id: string; readonly event_seq: number }[]): void {
    for (const { id, event_seq: last } of found)
      for (const { after, wake } of [...(this.#waiters.get(id) ?? [])])
        if (Number(last) > after) {
          this.#lively = performance.now();
          wake();
        }
  }

  #wakeAll(): void {
    for (const here of [...this.#waiters.values()]) for (const { wake } of [...here]) wake();
  }
}
