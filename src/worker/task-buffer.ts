/**
 * Sits between one native worker and the SDK, which polls it for activity tasks one at a time. Tasks can be held back,
 * and additional ones inserted, so that work is cancelled earlier or later than the native worker requests.
 */
import type { NativeWorkerLike } from '@temporalio/worker/lib/worker.js';

type Poll = NativeWorkerLike['pollActivityTask'];

export class TaskBuffer {
  readonly #poll: Poll;
  readonly #passes: (task: Buffer) => boolean;
  readonly #ready: Buffer[] = [];
  #taker: PromiseWithResolvers<Buffer> | undefined;
  #polling = false;

  /** A task for which `passes` returns false is dropped here; the caller keeps it if it is needed later. */
  constructor(poll: Poll, passes: (task: Buffer) => boolean) {
    this.#poll = poll;
    this.#passes = passes;
  }

  /** Replaces `pollActivityTask` of the native worker. */
  next(): Promise<Buffer> {
    const ready = this.#ready.shift();
    if (ready) return Promise.resolve(ready);
    this.#taker = Promise.withResolvers();
    const { promise } = this.#taker;
    if (!this.#polling) void this.#fetch();
    return promise;
  }

  put(task: Buffer): void {
    if (this.#taker) this.#taker.resolve(task);
    else this.#ready.push(task);
    this.#taker = undefined;
  }

  /** Polls until the taker has a task. One poll at a time; it stays open while an inserted task is handled. */
  async #fetch(): Promise<void> {
    this.#polling = true;
    try {
      while (this.#taker) {
        const task = await this.#poll();
        if (this.#passes(task)) this.put(task);
      }
    } catch (error) {
      // Without a taker the error is dropped: the next poll fails with it again.
      this.#taker?.reject(error);
      this.#taker = undefined;
    } finally {
      this.#polling = false;
    }
  }
}
