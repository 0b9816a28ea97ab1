/** What every command of a workflow carries: the thread, and the workflow run that asks (the fence). */
export interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}
