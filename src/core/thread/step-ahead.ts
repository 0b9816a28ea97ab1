/**
 * An activity that ends a step may go on into the next step's request to a model, which saves an activity and a
 * workflow task. The last call of a step does so, and a model step whose calls were all quick. This file holds what
 * both sides of Temporal must agree on for that.
 * - The workflow offers to go on if nothing that it knows of comes before the next step. The activity accepts only if
 *   the stop rules let a step follow and the workflow has received nothing since. Then the workflow would have asked
 *   for exactly that step, with nothing in line that the store does not have.
 * - A step that may have begun, but whose outcome is unknown, is asked for again under the same ordinal.
 *   That is another attempt at it.
 * - An activity goes on at most once: one of a model step makes at most two steps, and one of a call at most one.
 */
import type {
  ModelStepInput,
  ModelStepOutcome,
  RunRef,
  StoredStep,
  ToolAttempt,
  ToolCallInput,
  ToolCallOutcome,
} from './step.ts';
import { evaluateStepEnd, toSession } from './stop.ts';

/** Which step of the workflow would follow, and how to check that the workflow has received nothing since. */
export interface NextStepOffer {
  /** As in `ModelStepInput`. */
  readonly ordinal: number;
  /** Length of the workflow's history once the activity is scheduled, provided nothing else is scheduled with it. */
  readonly historyLength: number;
}

/** The step that follows, as the workflow would ask for it (`ModelStepInput`). */
export interface NextStep extends NextStepOffer, Pick<ModelStepInput, 'afterStep' | 'agent' | 'session'> {}

/** A model step; `next` is set if it may go on into the next one when all its calls are quick. */
export interface StepInput extends ModelStepInput {
  readonly next?: NextStepOffer;
}

/** A call; `next` is the step that it may go on into. */
export interface LastCallInput extends ToolCallInput {
  readonly next?: NextStep;
}

/** The step was asked for, but its outcome is not known here; another attempt returns it. */
export interface UnknownStepOutcome {
  readonly kind: 'unheard';
}

/** The outcome of the following step. */
export interface WithNext {
  readonly next: ModelStepOutcome | UnknownStepOutcome;
}

/** The call's outcome, and that of the following step. */
export type CallWithNext = Extract<ToolCallOutcome, { kind: 'done' }> & WithNext;
/** The step's outcome, and that of the following step. */
export type StepWithNext = StoredStep & WithNext;

/** The input of the next step. It carries no items: all items in line are in the store. */
export function toNextInput(
  executionId: string,
  { historyLength: _, ...next }: Omit<NextStep, 'historyLength'> & Partial<NextStepOffer>,
): Omit<ModelStepInput, keyof RunRef> {
  return { ...next, executionId, items: [], rejections: [] };
}

/**
 * The step that follows a call, or a step whose calls all ran in its activity; undefined if none does or the workflow
 * must decide.
 */
export function findNext(
  { session, agent }: Pick<ModelStepInput, 'session' | 'agent'>,
  outcome: ModelStepOutcome | ToolAttempt,
  offer: NextStepOffer | NextStep,
): NextStep | undefined {
  if ('afterStep' in offer) return outcome.kind === 'done' && !outcome.directive ? offer : undefined;
  if (outcome.kind !== 'step' || outcome.taken === undefined || outcome.directive || outcome.exceeded)
    return undefined;
  const calls = outcome.ran?.flatMap((call) => (call.kind === 'done' && !call.directive ? [call] : [])) ?? [];
  if (outcome.callCount === 0 || calls.length !== outcome.callCount) return undefined;
  const end = evaluateStepEnd(outcome, calls, {
    sideSteps: outcome.taken,
    session: toSession(session, outcome),
  });
  // The workflow must learn which side acts next before another step begins.
  if (!end.verdict.goesOn || end.verdict.turn) return undefined;
  const { step: afterStep, agent: moved = agent } = outcome;
  return { ...offer, afterStep, agent: moved, session: end.session };
}
