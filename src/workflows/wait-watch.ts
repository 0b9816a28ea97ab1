/**
 * What a thread's workflow knows of its waits: those of its current calls, the answers that signals have announced, and
 * the answers that signals and updates have delivered and that are not stored yet. The durable state is in the store;
 * this is only used to decide when to ask it.
 * A8. A delivered answer is stored before it counts, in the order of arrival; the thread does not continue as new
 *     before.
 */

import type { WaitAnswerOutcome } from '../core/thread/step.ts';
import type { GivenAnswer } from '../core/wait/wait.ts';
import { HeardIds } from './heard-ids.ts';
import type { OpenWaitView } from './messages.ts';

export interface BroughtAnswer extends GivenAnswer {
  readonly id: string;
  /** Called with the outcome once the store has judged the answer. */
  readonly judged: (outcome: WaitAnswerOutcome) => void;
}

export class WaitWatch {
  readonly #open = new Map<string, OpenWaitView>();
  #below: readonly OpenWaitView[] = [];
  readonly #awaited = new Set<string>();
  readonly #answers = new HeardIds();
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

  /** `waits`: all of them, as the store has returned them to the call that awaits the child. */
  showBelow(childId: string, waits: readonly OpenWaitView[]): void {
    this.#awaited.add(childId);
    this.#below = waits;
  }

  /** Called when the call no longer awaits the child. */
  hideBelow(childId: string): void {
    this.#awaited.delete(childId);
    this.#below = this.#awaited.size === 0 ? [] : this.#below.filter(({ threadId }) => threadId !== childId);
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
    this.#answers.hear(id);
  }

  /** True if the answer was announced after `since`. */
  hasAnswer(id: string, since: number): boolean {
    return this.#answers.hasSince(id, since);
  }

  /** The point from which on signals concern what is asked next: pass it to `hasAnswer`. */
  listen(): number {
    return this.#answers.count;
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
