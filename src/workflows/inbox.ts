/**
 * What lies in line for the thread, and whether it may be taken (runtime §2, §6.4).
 * P1. After a stop, queued work is parked until somebody speaks.
 * P2. After a limit, what is left in line is the thread's own: it is shelved until anything comes from outside. A run that does not
 *     know of it asks the store in vain, and shelves it.
 * P3. Somebody may let the thread go on with nothing in line: the next step is told, and the store, which knows what is in line, decides. A stop
 *     that comes later takes it back.
 */
import type { Carried } from '../core/thread/carried.ts';
import type { IncomingItem } from '../core/thread/item.ts';
import { ThreadQueue } from '../core/thread/queue.ts';

export class Inbox {
  readonly queue: ThreadQueue;
  #parked: boolean;
  /** P2: a limit was reached. */
  #shelved = false;
  /** A relative has spoken, perhaps before the store was asked where the thread stands. */
  #spokenTo = false;
  /** P3: to be told to the next step. */
  #unprompted = false;
  /** Items in line, as others have said since the loop had them counted last. */
  #announced = 0;
  #news = 0;

  /** `origin` as ThreadQueue has it. */
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

  /** How often something was put in line, or was said to be. Whoever asks the store notes it before, and hears of what came meanwhile. */
  get news(): number {
    return this.#news;
  }

  get hasWork(): boolean {
    return !this.#parked && !this.#shelved && (this.queue.size > 0 || this.#unprompted);
  }

  /** P3: not yet told to a step. */
  get unprompted(): boolean {
    return this.#unprompted;
  }

  /** P3: the next step is told. */
  goOnUnprompted(): void {
    this.#unprompted = true;
  }

  /** P3: whether the step that begins is told. */
  takeUnprompted(): boolean {
    const taken = this.#unprompted;
    this.#unprompted = false;
    return taken;
  }

  /** A person's message unparks what is in line. */
  accept(item: IncomingItem): { id: string } {
    const { id, duplicate } = this.queue.accept(item);
    this.#news += 1;
    if (!duplicate) this.#shelved = false;
    if (!duplicate && item.kind !== 'tool' && item.role === 'user') this.#parked = false;
    return { id };
  }

  /** A relative has said something to the thread: as good as a person's word. */
  hearRelative(): void {
    this.#parked = false;
    this.#spokenTo = true;
  }

  park(): void {
    this.#parked = true;
    this.#unprompted = false;
  }

  /** A run that carries nothing: a stopped thread stays parked unless somebody has spoken to it with the start. */
  resume(opened: { readonly waiting: number; readonly stopped: boolean }, stopHolds: () => boolean): void {
    this.queue.addWaiting(opened.waiting);
    const stops = this.#parked && stopHolds();
    this.#parked = stops || (opened.stopped && !this.queue.hasArrivals && !this.#spokenTo);
  }

  /** The store was seen with so many pending rows, by somebody else. */
  announce(waiting: number): void {
    if (waiting > this.queue.waiting) {
      this.#shelved = false;
      // Whoever has put it there may have been lost before it said so.
      this.#news += 1;
    }
    this.queue.announce(waiting);
    this.#announced = Math.max(this.#announced, waiting);
  }

  /** Somebody has put something in line, or says so. */
  wake(): void {
    this.#news += 1;
    this.#shelved = false;
    this.announce(1);
  }

  /** P2: the store ended an execution for a limit and counted nothing from outside. What came since then counts. */
  shelve(): void {
    this.#shelved = this.#announced === 0 && !this.queue.holdsItems;
  }

  /** Before the store counts what waits. */
  beginCount(): void {
    this.#announced = 0;
  }

  /** What was announced meanwhile may have come too late to be counted. */
  endCount(waiting: number): void {
    this.queue.recount(waiting);
    this.queue.announce(this.#announced);
  }
}
