/**
 * Decides what a model step does, given the state of the store. Normally it drains the queued items and calls the
 * model. After a reset, a revival or a lost answer the store may be ahead of the workflow: then the stored step is
 * taken over, and nothing is made a second time.
 * - A step that the workflow has not ended is taken over before anything is drained. Its calls come first, since a
 *   model must never see a call without its result; then the stop rules judge it (runtime §3.7). Queued items are
 *   left to the next step: stop rules and limits (runtime §6) apply to them as to anything that arrives during a
 *   step.
 */

/** A committed step that the workflow does not know yet. */
export interface UnseenStep {
  readonly step: number;
  /** True if all its tool calls are settled, and no later step of the thread's own has begun. */
  readonly settled: boolean;
}

/** `turnOpen`: the turn has begun, and no commit has ended it. If one has, the step that ended it was judged. */
export function mustTakeOver(unseen: UnseenStep | undefined, turnOpen: boolean): unseen is UnseenStep {
  return unseen !== undefined && (turnOpen || !unseen.settled);
}

export interface StepSituation {
  /** True if queued tools are drained by this step, and wait to run. */
  readonly newTools: boolean;
  /** True if the turn has begun, possibly with what this step drains, and no commit has ended it. */
  readonly turnOpen: boolean;
}

export type StepPlan = 'run_tools' | 'call_model' | 'nothing';

/** Plans a step that takes nothing over. */
export function planStep({ newTools, turnOpen }: StepSituation): StepPlan {
  if (newTools) return 'run_tools';
  return turnOpen ? 'call_model' : 'nothing';
}
