/**
 * The thread's queue as its workflow holds it (runtime §9): a durable FIFO over three places.
 * I1. Order: `taken` (items that a step works on), the store's pending rows (`waiting` counts them), `arrivals` (content still
 *     in the workflow). No item overtakes another.
 * - Items leave `taken` only after their step has stored them; a cancelled or failed step leaves them, and the store's unique
 *   key makes the second attempt harmless.
 * - `waiting` is a hint: it may lack rows that a tool wrote, until the next commit counts them.
 * - An item's size is that of its JSON, ids included: ten thousand empty items still have a size. It is measured once, on
 *   arrival, and totals are kept: reading a total never walks over thousands of items.
 */

import { measureJson } from '../value/json-measure.ts';
import { LIMITS } from '../value/limit.ts';
import type { IncomingItem, QueueItem } from './item.ts';

export interface QueueState {
  readonly waiting: number;
  readonly inline: readonly QueueItem[];
  readonly taken: number;
  readonly seen: readonly string[];
  readonly arrived: number;
}

interface MeasuredItem {
  readonly item: QueueItem;
  readonly bytes: number;
}

export class ThreadQueue {
  readonly #origin: string;
  readonly #seen: Set<string>;
  #arrived: number;
  #waiting: number;
  #taken: MeasuredItem[];
  #arrivals: MeasuredItem[];
  #bytes: number;

  /** `origin` is the first run id of the chain: the same after replay, reset and continue-as-new. */
  constructor(origin: string, carried?: QueueState) {
    this.#origin = origin;
    this.#seen = new Set(carried?.seen);
    this.#arrived = carried?.arrived ?? 0;
    this.#waiting = carried?.waiting ?? 0;
    const held = (carried?.inline ?? []).map(measureItem);
    this.#taken = held.slice(0, carried?.taken ?? 0);
    this.#arrivals = held.slice(this.#taken.length);
    this.#bytes = bytesOf(held);
  }

  /** Accepts an item and returns its id; an id seen before is the same item, accepted once. */
  accept(item: IncomingItem): { id: string; duplicate: boolean } {
    const ordinal = this.#arrived++;
    const id = item.id ?? `${this.#origin}:${ordinal}`;
    if (item.id !== undefined) {
      if (this.#seen.has(id)) return { id, duplicate: true };
      this.#remember(id);
    }
    const held = measureItem({ ...item, id });
    this.#arrivals.push(held);
    this.#bytes += held.bytes;
    return { id, duplicate: false };
  }

  #remember(id: string): void {
    this.#seen.add(id);
    if (this.#seen.size <= LIMITS.seenIds) return;
    const [oldest] = this.#seen;
    this.#seen.delete(oldest as string);
  }

  get size(): number {
    return this.#taken.length + Math.max(0, this.#waiting) + this.#arrivals.length;
  }

  /** How many items are in line in the store, as far as the workflow knows. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether the store lacks any item; unlike `size` this is exact. */
  get holdsItems(): boolean {
    return this.#taken.length + this.#arrivals.length > 0;
  }

  get hasArrivals(): boolean {
    return this.#arrivals.length > 0;
  }

  /** True when the arrivals must go to the store before a step may take them: too large, or behind stored ones. */
  get mustStash(): boolean {
    if (this.#arrivals.length === 0) return false;
    return this.#waiting > 0 || this.#bytes > LIMITS.stepInlineBytes;
  }

  get inlineBytes(): number {
    return this.#bytes;
  }

  /** Returns the items that the next step takes; the step reads the store's pending rows itself. */
  take(): readonly QueueItem[] {
    if (!this.mustStash) {
      this.#taken = [...this.#taken, ...this.#arrivals];
      this.#arrivals = [];
    }
    return this.#taken.map(({ item }) => item);
  }

  /** Records that the step has stored what it took, and drained `swept` pending rows of the store. */
  settle(taken: readonly QueueItem[], swept: number): void {
    this.#bytes -= bytesOf(this.#taken.slice(0, taken.length));
    this.#taken = this.#taken.slice(taken.length);
    // Rows that were never announced were drained too; below zero, later arrivals would overtake spilled ones.
    this.#waiting = Math.max(0, this.#waiting - swept);
  }

  /** The next arrivals for the store, oldest first, within the size of one batch; empty when there are none. */
  nextSpill(): readonly QueueItem[] {
    let bytes = 0;
    let count = 0;
    for (const held of this.#arrivals) {
      bytes += held.bytes;
      if (count > 0 && (bytes > LIMITS.stashBytes || count >= LIMITS.stashItems)) break;
      count += 1;
    }
    return this.#arrivals.slice(0, count).map(({ item }) => item);
  }

  spilled(batch: readonly QueueItem[]): void {
    this.#bytes -= bytesOf(this.#arrivals.slice(0, batch.length));
    this.#arrivals = this.#arrivals.slice(batch.length);
    this.#waiting += batch.length;
  }

  /** Counts rows that a tool wrote into the store. */
  addWaiting(count: number): void {
    this.#waiting += count;
  }

  /** Raises the count to the pending rows seen in the store, some of which may not have been counted before. */
  announce(waiting: number): void {
    this.#waiting = Math.max(this.#waiting, waiting);
  }

  /** Sets the count to the store's own, taken at a commit. */
  recount(waiting: number): void {
    this.#waiting = waiting;
  }

  toState(): QueueState {
    return {
      waiting: this.#waiting,
      inline: [...this.#taken, ...this.#arrivals].map(({ item }) => item),
      taken: this.#taken.length,
      seen: [...this.#seen],
      arrived: this.#arrived,
    };
  }
}

function measureItem(item: QueueItem): MeasuredItem {
  return { item, bytes: measureJson(item).bytes };
}

function bytesOf(held: readonly MeasuredItem[]): number {
  return held.reduce((sum, { bytes }) => sum + bytes, 0);
}
