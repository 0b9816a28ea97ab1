/** Calls and steps that wait for an answer, as they cross Temporal. As in `step.ts`: ids, names, flags. */
import type { WaitKind } from '../wait/wait.ts';

/** The call waits for an answer and must be run again once there is one. Times are milliseconds since 1970. */
export interface WaitingCall {
  readonly kind: 'waits';
  readonly waitId: string;
  readonly waitKind: WaitKind;
  readonly name: string;
  /** What is waited for, in words. */
  readonly text: string;
  readonly expiresAt: number | null;
}

/** Work that the call has begun elsewhere goes on: the call must be run again in `pauseMs` milliseconds. */
export interface LaterCall {
  readonly kind: 'later';
  readonly name: string;
  readonly pauseMs: number;
}

/** The workflow must ask for the same step again. */
export interface BlockedStep {
  readonly kind: 'blocked';
  /** The wait for an answer; absent, like `held`, if other requests hold what is left of the budget. */
  readonly wait?: WaitingCall;
  readonly held?: HeldModel;
}

/** A model's provider takes no request for now: the step must be asked for again in `pauseMs` milliseconds. */
export interface HeldModel {
  /** The model's name. */
  readonly model: string;
  readonly pauseMs: number;
  readonly asked: AskedSoFar;
}

/** What has become of a step's request before its activity was left; passed to the next one. */
export interface AskedSoFar {
  /** Position of the model that is asked, 0 for the primary one. */
  readonly position: number;
  /** When it was first asked, in milliseconds since 1970. */
  readonly since: number;
  /** How often its provider has refused it. */
  readonly refusals: number;
  /** Requests sent so far, to any model. */
  readonly attempts: number;
}

/**
 * A subagent has used up its rounds, or too many calls have failed: no step begins until `wait` is over, as if a limit
 * forbade it. `waiting` items are in line.
 */
export interface PausedStep {
  readonly kind: 'paused';
  readonly step: number;
  readonly waiting: number;
  readonly wait: WaitingCall;
}
