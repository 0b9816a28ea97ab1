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
import type { NextStep, NextStepOffer } from '../core/thread/next-step.ts';
import type { CallRef, StoredStep } from '../core/thread/step.ts';
import type { CallEnd } from '../core/thread/step-end.ts';
import { mayContinue } from './continue.ts';
import type { ThreadRun } from './thread-run.ts';

/** A step ahead, into which a call may go on, with its text for the summary. */
export interface Ahead {
  readonly step: NextStep;
  readonly summary: string;
}

/** Events of history that scheduling an activity adds: the completed workflow task, and the scheduled activity. */
const OWN_EVENTS = 2;

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
