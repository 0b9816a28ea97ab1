/**
 * The step that an activity goes on into (core/thread/next-step.ts): that of the last call of a step, or of a model step whose calls were all quick.
 * A1. It is asked for where the step goes on whether the call succeeds or fails; of quick calls the activity judges that, for it knows how they
 *     ended. What else could end or delay the step behind it is heard by the workflow: the activity then does not go on (N1).
 * A2. Its outcome is the loop's next step; not heard, it is asked for again (N2), once all that has come is in line in the store. Where the
 *     loop ends the execution first, it is forgotten: the store has it. The thread does not continue as new before.
 * A3. No command follows from whether it is asked for, only from the activity's answer: histories of early versions replay as they are.
 * A4. Of what a run counts nothing depends on whether a model step went on: its activity has a number, and the step behind it the same below
 *     zero. A worker of an early version that takes a thread over would else ask for its next step under the ordinal of another one.
 * A5. A model step is offered to go on where the calls before were all quick too: of other agents, activities are named after the one step that they are.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
import type { GoneOn, NextStep, Offer, StepGoneOn } from '../core/thread/next-step.ts';
import type { CallRef, ModelStepOutcome, StoredStep, ToolCallOutcome } from '../core/thread/step.ts';
import type { CallEnd } from '../core/thread/step-end.ts';
import type { ToolAttempt } from '../core/thread/wait-step.ts';
import type { Ahead } from './bound-activities.ts';
import { mayContinue } from './continue.ts';
import type { ThreadRun } from './thread-run.ts';

/** Of the activity that asks: the completed task, and its own scheduling. */
const OWN_EVENTS = 2;

/** What was heard before it was asked for. */
interface Heard {
  /** As `Inbox.news`. */
  readonly news: number;
  /** As `BudgetWatch.heard`. */
  readonly budget: number;
}

export interface StepAhead extends Heard {
  readonly ordinal: number;
  /** Absent where it was not heard: it is asked for again. */
  readonly outcome?: ModelStepOutcome;
}

/** The next step, where the call behind those that have ended is the last, and its step goes on behind it (A1). */
export function planAhead(
  run: ThreadRun,
  step: StoredStep,
  call: CallRef,
  ended: readonly CallEnd[],
): Ahead | undefined {
  const isLast = ended.length === step.callCount - 1;
  if (!isLast || (call.mode !== 'once' && call.mode !== 'idempotent')) return undefined;
  if (step.taken === undefined || !isFree(run)) return undefined;
  const { turn, presence } = run;
  const [done, failed] = [true, false].map((succeeded) =>
    turn.foresee(step, [...ended, { name: call.name, succeeded }]),
  );
  if (!done?.verdict.goesOn || !failed?.verdict.goesOn) return undefined;
  if (done.session?.side !== failed.session?.side || done.session?.turns !== failed.session?.turns)
    return undefined;
  const next: NextStep = {
    ...offer(run.nextOrdinal()),
    afterStep: step.step,
    agent: presence.agent,
    ...(done.session ? { session: done.session } : {}),
  };
  return { step: next, summary: presence.nameStep() };
}

/** The step behind the one that is to be asked for now (A5). */
export function planBehind(run: ThreadRun, number: number): Offer | undefined {
  const offered = run.ahead.expected && isFree(run) && !run.inbox.queue.hasArrivals;
  return offered ? offer(-1 - number) : undefined;
}

/** A4: of the activity that asks for a step. One that went on into that step has not counted it. */
export function numberOf(run: ThreadRun, { ordinal }: Pick<Offer, 'ordinal'>): number {
  return ordinal < 0 ? run.nextOrdinal() : ordinal;
}

/** Nothing that the workflow knows of comes before the next step. */
function isFree(run: ThreadRun): boolean {
  return run.floor.isFree && !mayContinue(run) && !run.refusals.pending;
}

function offer(ordinal: number): Offer {
  return { ordinal, historyLength: workflowInfo().historyLength + OWN_EVENTS };
}

/** A2: held until the loop's next step. */
export class StepsAhead {
  #asked: StepAhead | undefined;
  #held: StepAhead | undefined;
  #expected = false;

  /** One was begun, and is what the loop does next. */
  get owed(): boolean {
    return this.#held !== undefined;
  }

  /** A5: the calls before were all quick. */
  get expected(): boolean {
    return this.#expected;
  }

  /** A5: of each step that is told. */
  notice({ callCount, ran }: StoredStep): void {
    if (callCount > 0) this.#expected = ran?.length === callCount;
  }

  /** Before its activity is asked for. */
  ask({ ordinal }: Offer, { inbox, budget }: ThreadRun): void {
    this.#asked = { ordinal, news: inbox.news, budget: budget.heard };
  }

  /** The activity's answer. Tells what came before the step. */
  hear(told: ToolAttempt | GoneOn): ToolAttempt;
  hear(told: ModelStepOutcome | StepGoneOn): ModelStepOutcome;
  hear(told: ToolAttempt | ModelStepOutcome | GoneOn | StepGoneOn): ToolAttempt | ModelStepOutcome {
    if (!('next' in told)) return told;
    const { next, ...before } = told;
    this.#held = this.#asked && { ...this.#asked, ...(next.kind === 'unheard' ? {} : { outcome: next }) };
    return before;
  }

  /** The activity was lost, and the store tells what became of the call. Where it has gone on, it did so with this. */
  hearLost(called: ToolCallOutcome): ToolCallOutcome {
    if (called.kind !== 'done' || called.directive !== undefined) return called;
    // A3: what is said meanwhile would be put in line before the step.
    if (patched('goes-on-in-a-call')) this.#held = this.#asked;
    return called;
  }

  /** For the step that begins. */
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
