/**
 * Takes letters in, in order, a bounded part in one script of the workflow's context: what is beyond an activation's budget
 * waits for the next script of the same activation, and is as durable as the signals themselves. So no flood makes a script
 * run as long as the SDK allows, and none is turned away for being one.
 * B1. Nothing overtakes: while letters wait, those that come wait behind them. `terminate` alone does not pass here.
 * B2. The thread does not continue as new while letters wait (continue.ts): they are this run's memory.
 */
import { CancellationScope, condition, patched } from '@temporalio/workflow';
import { LIMITS } from '../core/limit.ts';
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

  /** `afterwards` is called when letters that waited have been taken. */
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

  /** Early versions took in everything at once, and their histories say so. */
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

/** The SDK asks a condition once at once, and again in a script of its own, as often as anything came of the one before. */
function nextScript(): Promise<void> {
  let asked = 0;
  return condition(() => asked++ > 0);
}
