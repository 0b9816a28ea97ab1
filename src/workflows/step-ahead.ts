/**
 * The step ahead: the next step, into which an activity goes on by itself (core/thread/step-ahead.ts). The activity is
 * that of the last call of a step, or of a model step whose calls were all quick.
 * - A call is offered the step ahead only if the turn goes on whether the call succeeds or fails. For quick calls the
 *   activity decides that, because it knows their outcomes. Anything else that could end or delay the next step
 *   reaches the workflow first; the activity then does not go on (N1).
 * A6. The outcome of a step ahead is the loop's next step. If it was not received, the step is asked for again (N2),
 *     after all arrivals are in line in the store. If the loop ends the execution first, it is dropped: the store has
 *     the step. The thread does not continue as new before.
 * A7. The ordinals that a run uses do not depend on whether a model step went on: the activity has an ordinal n, and
 *     the step ahead has -1 - n.
 * - A model step may go on only if the previous step's calls were all quick. So for other agents each activity is
 *   named after its one step.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { ModelStepOutcome, StoredStep, ToolAttempt, ToolCallOutcome } from '../core/thread/step.ts';
import type { CallWithNext, NextStep, NextStepOffer, StepWithNext } from '../core/thread/step-ahead.ts';
import type { CallEnd } from '../core/thread/stop.ts';
import type { BudgetWatch } from './family-watch.ts';
import type { Inbox } from './inbox.ts';
import type { Presence } from './presence.ts';
import type { Turn } from './turn.ts';

/** A step ahead, into which a call may go on, with its text for the summary. */
export interface Ahead {
  readonly step: NextStep;
  readonly summary: string;
}

/** A step ahead that was begun, with the counters at the time when it was asked for. */
export interface HeldStep {
  readonly ordinal: number;
  /** `Inbox.news`. */
  readonly news: number;
  /** `BudgetWatch.signalCount`. */
  readonly budget: number;
  /** Absent if the outcome was not received: the step is then asked for again. */
  readonly outcome?: ModelStepOutcome;
}

/** What of a run decides on its step ahead. */
interface PlanningRun {
  readonly turn: Turn;
  readonly presence: Presence;
  readonly inbox: Inbox;
  readonly budget: BudgetWatch;
  nextOrdinal(): number;
}

/** Events of history that scheduling an activity adds: the completed workflow task, and the scheduled activity. */
const OWN_EVENTS = 2;

export class StepAhead {
  readonly #run: PlanningRun;
  #asked: HeldStep | undefined;
  #held: HeldStep | undefined;
  /** True if the previous step's calls were all quick. */
  #expected = false;

  constructor(run: PlanningRun) {
    this.#run = run;
  }

  /** The step ahead for the call after those in `ended`; undefined unless it is the last and the turn goes on. */
  planForCall(
    step: StoredStep,
    { name }: { readonly name: string },
    ended: readonly CallEnd[],
  ): Ahead | undefined {
    if (ended.length !== step.callCount - 1) return undefined;
    const { turn, presence } = this.#run;
    const [done, failed] = [true, false].map((succeeded) =>
      turn.foresee(step, [...ended, { name, succeeded }]),
    );
    if (!done?.verdict.goesOn || !failed?.verdict.goesOn) return undefined;
    const { session } = done;
    if (session?.side !== failed.session?.side || session?.turns !== failed.session?.turns) return undefined;
    const next: NextStep = {
      ...toOffer(this.#run.nextOrdinal()),
      afterStep: step.step,
      agent: presence.agent,
      session,
    };
    return { step: next, summary: presence.nameStep() };
  }

  /** The step ahead for the model step that is about to be asked for under this number. */
  planForStep(number: number): NextStepOffer | undefined {
    return this.#expected && !this.#run.inbox.queue.hasArrivals ? toOffer(-1 - number) : undefined;
  }

  /** True if a step ahead was begun, which the loop must take next. */
  get owed(): boolean {
    return this.#held !== undefined;
  }

  /** Called with each stored step. */
  notice({ callCount, ran }: StoredStep): void {
    if (callCount > 0) this.#expected = ran?.length === callCount;
  }

  /** Called before the activity that may go on is scheduled. */
  ask({ ordinal }: NextStepOffer): void {
    const { inbox, budget } = this.#run;
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
    this.#held = this.#asked && { ...this.#asked, outcome: next.kind === 'unheard' ? undefined : next };
    return before;
  }

  /** Called if the activity was lost and the store has the call's result: it may have gone on into the step. */
  receiveLost(called: ToolCallOutcome): ToolCallOutcome {
    if (called.kind === 'done' && called.directive === undefined) this.#held = this.#asked;
    return called;
  }

  /** Returns the held step ahead for the step that begins, and clears it (A6). */
  take(): HeldStep | undefined {
    const held = this.#held;
    this.forget();
    return held;
  }

  forget(): void {
    this.#held = undefined;
    this.#asked = undefined;
  }
}

function toOffer(ordinal: number): NextStepOffer {
  return { ordinal, historyLength: workflowInfo().historyLength + OWN_EVENTS };
}
