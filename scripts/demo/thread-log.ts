/**
 * The thread's event log as one reader sees it live, across every crash: kept completely, shown as it arrives, and awaited.
 * Reads the store, so it goes on while no worker runs.
 */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';

interface Waiter {
  /** Returns true if it has found what it waits for. */
  look(): boolean;
  fail(error: unknown): void;
}

export class ThreadLog {
  readonly events: ThreadEvent[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #end = new AbortController();
  readonly #following: Promise<void>;

  constructor(
    client: RuntimeClient,
    threadId: string,
    onEvent: (event: ThreadEvent) => Promise<void> | void,
  ) {
    this.#following = this.#follow(client.events(threadId, { signal: this.#end.signal }), onEvent);
    this.#following.catch(() => undefined);
  }

  async #follow(
    events: AsyncIterable<ThreadEvent>,
    onEvent: (event: ThreadEvent) => Promise<void> | void,
  ): Promise<void> {
    try {
      for await (const event of events) {
        this.events.push(event);
        for (const waiter of this.#waiters) waiter.look();
        await onEvent(event);
      }
    } catch (error) {
      for (const waiter of this.#waiters) waiter.fail(error);
      throw error;
    }
  }

  /**
   * Resolves to the first result of `find` that is not undefined; `find` is called again at each event. Rejects after
   * `timeoutMs`, naming `what`.
   */
  until<T>(
    what: string,
    find: (events: readonly ThreadEvent[]) => T | undefined,
    timeoutMs: number,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): boolean => {
      const found = find(this.events);
      if (found !== undefined) resolve(found);
      return found !== undefined;
    };
    const waiter: Waiter = { look, fail: reject };
    const timer = setTimeout(
      () => reject(new Error(`Not within ${timeoutMs / 1000} s: ${what}.`)),
      timeoutMs,
    );
    if (!look()) this.#waiters.add(waiter);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    });
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#following.catch(() => undefined);
  }
}
