/**
 * The step ahead: the next step, into which an activity goes on by itself (core/thread/next-step.ts). The activity is
 * that of the last call of a step, or of a model step whose calls were all quick.
 * A1. A call is offered the step ahead only if the turn goes on whether the call succeeds or fails. For quick calls the
 *     activity decides that, because it knows their outcomes. Anything else that could end or delay the next step
 *     reaches the workflow first; the activity then does not go on (N1).
 * A2. The outcome of a step ahead is the loop's next step. If it was not received, the step is asked for again (N2),
 *     after all arrivals are in line in the store. If the loop ends the execution first, it is dropped: the store has
 *     the step. The thread does not continue as new before.
 * A3. The ordinals that a run uses do not depend on whether a model step went on: the activity has an ordinal n, and
 *     the step ahead has -1 - n.
 * A4. A model step may go on only if the previous step's calls were all quick. So for other agents each activity is
 *     named after its one step.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { CallWithNext, NextStep, NextStepOffer, StepWithNext } from '../core/thread/next-step.ts';
import type { CallRef, ModelStepOutcome, StoredStep, ToolCallOutcome } from '../core/thread/step.ts';
import type { CallEnd } from '../core/thread/step-end.ts';
import type { ToolAttempt } from '../core/thread/wait-step.ts';
import type { Ahead } from './bound-activities.ts';
import { mayContinue } from './continue.ts';
import type { ThreadRun } from './thread-run.ts';

/** Events of history that scheduling an activity adds: the completed workflow task, and the scheduled activity. */
const OWN_EVENTS = 2;

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

/** The step ahead for the call after those in `ended`; undefined unless it is the last and the turn goes on (A1). */
export function planAhead(
  run: ThreadRun,
  step: StoredStep,
  call: CallRef,
  ended: readonly CallEnd[],
): Ahead | undefined {
  const isLast = ended.length === step.callCount - 1;
  if (!isLast || (call.mode !== 'once' && call.mode !== 'idempotent')) return undefined;
  if (!isFree(run)) return undefined;
  const { turn, presence } = run;
  const [done, failed] = [true, false].map((succeeded) =>
    turn.foresee(step, [...ended, { name: call.name, succeeded }]),
  );
  if (!done?.verdict.goesOn || !failed?.verdict.goesOn) return undefined;
  if (done.session?.side !== failed.session?.side || done.session?.turns !== failed.session?.turns)
    return undefined;
  const next: NextStep = {
    ...toOffer(run.nextOrdinal()),
    afterStep: step.step,
    agent: presence.agent,
    ...(done.session ? { session: done.session } : {}),
  };
  return { step: next, summary: presence.nameStep() };
}

/** The step ahead for the model step that is about to be asked for (A4). */
export function planNextOffer(run: ThreadRun, number: number): NextStepOffer | undefined {
  const offered = run.ahead.expected && isFree(run) && !run.inbox.queue.hasArrivals;
  return offered ? toOffer(-1 - number) : undefined;
}

/** A3: the number of the activity that asks for a step; a new one if the step's ordinal is that of a step ahead. */
export function numberOf(run: ThreadRun, { ordinal }: Pick<NextStepOffer, 'ordinal'>): number {
  return ordinal < 0 ? run.nextOrdinal() : ordinal;
}

/** True if the workflow knows of nothing that must happen before the next step. */
function isFree(run: ThreadRun): boolean {
  return run.floor.isFree && !mayContinue(run) && !run.refusals.pending;
}

function toOffer(ordinal: number): NextStepOffer {
  return { ordinal, historyLength: workflowInfo().historyLength + OWN_EVENTS };
}

/** A2: holds the step ahead until the loop's next step. */
export class StepsAhead {
  #asked: StepAhead | undefined;
  #held: StepAhead | undefined;
  #expected = false;

  /** True if a step ahead was begun, which the loop must take next. */
  get owed(): boolean {
    return this.#held !== undefined;
  }

  /** A4: true if the previous step's calls were all quick. */
  get expected(): boolean {
    return this.#expected;
  }

  /** A4: called with each stored step. */
  notice({ callCount, ran }: StoredStep): void {
    if (callCount > 0) this.#expected = ran?.length === callCount;
  }

  /** Called before the activity that may go on is scheduled. */
  ask({ ordinal }: NextStepOffer, { inbox, budget }: ThreadRun): void {
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
