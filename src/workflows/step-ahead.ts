/**
 * The step that the last call of a step goes on into, within the call's own activity (core/thread/next-step.ts).
 * A1. It is asked for where the step goes on whether the call succeeds or fails. What else could end or delay the step behind it is
 *     heard by the workflow: the activity then does not go on (N1).
 * A2. Its outcome is the loop's next step; not heard, it is asked for again (N2), once all that has come is in line in the store. Where the
 *     loop ends the execution first, it is forgotten: the store has it. The thread does not continue as new before.
 * A3. No command follows from whether it is asked for, only from the activity's answer: histories of early versions replay as they are.
 */
import { patched, workflowInfo } from '@temporalio/workflow';
import { type GoneOn, type NextStep, toNextInput } from '../core/thread/next-step.ts';
import type {
  CallRef,
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  ToolCallOutcome,
} from '../core/thread/step.ts';
import type { ToolAttempt } from '../core/thread/wait-step.ts';
import type { Ahead, CallPlace } from './bound-activities.ts';
import { mayContinue } from './continue.ts';
import type { ThreadRun } from './thread-run.ts';
import type { CallEnd, StoredStep } from './turn.ts';

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
  readonly input: Omit<ModelStepInput, keyof RunRef>;
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
  if (step.taken === undefined || !run.floor.isFree || mayContinue(run) || run.refusals.pending)
    return undefined;
  const { turn, presence } = run;
  const [done, failed] = [true, false].map((succeeded) =>
    turn.foresee(step, [...ended, { name: call.name, succeeded }]),
  );
  if (!done?.verdict.goesOn || !failed?.verdict.goesOn) return undefined;
  if (done.session?.side !== failed.session?.side || done.session?.turns !== failed.session?.turns)
    return undefined;
  const next: NextStep = {
    ordinal: run.nextOrdinal(),
    afterStep: step.step,
    agent: presence.agent,
    historyLength: workflowInfo().historyLength + OWN_EVENTS,
    ...(done.session ? { session: done.session } : {}),
  };
  return { step: next, summary: presence.nextStep };
}

/** A2: held until the loop's next step. */
export class StepsAhead {
  #asked: StepAhead | undefined;
  #held: StepAhead | undefined;

  /** One was begun, and is what the loop does next. */
  get owed(): boolean {
    return this.#held !== undefined;
  }

  /** Before the call is asked for. */
  ask({ step }: Ahead, { executionId }: CallPlace, { inbox, budget }: ThreadRun): void {
    const heard = { news: inbox.news, budget: budget.heard };
    this.#asked = { ...heard, input: toNextInput(executionId, step) };
  }

  /** The activity's answer. Tells the call's own. */
  hear<Attempt extends ToolAttempt>(attempt: Attempt | GoneOn): Attempt | ToolCallOutcome {
    if (!('next' in attempt)) return attempt;
    const { next, ...called } = attempt;
    this.#held = this.#asked && { ...this.#asked, ...(next.kind === 'unheard' ? {} : { outcome: next }) };
    return called;
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
