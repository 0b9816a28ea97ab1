/** What crosses Temporal between a thread's workflow and its activities about waits. As in `step.ts`: ids, names, flags. */
import type { WaitAnswer } from '../wait/answer.ts';
import type { WaitKind, WaitVerdict } from '../wait/wait.ts';
import type { RunRef, SubpromptOutcome, ToolCallOutcome } from './step.ts';
import type { SubagentOutcome } from './subagent-step.ts';

/** An answer that a signal or an update has brought: it is stored before it counts. */
export interface AnswerWaitInput extends RunRef {
  readonly id: string;
  readonly answer: WaitAnswer;
  readonly fingerprint?: string;
}

export type WaitAnswerOutcome = WaitVerdict | { readonly outcome: 'misfit'; readonly reason: string };

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

/** A subagent has used up its rounds: as where a limit forbids the step, until `wait` is over. `waiting` items are in line. */
export interface PausedStep {
  readonly kind: 'paused';
  readonly step: number;
  readonly waiting: number;
  readonly wait: WaitingCall;
}

/** What one attempt at a call comes to. */
export type AttemptOutcome = ToolCallOutcome | WaitingCall;
export type SubpromptAttempt = SubpromptOutcome | WaitingCall;
export type SubagentAttempt = SubagentOutcome | WaitingCall;
