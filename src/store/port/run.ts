/**
 * Part of every command of a workflow: the thread, and the workflow run that sends the command (checked by the fence).
 */
export interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}
