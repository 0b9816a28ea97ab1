/**
 * Processes letters in order, a bounded number of bytes per script of the workflow's context. Letters beyond that
 * budget wait for the next script of the same activation; they are already part of history. So no flood of signals
 * makes a script exceed the SDK's time limit, and no signal is dropped.
 * - While letters wait, later ones wait behind them. Only `terminate` bypasses the mailbox.
 * - The thread does not continue as new while letters wait (continue.ts): they exist only in this run's memory.
 */
import { CancellationScope, condition } from '@temporalio/workflow';
import { LIMITS } from '../core/value/limit.ts';
import { type Budget, type Letter, letterBytes } from './letter.ts';

export type LetterHandler = (letter: Letter) => void;

interface DeferredLetter {
  readonly letter: Letter;
  readonly take: LetterHandler;
}

export class Mailbox {
  #waiting: DeferredLetter[] = [];
  #nextIndex = 0;
  readonly #onProcessed: () => void;

  /** `afterwards` is called whenever waiting letters have been processed. */
  constructor(afterwards: () => void) {
    this.#onProcessed = afterwards;
  }

  get empty(): boolean {
    return this.#nextIndex === this.#waiting.length;
  }

  receive(letter: Letter, budget: Budget, take: LetterHandler): void {
    if (this.empty && budget.left > 0) {
      budget.left -= costOf(letter);
      take(letter);
    } else this.#defer({ letter, take });
  }

  #defer(waiting: DeferredLetter): void {
    const spreads = !this.empty;
    this.#waiting.push(waiting);
    if (!spreads) void CancellationScope.nonCancellable(() => this.#processWaiting());
  }

  async #processWaiting(): Promise<void> {
    while (!this.empty) {
      await nextScript();
      for (let left: number = LIMITS.scriptBytes; left > 0 && !this.empty; this.#nextIndex++) {
        const { letter, take } = this.#waiting[this.#nextIndex] as DeferredLetter;
        left -= costOf(letter);
        take(letter);
      }
      this.#onProcessed();
    }
    this.#waiting = [];
    this.#nextIndex = 0;
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
