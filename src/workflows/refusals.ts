/**
 * Items that the thread has refused. Signals cannot return an error, so each refusal is logged here and passed to the
 * store, where it becomes an event.
 */
import { log } from '@temporalio/workflow';
import type { Refusal } from '../core/thread/item.ts';
import { LIMITS } from '../core/value/limit.ts';
import { SIGNAL_NAMES } from './messages.ts';

export class Refusals {
  readonly #threadId: string;
  readonly #unreported: Refusal[];
  /** Number of refusals in this run, for the log. */
  #count = 0;
  /** Number of signals with unknown names in this run. */
  #unknown = 0;

  constructor(threadId: string, carried: readonly Refusal[]) {
    this.#threadId = threadId;
    this.#unreported = [...carried];
  }

  /** True if some refusals have not been passed to the store yet. */
  get pending(): boolean {
    return this.#unreported.length > 0;
  }

  get state(): readonly Refusal[] {
    return this.#unreported;
  }

  /** Adds a refusal. Only the first five and then the 10th, 100th, 1000th … are logged, so a flood is a few lines. */
  add(refusal: Refusal): void {
    this.#count += 1;
    if (isLogged(this.#count)) {
      const count = this.#count > LOGGED_SINGLY ? ` (so far ${this.#count} in this run)` : '';
      log.warn(`dropped an item of thread ${this.#threadId}: ${refusal.reason}${count}`, { ...refusal });
    }
    if (this.#unreported.length < LIMITS.rejections) this.#unreported.push(refusal);
  }

  /** Drops a signal with an unknown name; the first one of a run is added as a refusal. */
  addUnknownSignal(name: string): void {
    this.#unknown += 1;
    if (this.#unknown > 1) return;
    const known = SIGNAL_NAMES.join(', ');
    this.add({
      code: 'InvalidMessage',
      reason: `there is no signal ${JSON.stringify(name)}; a thread knows ${known}`,
    });
  }

  /** Returns the refusals for the store, and removes them here. */
  take(): readonly Refusal[] {
    return this.#unreported.splice(0);
  }
}

const LOGGED_SINGLY = 5;

function isLogged(count: number): boolean {
  return count <= LOGGED_SINGLY || /^10+$/.test(String(count));
}
