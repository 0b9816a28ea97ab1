/** What waits for an answer, as it crosses Temporal: a call, or a step. As in `step.ts`: ids, names, flags. */
import type { WaitKind } from '../wait/wait.ts';

/** The call waits for an answer and is to be run again once there is one. Times are milliseconds since 1970. */
export interface WaitingCall {
  readonly kind: 'waits';
  readonly waitId: string;
  readonly waitKind: WaitKind;
  readonly name: string;
  /** What for, in words. */
  readonly text: string;
  readonly expiresAt: number | null;
}

/** What it has begun elsewhere goes on: it is to be run again in so many milliseconds. */
export interface LaterCall {
  readonly kind: 'later';
  readonly name: string;
  readonly pauseMs: number;
}

/** The same step is to be asked for again. */
export interface BlockedStep {
  readonly kind: 'blocked';
  /** The answer that it waits for; absent where other requests hold what is left of its budget. */
  readonly wait?: WaitingCall;
}

/** A subagent has used up its rounds, or calls have failed: as where a limit forbids the step, until `wait` is over. `waiting` items are in line. */
export interface PausedStep {
  readonly kind: 'paused';
  readonly step: number;
  readonly waiting: number;
  readonly wait: WaitingCall;
}
