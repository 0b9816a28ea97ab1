/**
 * What a thread's workflow knows of its waits: those that its calls wait for now, answers that signals have told of, and answers that
 * signals and updates have brought and that are still to be stored. The store has all that lasts; these are hints to look.
 * A1. Of more answers than are remembered, any may be the one that is waited for: a look in vain does no harm.
 * A2. An answer that was brought is stored before it counts, in the order of arrival; the thread does not continue as new before.
 */

import type { WaitAnswerOutcome } from '../core/thread/wait-step.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { GivenAnswer } from '../core/wait/wait.ts';
import type { OpenWaitView } from './messages.ts';

export interface BroughtAnswer extends GivenAnswer {
  readonly id: string;
  /** Called with what became of it. */
  readonly judged: (outcome: WaitAnswerOutcome) => void;
}

export class WaitWatch {
  readonly #open = new Map<string, OpenWaitView>();
  #below: readonly OpenWaitView[] = [];
  readonly #heard = new Set<string>();
  #brought: BroughtAnswer[] = [];
  #storing = 0;
  #paused = false;

  /** Those that calls wait for now, and those of descendants. */
  get open(): readonly OpenWaitView[] {
    return [...this.#open.values(), ...this.#below];
  }

  /** What descendants wait for that hold the thread up, as the store says. */
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

  /** The step waits, or has waited. */
  pause(): void {
    this.#paused = true;
  }

  /** Whether the step before was paused; asked once. */
  takePause(): boolean {
    const paused = this.#paused;
    this.#paused = false;
    return paused;
  }

  hear(id: string): void {
    if (this.#heard.size < LIMITS.heardReports) this.#heard.add(id);
  }

  hasHeard(id: string): boolean {
    return this.#heard.has(id) || this.#heard.size >= LIMITS.heardReports;
  }

  /** From now on. */
  listen(): void {
    this.#heard.clear();
  }

  bring(answer: BroughtAnswer): void {
    this.#brought.push(answer);
  }

  /** A2: some are to be stored, or being stored. */
  get busy(): boolean {
    return this.#brought.length > 0 || this.#storing > 0;
  }

  get hasBrought(): boolean {
    return this.#brought.length > 0;
  }

  /** In order; each is to be given to `stored` afterwards. */
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
