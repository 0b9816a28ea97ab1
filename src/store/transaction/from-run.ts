/**
 * Part of every command of a workflow: the thread, and the workflow run that sends the command (checked by the fence).
 */
export interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}

/** One attempt at a step. */
export interface StepRef extends FromRun {
  readonly step: number;
  readonly attempt: number;
}

/** A tool call, by the step that it belongs to and its index in that. */
export interface CallKey {
  readonly step: number;
  readonly index: number;
}
