/**
 * Ids that signals have named, each with the number of the signal: so several flows can each ask for what came after a
 * point of their own. Only hints to ask the store, which has the state.
 * - If more ids were named than are remembered, all count as named: an unnecessary question is harmless.
 */
import { LIMITS } from '../core/value/limit.ts';

export class HeardIds {
  readonly #numbers = new Map<string, number>();
  #count = 0;
  #forgotten = 0;

  /** The number of signals so far. */
  get count(): number {
    return this.#count;
  }

  hear(id: string): void {
    this.#count += 1;
    if (this.#numbers.size >= LIMITS.heardReports && !this.#numbers.has(id)) {
      this.#numbers.clear();
      this.#forgotten = this.#count;
    }
    this.#numbers.set(id, this.#count);
  }

  /** True if a signal has named the id since there were `count` of them. */
  hasSince(id: string, count: number): boolean {
    return Math.max(this.#numbers.get(id) ?? 0, this.#forgotten) > count;
  }
}
