/**
 * A call that ends its step goes on into the next step's question to a model, within its own activity: an activity and a workflow task
 * less for each. What both sides of Temporal have to agree on for that.
 * N1. The workflow asks for it where the step goes on whatever becomes of the call. The activity does it only where the workflow has
 *     heard nothing since: then the workflow would have asked for that very step, with nothing in line that the store does not have.
 * N2. Where the step may have been begun and nothing of it was heard, it is asked for again under the same ordinal: another attempt at it.
 */
import type { ModelStepInput, ModelStepOutcome, RunRef, ToolCallInput, ToolCallOutcome } from './step.ts';

/** The step that follows, as the workflow would ask for it (`ModelStepInput`). */
export interface NextStep extends Pick<ModelStepInput, 'ordinal' | 'afterStep' | 'agent' | 'session'> {
  /** Events of the workflow's history once the call's activity is scheduled, where nothing else is scheduled with it. */
  readonly historyLength: number;
}

/** A call, and the step to go on into where it may. */
export interface LastCallInput extends ToolCallInput {
  readonly next?: NextStep;
}

/** N2: it was asked for, and what came of it is for another attempt to tell. */
export interface UnheardStep {
  readonly kind: 'unheard';
}

/** The call's outcome, and that of the step behind it. */
export type GoneOn = Extract<ToolCallOutcome, { kind: 'done' }> & {
  readonly next: ModelStepOutcome | UnheardStep;
};

/** Nothing is handed over with it: what is in line is in the store (N1). */
export function toNextInput(
  executionId: string,
  { historyLength: _, ...next }: NextStep,
): Omit<ModelStepInput, keyof RunRef> {
  return { ...next, executionId, items: [], rejections: [] };
}
