/**
 * Processes letters in order, a bounded number of bytes per script of the workflow's context. Letters beyond that
 * budget wait for the next script of the same activation; they are already part of history. So no flood of signals
 * makes a script exceed the SDK's time limit, and no signal is dropped.
 * B1. While letters wait, later ones wait behind them. Only `terminate` bypasses the mailbox.
 * B2. The thread does not continue as new while letters wait (continue.ts): they exist only in this run's memory.
 */
import { CancellationScope, condition, patched } from '@temporalio/workflow';
import { LIMITS } from '../core/value/limit.ts';
import { type Budget, type Letter, letterBytes } from './letter.ts';

export type Take = (letter: Letter) => void;

interface Waiting {
  readonly letter: Letter;
  readonly take: Take;
}

export class Mailbox {
  #waiting: Waiting[] = [];
  #at = 0;
  readonly #afterwards: () => void;

  /** `afterwards` is called whenever waiting letters have been processed. */
  constructor(afterwards: () => void) {
    this.#afterwards = afterwards;
  }

  get empty(): boolean {
    return this.#at === this.#waiting.length;
  }

  receive(letter: Letter, budget: Budget, take: Take): void {
    if (this.empty && this.#affords(budget.left)) {
      budget.left -= costOf(letter);
      take(letter);
    } else this.#keep({ letter, take });
  }

  /** Early versions processed everything at once. */
  #affords(left: number): boolean {
    return left > 0 || !patched('spreads-a-flood');
  }

  #keep(waiting: Waiting): void {
    const spreads = !this.empty;
    this.#waiting.push(waiting);
    if (!spreads) void CancellationScope.nonCancellable(() => this.#spread());
  }

  async #spread(): Promise<void> {
    while (!this.empty) {
      await nextScript();
      for (let left: number = LIMITS.scriptBytes; left > 0 && !this.empty; this.#at++) {
        const { letter, take } = this.#waiting[this.#at] as Waiting;
        left -= costOf(letter);
        take(letter);
      }
      this.#afterwards();
    }
    this.#waiting = [];
    this.#at = 0;
  }
}

function costOf(letter: Letter): number {
  return letterBytes(letter) + LIMITS.signalBytes;
}

/**
 * Resolves in the next script of the activation: the SDK evaluates a condition when it is created, and again in a
 * separate script after each one that made progress.
 */
function nextScript(): Promise<void> {
  let asked = 0;
  return condition(() => asked++ > 0);
}
