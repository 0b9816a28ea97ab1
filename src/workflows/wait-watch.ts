/**
 * What a thread's workflow knows of its waits: those of its current calls, the answers that signals have announced, and
 * the answers that signals and updates have delivered and that are not stored yet. The durable state is in the store;
 * this is only used to decide when to ask it.
 * - If more answers arrive than are remembered, every wait counts as answered: an unnecessary check is harmless.
 * A8. A delivered answer is stored before it counts, in the order of arrival; the thread does not continue as new
 *     before.
 */

import type { WaitAnswerOutcome } from '../core/thread/step.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { GivenAnswer } from '../core/wait/wait.ts';
import type { OpenWaitView } from './messages.ts';

export interface BroughtAnswer extends GivenAnswer {
  readonly id: string;
  /** Called with the outcome once the store has judged the answer. */
  readonly judged: (outcome: WaitAnswerOutcome) => void;
}

export class WaitWatch {
  readonly #open = new Map<string, OpenWaitView>();
  #below: readonly OpenWaitView[] = [];
  readonly #answeredIds = new Set<string>();
  #brought: BroughtAnswer[] = [];
  #storing = 0;
  #paused = false;

  /** Waits of current calls, and those of descendants. */
  get open(): readonly OpenWaitView[] {
    return [...this.#open.values(), ...this.#below];
  }

  /** Waits of descendants that block the thread, according to the store. */
  get below(): readonly OpenWaitView[] {
    return this.#below;
  }

  showBelow(waits: readonly OpenWaitView[]): void {
    this.#below = waits;
  }

  begin(wait: OpenWaitView): void {
    this.#open.set(wait.id, wait);
  }

  end(id: string): void {
    this.#open.delete(id);
  }

  /** Records that the step was paused. */
  pause(): void {
    this.#paused = true;
  }

  /** Returns whether the previous step was paused, and clears that. */
  takePause(): boolean {
    const paused = this.#paused;
    this.#paused = false;
    return paused;
  }

  receive(id: string): void {
    if (this.#answeredIds.size < LIMITS.heardReports) this.#answeredIds.add(id);
  }

  hasAnswer(id: string): boolean {
    return this.#answeredIds.has(id) || this.#answeredIds.size >= LIMITS.heardReports;
  }

  /** Forgets earlier signals, so that `hasAnswer` only counts those from now on. */
  listen(): void {
    this.#answeredIds.clear();
  }

  bring(answer: BroughtAnswer): void {
    this.#brought.push(answer);
  }

  /** A8: true if answers are not stored yet. */
  get busy(): boolean {
    return this.#brought.length > 0 || this.#storing > 0;
  }

  get hasBrought(): boolean {
    return this.#brought.length > 0;
  }

  /** Returns the delivered answers in order. The caller must call `stored` once for each. */
  take(): readonly BroughtAnswer[] {
    const taken = this.#brought;
    this.#brought = [];
    this.#storing += taken.length;
    return taken;
  }

  stored(): void {
    this.#storing -= 1;
  }
}
