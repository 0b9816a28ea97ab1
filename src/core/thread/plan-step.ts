/**
 * Decides what a model step does, given the state of the store. Ordinarily it drains what waits and calls the model. After a reset, a
 * revival or a lost answer the store may be ahead of the workflow: then what is stored is taken over, and nothing is made a second time.
 * P1. A step that the workflow has not ended is taken over before anything is drained: its calls come first, since a model must never
 *     see a call without its result; then the stop rules judge it (runtime §3.7). What waits is the next step's, and meets stop rules
 *     and limits (runtime §6) like anything that comes while a step lasts.
 */

/** A committed step that the workflow does not know yet. */
export interface UnseenStep {
  readonly step: number;
  /** All its tool calls are, and no later step of the thread's own has begun. */
  readonly settled: boolean;
}

/** P1. `turnOpen`: the turn has begun, and no commit has ended it. Where one has, the step that it ended was judged. */
export function mustTakeOver(unseen: UnseenStep | undefined, turnOpen: boolean): unseen is UnseenStep {
  return unseen !== undefined && (turnOpen || !unseen.settled);
}

export interface StepSituation {
  /** Queued tools are drained now, and wait to run. */
  readonly newTools: boolean;
  /** The turn has begun, if only with what is drained now, and no commit has ended it. */
  readonly turnOpen: boolean;
}

export type StepPlan = 'run_tools' | 'call_model' | 'nothing';

/** Of a step that takes nothing over. */
export function planStep({ newTools, turnOpen }: StepSituation): StepPlan {
  if (newTools) return 'run_tools';
  return turnOpen ? 'call_model' : 'nothing';
}
