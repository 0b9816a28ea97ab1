/**
 * The items in line for the thread, and whether a step may take them (runtime §2, §6.4).
 * - After a stop, queued work is parked until a person or a relative sends a message.
 * P9. After a limit, the items left in line are the thread's own, and are shelved until anything comes from outside. A
 *     run that does not know of this asks the store for a step in vain, and then shelves them.
 * P10. The thread can be told to continue with nothing in line (`unprompted`). The next step receives that, and the
 *     store, which knows what is in line, decides. A later stop revokes it.
 */

import type { IncomingItem, QueueItem } from '../core/thread/item.ts';
import { ThreadQueue } from '../core/thread/queue.ts';
import type { Carried } from '../core/thread/snapshot.ts';

export class Inbox {
  readonly queue: ThreadQueue;
  #parked: boolean;
  /** P9: a limit was reached. */
  #shelved = false;
  /** True if a relative has sent a message, possibly before the run was opened. */
  #hasRelativeMessage = false;
  /** P10: to be passed to the next step. */
  #unprompted = false;
  /** Items that have come in line in the store since it last began to count: as announced at once, and spilled. */
  #announced = 0;
  #news = 0;

  /** `origin`: see ThreadQueue. */
  constructor(origin: string, { queue, parked }: Pick<Carried, 'queue' | 'parked'>) {
    this.queue = new ThreadQueue(origin, queue);
    this.#parked = parked;
  }

  get parked(): boolean {
    return this.#parked;
  }

  get shelved(): boolean {
    return this.#shelved;
  }

  /**
   * Counts how often something was put in line or announced. A caller that reads it before it asks the store can tell
   * afterwards whether anything has come since.
   */
  get news(): number {
    return this.#news;
  }

  get hasWork(): boolean {
    return !this.#parked && !this.#shelved && (this.queue.size > 0 || this.#unprompted);
  }

  /** P10: true if the request has not been passed to a step yet. */
  get unprompted(): boolean {
    return this.#unprompted;
  }

  /** P10: requests that the thread continues with nothing in line. */
  goOnUnprompted(): void {
    this.#unprompted = true;
  }

  /** P10: returns whether the step that begins must receive the request, and clears it. */
  takeUnprompted(): boolean {
    const taken = this.#unprompted;
    this.#unprompted = false;
    return taken;
  }

  /** Puts an item in line; a message of a user unparks the line. */
  accept(item: IncomingItem): { id: string } {
    const { id, duplicate } = this.queue.accept(item);
    this.#news += 1;
    if (!duplicate) this.#shelved = false;
    if (!duplicate && item.kind !== 'tool' && item.role === 'user') this.#parked = false;
    return { id };
  }

  /** Records that a relative has sent the thread a message; unparks the line like a user's message. */
  hearRelative(): void {
    this.#parked = false;
    this.#hasRelativeMessage = true;
  }

  park(): void {
    this.#parked = true;
    this.#unprompted = false;
  }

  /** Takes the state from the store if none was carried. A stopped thread stays parked unless a message came too. */
  resume({
    waiting,
    stopped,
    stopHolds,
  }: {
    readonly waiting: number;
    readonly stopped: boolean;
    readonly stopHolds: boolean;
  }): void {
    this.queue.addWaiting(waiting);
    const stops = this.#parked && stopHolds;
    this.#parked = stops || (stopped && !this.queue.hasArrivals && !this.#hasRelativeMessage);
  }

  /** Records that others have seen this many pending rows in the store. */
  announce(waiting: number): void {
    if (waiting > this.queue.waiting) {
      this.#shelved = false;
      // The sender of the new rows may have been lost before it announced them.
      this.#news += 1;
    }
    this.queue.announce(waiting);
    this.#announced = Math.max(this.#announced, waiting);
  }

  /** Records that a batch is in line in the store. Its count may have been taken before. */
  spilled(batch: readonly QueueItem[]): void {
    this.queue.spilled(batch);
    this.#announced += batch.length;
  }

  /** Records that something was put in line in the store, according to a signal. */
  wake(): void {
    this.#news += 1;
    this.#shelved = false;
    this.announce(1);
  }

  /** P9: called after a limit ended the execution. Shelves the line unless something has come since the count. */
  shelve(): void {
    this.#shelved = this.#announced === 0 && !this.queue.holdsItems;
  }

  /** Called before the store counts the waiting items, or may do so within the activity that is about to be asked for. */
  beginCount(): void {
    this.#announced = 0;
  }

  /** Takes over the store's count. Items that came since `beginCount` may not be included in it, so they are kept. */
  endCount(waiting: number): void {
    this.queue.recount(waiting);
    this.queue.announce(this.#announced);
  }
}
