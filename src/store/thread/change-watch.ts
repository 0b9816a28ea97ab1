/**
 * Wakes readers that wait for any thread to change. One query serves all of them, whatever their number; without waiting
 * readers there is none.
 * - A reader waits from before it lists the changes: what it does not see there wakes it.
 * - A query that fails wakes all: each then reads for itself and gets the error.
 */
import type { CommandContext } from '../transaction/context.ts';
import type { AwaitGrowth } from '../transaction/event-record.ts';
import { openWaiter } from '../transaction/waiter.ts';
import { hasChanged, type Point } from './changes.ts';

/** Milliseconds between queries: how old a change may be when a reader learns of it. */
const EVERY_MS = 250;

export class ChangeWatch {
  readonly #context: Pick<CommandContext, 'db' | 'order'>;
  readonly #waiters = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polling = false;
  /** What the last query has seen; absent before the first, which wakes whoever waits. */
  #seen: Point | undefined;
  #closed = false;

  constructor(context: Pick<CommandContext, 'db' | 'order'>) {
    this.#context = context;
  }

  readonly wait = (asked: AwaitGrowth = {}): Promise<void> => {
    if (this.#closed || asked.signal?.aborted) return Promise.resolve();
    const { promise, wake } = openWaiter(asked, () => this.#forget(wake));
    this.#waiters.add(wake);
    this.#schedule();
    return promise;
  };

  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  #forget(wake: () => void): void {
    this.#waiters.delete(wake);
    if (this.#waiters.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#polling || this.#timer || this.#waiters.size === 0) return;
    this.#timer = setTimeout(() => void this.#poll(), EVERY_MS);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    this.#polling = true;
    try {
      const { changed, now } = await hasChanged(this.#context, this.#seen);
      this.#seen = now;
      if (changed) this.#wakeAll();
    } catch {
      // Each waiter gets the error from its own read.
      this.#wakeAll();
    } finally {
      this.#polling = false;
      this.#schedule();
    }
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiters]) wake();
  }
}
