/** The step ahead that a run has asked for or holds (next-step-offer.ts). */
import type { CallWithNext, NextStepOffer, StepWithNext } from '../core/thread/next-step.ts';
import type { ModelStepOutcome, StoredStep, ToolCallOutcome } from '../core/thread/step.ts';
import type { ToolAttempt } from '../core/thread/wait-step.ts';
import type { BudgetWatch } from './family-watch.ts';
import type { Inbox } from './inbox.ts';

/** Counters at the time when the step was asked for. */
interface SignalCounters {
  /** `Inbox.news`. */
  readonly news: number;
  /** `BudgetWatch.signalCount`. */
  readonly budget: number;
}

export interface StepAhead extends SignalCounters {
  readonly ordinal: number;
  /** Absent if the outcome was not received: the step is then asked for again. */
  readonly outcome?: ModelStepOutcome;
}

interface SignalSources {
  readonly inbox: Pick<Inbox, 'news'>;
  readonly budget: Pick<BudgetWatch, 'signalCount'>;
}

/** Holds the step ahead until the loop's next step (next-step-offer.ts, A2). */
export class HeldStep {
  #asked: StepAhead | undefined;
  #held: StepAhead | undefined;
  #expected = false;

  /** True if a step ahead was begun, which the loop must take next. */
  get owed(): boolean {
    return this.#held !== undefined;
  }

  /** True if the previous step's calls were all quick. */
  get expected(): boolean {
    return this.#expected;
  }

  /** Called with each stored step. */
  notice({ callCount, ran }: StoredStep): void {
    if (callCount > 0) this.#expected = ran?.length === callCount;
  }

  /** Called before the activity that may go on is scheduled. */
  ask({ ordinal }: NextStepOffer, { inbox, budget }: SignalSources): void {
    this.#asked = { ordinal, news: inbox.news, budget: budget.signalCount };
  }

  /** Takes the step ahead out of the activity's answer, and returns the rest. */
  receive(answer: ToolAttempt | CallWithNext): ToolAttempt;
  receive(answer: ModelStepOutcome | StepWithNext): ModelStepOutcome;
  receive(
    answer: ToolAttempt | ModelStepOutcome | CallWithNext | StepWithNext,
  ): ToolAttempt | ModelStepOutcome {
    if (!('next' in answer)) return answer;
    const { next, ...before } = answer;
    this.#held = this.#asked && { ...this.#asked, ...(next.kind === 'unheard' ? {} : { outcome: next }) };
    return before;
  }

  /** Called if the activity was lost and the store has the call's result: it may have gone on into the step. */
  receiveLost(called: ToolCallOutcome): ToolCallOutcome {
    if (called.kind !== 'done' || called.directive !== undefined) return called;
    this.#held = this.#asked;
    return called;
  }

  /** Returns the held step ahead for the step that begins, and clears it. */
  take(): StepAhead | undefined {
    const held = this.#held;
    this.forget();
    return held;
  }

  forget(): void {
    this.#held = undefined;
    this.#asked = undefined;
  }
}
