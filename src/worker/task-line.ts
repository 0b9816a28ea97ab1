/**
 * The activity tasks of one native worker on their way to the SDK, which asks for one after another. Some may be held back, and
 * others put in between: so work is cancelled sooner, or later, than the native worker says.
 */
import type { NativeWorkerLike } from '@temporalio/worker/lib/worker.js';

type Poll = NativeWorkerLike['pollActivityTask'];

export class TaskLine {
  readonly #poll: Poll;
  readonly #passes: (task: Buffer) => boolean;
  readonly #ready: Buffer[] = [];
  #taker: PromiseWithResolvers<Buffer> | undefined;
  #polling = false;

  /** What does not pass is for the caller to keep. */
  constructor(poll: Poll, passes: (task: Buffer) => boolean) {
    this.#poll = poll;
    this.#passes = passes;
  }

  /** In place of the native worker's. */
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

  /** One poll at a time; it goes on while what was put in between is handled. */
  async #fetch(): Promise<void> {
    this.#polling = true;
    try {
      while (this.#taker) {
        const task = await this.#poll();
        if (this.#passes(task)) this.put(task);
      }
    } catch (error) {
      // Without a taker the next poll says it again.
      this.#taker?.reject(error);
      this.#taker = undefined;
    } finally {
      this.#polling = false;
    }
  }
}
