/**
 * Decides what a model step does, given the state of the store. Ordinarily it calls the model. After a reset, a revival or a lost
 * answer the store may be ahead of the workflow: then what is stored is taken over, and nothing is made a second time.
 */

export interface StepSituation {
  /** A committed step that the workflow does not know yet, and whether all its tool calls are settled. */
  readonly unseen: { readonly step: number; readonly settled: boolean } | undefined;
  /** Queued tools that were drained now and wait to run. */
  readonly newTools: boolean;
  /** Input is stored that no committed step has answered. */
  readonly answerDue: boolean;
  /** The turn has begun and no commit has ended it. */
  readonly turnOpen: boolean;
}

export type StepPlan =
  | { readonly do: 'adopt'; readonly step: number }
  | { readonly do: 'run_tools' }
  | { readonly do: 'call_model' }
  | { readonly do: 'nothing' };

export function planStep({ unseen, newTools, answerDue, turnOpen }: StepSituation): StepPlan {
  // Unfinished calls come first: a model must never see a call without its result.
  if (unseen && !unseen.settled) return { do: 'adopt', step: unseen.step };
  if (newTools) return { do: 'run_tools' };
  if (answerDue) return { do: 'call_model' };
  if (!turnOpen) return { do: 'nothing' };
  return unseen ? { do: 'adopt', step: unseen.step } : { do: 'call_model' };
}
