/**
 * The workflow's time. In the workflow VM the clock returns the time at which the server recorded the current workflow
 * task, so it is the same in every replay. No other file of replayed code may read the clock.
 */

/** Milliseconds since 1970. */
export function workflowTime(): number {
  return Date.now();
}

export function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
