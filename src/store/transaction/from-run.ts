/**
 * Part of every command of a workflow: the thread, and the workflow run that sends the command (checked by the fence).
 */
export interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}

/** An attempt at an activity of a workflow run. A later activity has a higher number, a later attempt a later time. */
export interface ActivityAttempt {
  readonly number: number;
  /** When the server scheduled the attempt, in milliseconds since 1970. */
  readonly since: number;
  /** Set for the first that an activity begins, if it was in Temporal's queue for long (event-data.ts). */
  readonly queuedMs?: number | undefined;
}

/**
 * A command that begins work of the thread's one flow, or ends it: only the newest attempt at the newest activity may
 * (thread-transaction.ts, `admit`). Results of work that has begun are accepted from any. Absent in tests.
 */
export interface FromFlow extends FromRun {
  readonly activity?: ActivityAttempt;
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
