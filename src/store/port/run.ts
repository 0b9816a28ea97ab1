/** Every command of a workflow names the thread, and the workflow run that asks (the fence). */
export interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}
