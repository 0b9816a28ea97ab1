/**
 * The workflow's time. In the workflow VM the clock stands at the moment when the server recorded the task that runs, and so
 * it shows the same in every replay; no other file of replayed code asks it.
 */

/** Milliseconds since 1970. */
export function workflowTime(): number {
  return Date.now();
}

export function toIsoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
