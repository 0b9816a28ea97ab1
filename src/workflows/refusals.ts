/**
 * What the thread would not take from signals, which cannot be answered: logged here, and handed to the store, where each becomes
 * an event.
 */
import { log, patched } from '@temporalio/workflow';
import type { Refusal } from '../core/thread/item.ts';
import { LIMITS } from '../core/value/limit.ts';
import { SIGNAL_NAMES } from './messages.ts';

export class Refusals {
  readonly #threadId: string;
  readonly #untold: Refusal[];
  /** In this run, for the log. */
  #count = 0;
  /** Signals of names that a thread does not know, in this run. */
  #unknown = 0;

  constructor(threadId: string, carried: readonly Refusal[]) {
    this.#threadId = threadId;
    this.#untold = [...carried];
  }

  /** The store has not heard of all. */
  get pending(): boolean {
    return this.#untold.length > 0;
  }

  get state(): readonly Refusal[] {
    return this.#untold;
  }

  /** The log hears of the first few, and then of every tenth, hundredth and so on: a flood of them is one line. */
  add(refusal: Refusal): void {
    this.#count += 1;
    if (isLogged(this.#count)) {
      const count = this.#count > LOGGED_SINGLY ? ` (so far ${this.#count} in this run)` : '';
      log.warn(`dropped an item of thread ${this.#threadId}: ${refusal.reason}${count}`, { ...refusal });
    }
    if (this.#untold.length < LIMITS.rejections) this.#untold.push(refusal);
  }

  /** A signal whose name says nothing to a thread: the first of a run is told of, all are forgotten. */
  addUnknownSignal(name: string): void {
    this.#unknown += 1;
    if (this.#unknown > 1 || !patched('tells-of-unknown-signals')) return;
    const known = SIGNAL_NAMES.join(', ');
    this.add({
      code: 'InvalidMessage',
      reason: `there is no signal ${JSON.stringify(name)}; a thread knows ${known}`,
    });
  }

  /** For the store, once. */
  take(): readonly Refusal[] {
    return this.#untold.splice(0);
  }
}

const LOGGED_SINGLY = 5;

function isLogged(count: number): boolean {
  return count <= LOGGED_SINGLY || /^10+$/.test(String(count));
}
