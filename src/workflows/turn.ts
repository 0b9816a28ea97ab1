/**
 * The progress of the thread's turns: the current execution, its step counts, the side that acts next, and how the last
 * execution ended. This state survives continue-as-new; if it differs from the store, the store is right.
 * - A step is over only once `completeStep` was called: until then a reset or a lost run must take it over.
 */
import { uuid4 } from '@temporalio/workflow';
import { NEW_SESSION, NO_STEPS, type Session } from '../core/thread/session.ts';
import type { TurnState } from '../core/thread/snapshot.ts';
import type { StoredError, StoredStep } from '../core/thread/step.ts';
import type { LimitReason } from '../core/thread/step-limit.ts';
import type { EarlierSteps } from '../core/thread/step-loop.ts';
import { type CallEnd, evaluateStepEnd, type StopVerdict, toSession } from '../core/thread/stop.ts';

/** How an execution ended, according to the store. */
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

  /** True if the thread has not come to rest since its last step. */
  get open(): boolean {
    return this.#state.turnOpen;
  }

  /** The store's number of the last step known to be over. */
  get afterStep(): number {
    return this.#state.afterStep;
  }

  get totalSteps(): number {
    return this.#state.totalSteps;
  }

  /** The session of an agent with two AI sides; undefined for one AI side. */
  get session(): Session | undefined {
    return this.#state.session ?? undefined;
  }

  /** Why the last execution ended; null while one is running. */
  get stopReason(): string | null {
    return this.#state.stopReason;
  }

  get lastError(): StoredError | null {
    return this.#lastError;
  }

  get state(): TurnState {
    return this.#state;
  }

  /** Returns the id of the current execution; generates one if there is none. */
  executionId(): string {
    const executionId = this.#state.executionId ?? uuid4();
    this.#change({ executionId });
    return executionId;
  }

  /** Takes the progress from the store, in a run to which nothing was carried over. */
  resume({ afterStep, turnOpen }: Pick<TurnState, 'afterStep' | 'turnOpen'>): void {
    this.#change({ afterStep, totalSteps: afterStep, turnOpen });
  }

  /** Takes the session from the store, unless one was carried over. */
  adoptSession(session: Session | undefined): void {
    this.#change({ session: this.#state.session ?? session ?? null });
  }

  /** Counts steps that one activity has made before its last one (core/thread/step-loop.ts). */
  passSteps({ count, afterStep, executionId, session }: EarlierSteps): void {
    const totalSteps = this.#state.totalSteps + count;
    this.#change({ turnOpen: true, stopReason: null, totalSteps, afterStep, executionId });
    if (session) this.#change({ session });
  }

  /** Counts a step that is stored and whose calls are to be run. Returns the state before the step was counted. */
  beginStep(outcome: StoredStep): TurnState {
    const { taken, executionId } = outcome;
    if (executionId !== undefined) this.#change({ executionId });
    this.#change({ turnOpen: true, stopReason: null });
    this.#change({ session: toSession(this.#state.session, outcome) });
    const before = this.#state;
    // The store counts steps, because counts in a workflow are lost with a killed run.
    this.#change({ totalSteps: before.totalSteps + 1, steps: taken.a + taken.b, sideSteps: taken });
    return before;
  }

  /** Restores the counts from before `beginStep`: the next run takes the step over and counts it. */
  uncountStep({ totalSteps, steps, sideSteps }: TurnState): void {
    this.#change({ totalSteps, steps, sideSteps });
  }

  /** The step is over. */
  completeStep(step: number): void {
    this.#change({ afterStep: step });
  }

  /** Records that there was nothing to answer. */
  skipStep(outcome: { readonly step: number; readonly session?: Session }): void {
    this.#change({ session: outcome.session ?? this.#state.session, afterStep: outcome.step });
  }

  /** Records that a limit forbids the next step. */
  limitStep({ step, reason }: { readonly step: number; readonly reason: LimitReason }): void {
    const { session } = this.#state;
    const over = session && reason === 'max_session_turns';
    this.#change({ session: over ? NEW_SESSION : session, afterStep: step });
  }

  /**
   * Counts a failed step: the model could not be asked, or its answer could not be stored. One that a budget has denied
   * was never stored, and `step` is then the one before.
   */
  failStep(outcome: { readonly step: number; readonly session?: Session }): void {
    const counted = outcome.step > this.#state.afterStep ? 1 : 0;
    this.skipStep(outcome);
    this.#change({ totalSteps: this.#state.totalSteps + counted });
  }

  /** Decides what ends with the step (core/thread/stop.ts), and updates the session accordingly. */
  judge(step: StoredStep, calls: readonly CallEnd[]): StopVerdict {
    const { verdict, session } = evaluateStepEnd(step, calls, this.#state);
    if (session) this.#change({ session });
    return verdict;
  }

  /** Records that the store has ended the execution; the next step begins another one. */
  end({ afterStep, stopReason, error }: ExecutionEnd): void {
    this.#lastError = error;
    const none = { turnOpen: false, executionId: null, steps: 0, sideSteps: NO_STEPS };
    // Steps that a stop cut short were not reported to this run; the store's number includes them.
    const totalSteps = Math.max(this.#state.totalSteps, afterStep);
    this.#change({ ...none, afterStep, totalSteps, stopReason });
  }

  #change(part: Partial<TurnState>): void {
    this.#state = { ...this.#state, ...part };
  }
}
