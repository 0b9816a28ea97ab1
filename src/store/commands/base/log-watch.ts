/**
 * Wakes those who wait for a thread's log to grow: one look for all of them, whatever their number.
 * G1. What counts is how far the log is, not that somebody has told of it: who waits names the number up to which it has read, and a look
 *     finds what was written before the wait began as well. So nobody hangs for want of a hint.
 * G2. A hint, from a commit of this process, only makes the look come sooner.
 * G3. A look that fails wakes all: each reads for itself, and meets what is wrong.
 * G4. While nobody waits, nothing is asked.
 * G5. While nothing grows and nobody comes, looks are rare. Whatever happens makes them quick again, the one that is due as well.
 */
import type { Kysely } from 'kysely';
import { defer } from '../../../core/value/deferred.ts';
import type { AwaitGrowth } from '../../port/event.ts';
import type { Tables } from '../../schema/tables.ts';

/** Of the looks. */
export interface Pace {
  /** Between them: what a reader's lag has in it where another process writes. */
  readonly everyMs: number;
  /** After so long without growth and without anybody new. */
  readonly quietAfterMs: number;
  readonly quietEveryMs: number;
}

/** Longer than most models take for their first word. */
const PACE: Pace = { everyMs: 25, quietAfterMs: 10_000, quietEveryMs: 250 };
/** Ids in one statement. */
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
  /** When something has happened last, by a monotonic clock. */
  #lively = 0;
  /** Somebody has come since the last look began. */
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

  /** G2: of a thread whose log has grown in a transaction that is over. */
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
    // G4: also no look that is due.
    if (this.#waiters.size === 0) this.#cancelLook();
  }

  /** G5: a rare look that is due gives place to a quick one. */
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
      // G3: what is wrong is told by what they read.
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
