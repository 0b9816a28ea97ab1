/** Estimates how many messages of a thread's history fit into a window (read-history.ts), the newest first. */
import type { Side } from '../../core/author/thread-execution.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import { estimateMessage } from '../../core/context/context-estimate.ts';
import { isFromOther } from '../../core/context/context-side.ts';
import type { HistoryWindow } from './step-place-record.ts';

/** Rows of the first page, and of the longest. */
const [FIRST_PAGE, LONGEST_PAGE] = [64, 1000];
/** Estimated tokens of a short message, for the first page of a small window. */
const SHORT = 16;

type OthersSteps = ReadonlySet<number>;

/** Takes messages, the newest first, until the window is full. */
export class WindowFilling {
  readonly #window: HistoryWindow;
  readonly #side: Side;
  readonly #room: number;
  readonly #taken: ContextMessage[] = [];
  #left: number;
  #position = 0;
  #full = false;

  constructor(window: HistoryWindow, side: Side) {
    this.#window = window;
    this.#side = side;
    this.#room = window.tokens ?? Number.MAX_SAFE_INTEGER;
    this.#left = this.#room;
  }

  get full(): boolean {
    return this.#full;
  }

  /** The messages that were taken, oldest first. */
  get taken(): ContextMessage[] {
    return this.#taken.toReversed();
  }

  /** Counts messages that are included even if there is no room: those of the step's own execution, oldest first. */
  spend(own: readonly ContextMessage[], others: OthersSteps): void {
    for (const message of own.toReversed()) this.#left -= this.#weigh(message, others, false, true);
    this.#full = this.#left <= 0;
  }

  /** Takes as many messages of a page as there is room for. */
  take(page: readonly ContextMessage[], others: OthersSteps): void {
    for (const message of page) {
      const weight = this.#weigh(message, others, !this.#window.includePastTools);
      this.#full = weight > this.#left;
      if (this.#full) return;
      this.#left -= weight;
      this.#taken.push(message);
    }
  }

  /** The number of rows that will probably fill the rest. */
  nextPage(): number {
    if (this.#taken.length === 0) return Math.min(FIRST_PAGE, Math.ceil(this.#left / SHORT) + 1);
    const mean = (this.#room - this.#left) / this.#position;
    return Math.min(LONGEST_PAGE, Math.max(FIRST_PAGE, Math.ceil(this.#left / Math.max(1, mean)) + 8));
  }

  #weigh(message: ContextMessage, others: OthersSteps, past: boolean, own = false): number {
    const recent = this.#position < this.#window.recentImages;
    this.#position += 1;
    // Results of the other side's tools take no room.
    if (message.role === 'tool' && message.step !== null && others.has(message.step)) return 0;
    const withoutCalls = past || isFromOther(message, this.#side);
    return estimateMessage(message, { past: withoutCalls, recent, own }, this.#window.scale);
  }
}
