/**
 * How far the thread's turns have come: the execution under way, the steps counted in it, whose move it is, how the last one
 * ended. What it says survives continue-as-new; the store decides where the two differ.
 * T1. A step is over when `completeStep` says so: until then a reset or a lost run must find it again.
 */
import { uuid4 } from '@temporalio/workflow';
import type { TurnState } from '../core/thread/carried.ts';
import { NEW_SESSION, NO_STEPS, type Session } from '../core/thread/session.ts';
import type { StoredError, StoredStep } from '../core/thread/step.ts';
import { type CallEnd, foreseeEnd, type StepEnd, toSession } from '../core/thread/step-end.ts';
import type { LimitReason } from '../core/thread/step-limit.ts';
import type { StopVerdict } from '../core/thread/stop.ts';

/** How an execution ended, as the store has it. */
export interface ExecutionEnd {
  readonly afterStep: number;
  readonly stopReason: string | null;
  readonly error: StoredError | null;
}

export class Turn {
  #state: TurnState;
  #lastError: StoredError | null = null;

  constructor(state: TurnState) {
    this.#state = state;
  }

  /** Its last step is not followed by rest yet. */
  get open(): boolean {
    return this.#state.turnOpen;
  }

  /** The store's number of the last step that is known to be over. */
  get afterStep(): number {
    return this.#state.afterStep;
  }

  get totalSteps(): number {
    return this.#state.totalSteps;
  }

  /** Of an agent with two AI sides. */
  get session(): Session | undefined {
    return this.#state.session ?? undefined;
  }

  /** Why the last execution ended; null while one lasts. */
  get stopReason(): string | null {
    return this.#state.stopReason;
  }

  get lastError(): StoredError | null {
    return this.#lastError;
  }

  get state(): TurnState {
    return this.#state;
  }

  /** The execution under way, or a new one. */
  executionId(): string {
    const executionId = this.#state.executionId ?? uuid4();
    this.#change({ executionId });
    return executionId;
  }

  /** A run that carries nothing goes on where the store stands. */
  resume({ afterStep, turnOpen }: Pick<TurnState, 'afterStep' | 'turnOpen'>): void {
    this.#change({ afterStep, totalSteps: afterStep, turnOpen });
  }

  /** What is carried comes before what the store has. */
  adoptSession(session: Session | undefined): void {
    this.#change({ session: this.#state.session ?? session ?? null });
  }

  /** A step is stored, and its calls are to be run. Answers how the turn stood before the step was counted. */
  beginStep(outcome: StoredStep): TurnState {
    const { answered, side, taken, executionId } = outcome;
    if (executionId !== undefined) this.#change({ executionId });
    this.#change({ turnOpen: true, stopReason: null });
    this.#change({ session: toSession(this.#state.session, outcome) });
    const before = this.#state;
    const { totalSteps, steps, sideSteps } = before;
    this.#change({ totalSteps: totalSteps + 1 });
    // The store counts: what a run was told before it was killed is forgotten with it. Early versions had the workflow count.
    if (taken) this.#change({ steps: taken.a + taken.b, sideSteps: taken });
    else if (answered) {
      const acted = side ?? 'a';
      this.#change({ steps: steps + 1, sideSteps: { ...sideSteps, [acted]: sideSteps[acted] + 1 } });
    }
    return before;
  }

  /** The next run takes the step over, and counts it there. */
  uncountStep({ totalSteps, steps, sideSteps }: TurnState): void {
    this.#change({ totalSteps, steps, sideSteps });
  }

  /** T1: over from here on. */
  completeStep(step: number): void {
    this.#change({ afterStep: step });
  }

  /** There was nothing to answer. */
  skipStep(outcome: { readonly step: number; readonly session?: Session }): void {
    this.#change({ session: outcome.session ?? this.#state.session, afterStep: outcome.step });
  }

  /** A limit forbids the step that was to come. */
  limitStep({ step, reason }: { readonly step: number; readonly reason: LimitReason }): void {
    const { session } = this.#state;
    const over = session && reason === 'max_session_turns';
    this.#change({ session: over ? NEW_SESSION : session, afterStep: step });
  }

  /** The model could not be asked, or gave no answer that can be kept. */
  failStep(outcome: { readonly step: number; readonly session?: Session }): void {
    this.skipStep(outcome);
    this.#change({ totalSteps: this.#state.totalSteps + 1 });
  }

  /** What ends with the step (core/thread/stop.ts); the session moves on accordingly. */
  judge(step: StoredStep, calls: readonly CallEnd[]): StopVerdict {
    const { verdict, session } = this.foresee(step, calls);
    if (session) this.#change({ session });
    return verdict;
  }

  /** What `judge` would say, and how the session would stand. Changes nothing. */
  foresee(step: StoredStep, calls: readonly CallEnd[]): StepEnd {
    return foreseeEnd(step, calls, this.#state);
  }

  /** The store has ended the execution; the next step begins another one. */
  end({ afterStep, stopReason, error }: ExecutionEnd): void {
    this.#lastError = error;
    const none = { turnOpen: false, executionId: null, steps: 0, sideSteps: NO_STEPS };
    // Of those that a stop has cut short, the run was not told.
    const totalSteps = Math.max(this.#state.totalSteps, afterStep);
    this.#change({ ...none, afterStep, totalSteps, stopReason });
  }

  #change(part: Partial<TurnState>): void {
    this.#state = { ...this.#state, ...part };
  }
}
