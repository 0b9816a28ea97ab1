/**
 * Wakes readers that wait for a thread's log to grow. One poll serves all of them, whatever their number.
 * - A waiter states the sequence number up to which it has read, so a poll also finds earlier writes. A missing hint
 *   leaves no waiter hanging.
 * - A hint, given by a commit of this process, only makes the next poll come sooner.
 * - A poll that fails wakes all waiters: each then reads for itself and gets the error.
 * - Without waiters there are no polls.
 * G5. While no log grows and no waiter comes, polls are rare. Growth, or a new waiter, makes them frequent again,
 *     including a poll that is already due.
 */
import type { Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { AwaitGrowth } from './event-record.ts';
import { openWaiter } from './waiter.ts';

/** How often to poll. */
interface PollPace {
  /** Milliseconds between polls; adds to a reader's lag if another process writes. */
  readonly everyMs: number;
  /** Milliseconds without growth and without new waiters, after which polls become rare. */
  readonly quietAfterMs: number;
  readonly quietEveryMs: number;
}

/** `quietAfterMs` is longer than most models take for their first token. */
const POLL_PACE: PollPace = { everyMs: 25, quietAfterMs: 10_000, quietEveryMs: 250 };
/** Most ids in one statement. */
const MAX_IDS = 500;

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}

export class LogWatch {
  readonly #db: Kysely<Tables>;
  readonly #pace: PollPace;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polling = false;
  #hinted = false;
  /** When a log last grew or a waiter last came, by a monotonic clock. */
  #lastActivity = 0;
  /** True if a waiter has come since the last poll began. */
  #quick = false;
  #closed = false;

  constructor(db: Kysely<Tables>, pace = POLL_PACE) {
    this.#db = db;
    this.#pace = pace;
  }

  readonly wait = (threadId: string, after: number, asked: AwaitGrowth = {}): Promise<void> => {
    if (this.#closed || asked.signal?.aborted) return Promise.resolve();
    const { promise, wake } = openWaiter(asked, () => this.#forget(threadId, waiter));
    const waiter: Waiter = { after, wake };
    const here = this.#waiters.get(threadId) ?? new Set();
    this.#waiters.set(threadId, here.add(waiter));
    this.#pollEarly();
    return promise;
  };

  /** The log of this thread has grown in a transaction that has committed. */
  hint(threadId: string): void {
    if (!this.#waiters.has(threadId)) return;
    this.#hinted = true;
    this.#schedulePoll();
  }

  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  #forget(threadId: string, waiter: Waiter): void {
    const here = this.#waiters.get(threadId);
    here?.delete(waiter);
    if (here?.size === 0) this.#waiters.delete(threadId);
    // A poll that is due is cancelled too.
    if (this.#waiters.size === 0) this.#cancelPoll();
  }

  /** G5: a rare poll that is due is replaced by an early one. */
  #pollEarly(): void {
    if (this.#isQuiet) this.#cancelPoll();
    this.#lastActivity = performance.now();
    this.#quick = true;
    this.#schedulePoll();
  }

  get #isQuiet(): boolean {
    return !this.#quick && performance.now() - this.#lastActivity >= this.#pace.quietAfterMs;
  }

  #cancelPoll(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedulePoll(): void {
    if (this.#polling || this.#waiters.size === 0 || (this.#timer && !this.#hinted)) return;
    clearTimeout(this.#timer);
    const { everyMs, quietEveryMs } = this.#pace;
    const pause = this.#isQuiet ? quietEveryMs : everyMs;
    this.#timer = setTimeout(() => void this.#poll(), this.#hinted ? 0 : pause);
    this.#hinted = false;
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    this.#polling = true;
    this.#quick = false;
    try {
      const ids = [...this.#waiters.keys()];
      for (let at = 0; at < ids.length; at += MAX_IDS)
        this.#wakeGrown(await this.#read(ids.slice(at, at + MAX_IDS)));
    } catch {
      // Each waiter gets the error from its own read.
      this.#wakeAll();
    } finally {
      this.#polling = false;
      this.#schedulePoll();
    }
  }

  #read(ids: readonly string[]) {
    return this.#db.selectFrom('threads').select(['id', 'event_seq']).where('id', 'in', ids).execute();
  }

  #wakeGrown(found: readonly { readonly id: string; readonly event_seq: number }[]): void {
    for (const { id, event_seq: last } of found)
      for (const { after, wake } of [...(this.#waiters.get(id) ?? [])])
        if (last > after) {
          this.#lastActivity = performance.now();
          wake();
        }
  }

  #wakeAll(): void {
    for (const here of [...this.#waiters.values()]) for (const { wake } of [...here]) wake();
  }
}
