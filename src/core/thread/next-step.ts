/**
 * An activity that ends a step goes on into the next step's question to a model: an activity and a workflow task less for each. So does
 * the last call of a step, and a model step whose calls were all quick. What both sides of Temporal have to agree on for that.
 * N1. The workflow offers it where nothing that it knows of comes before the next step. The activity does it only where the step goes on, and
 *     where the workflow has heard nothing since: then the workflow would have asked for that very step, with nothing in line that the store does not have.
 * N2. Where the step may have been begun and nothing of it was heard, it is asked for again under the same ordinal: another attempt at it.
 * N3. An activity goes on once: one of a model step asks for two steps at most, and one of a call for one.
 */
import type {
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  StoredStep,
  ToolCallInput,
  ToolCallOutcome,
} from './step.ts';
import { foreseeEnd, toSession } from './step-end.ts';

/** Which step of the workflow would follow, and when the workflow has heard nothing. */
export interface Offer {
  /** As in `ModelStepInput`. */
  readonly ordinal: number;
  /** Events of the workflow's history once the activity is scheduled, where nothing else is scheduled with it. */
  readonly historyLength: number;
}

/** The step that follows, as the workflow would ask for it (`ModelStepInput`). */
export interface NextStep extends Offer, Pick<ModelStepInput, 'afterStep' | 'agent' | 'session'> {}

/** A model step, and whether it may go on into the next one where all that it calls is quick. */
export interface StepInput extends ModelStepInput {
  readonly next?: Offer;
}

/** A call, and the step to go on into where it may. */
export interface LastCallInput extends ToolCallInput {
  readonly next?: NextStep;
}

/** N2: it was asked for, and what came of it is for another attempt to tell. */
export interface UnheardStep {
  readonly kind: 'unheard';
}

/** What came of the step behind. */
export interface WithNext {
  readonly next: ModelStepOutcome | UnheardStep;
}

/** The call's outcome, and that of the step behind it. */
export type GoneOn = Extract<ToolCallOutcome, { kind: 'done' }> & WithNext;
/** The step's outcome, and that of the step behind it. */
export type StepGoneOn = StoredStep & WithNext;

/** Nothing is handed over with it: what is in line is in the store (N1). */
export function toNextInput(
  executionId: string,
  { historyLength: _, ...next }: Omit<NextStep, 'historyLength'> & Partial<Offer>,
): Omit<ModelStepInput, keyof RunRef> {
  return { ...next, executionId, items: [], rejections: [] };
}

/** The step behind one whose calls have all run within its activity; undefined where none follows, or the workflow is to judge it. */
export function findNext(
  { session, agent }: Pick<ModelStepInput, 'session' | 'agent'>,
  told: ModelStepOutcome,
  offer: Offer,
): NextStep | undefined {
  if (told.kind !== 'step' || told.taken === undefined || told.directive || told.exceeded) return undefined;
  const calls = told.ran?.flatMap((call) => (call.kind === 'done' && !call.directive ? [call] : [])) ?? [];
  if (told.callCount === 0 || calls.length !== told.callCount) return undefined;
  const end = foreseeEnd(told, calls, { sideSteps: told.taken, session: toSession(session, told) });
  // Whose move it is, the workflow hears of each step before another one.
  if (!end.verdict.goesOn || end.verdict.turn) return undefined;
  const { step: afterStep, agent: moved = agent } = told;
  return { ...offer, afterStep, agent: moved, ...(end.session ? { session: end.session } : {}) };
}
