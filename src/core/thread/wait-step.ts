/** What crosses Temporal between a thread's workflow and its activities about waits. As in `step.ts`: ids, names, flags. */
import type { WaitAnswer } from '../wait/answer.ts';
import type { WaitVerdict } from '../wait/wait.ts';
import type { RunRef, SubpromptOutcome, ToolCallOutcome } from './step.ts';
import type { SubagentOutcome } from './subagent-step.ts';
import type { LaterCall, WaitingCall } from './waiting-call.ts';

export type { LaterCall, WaitingCall };

/** An answer that arrived by a signal or an update; it counts once it is stored. */
export interface AnswerWaitInput extends RunRef {
  readonly id: string;
  readonly answer: WaitAnswer;
  readonly fingerprint?: string;
}

export type WaitAnswerOutcome = WaitVerdict | { readonly outcome: 'misfit'; readonly reason: string };

/** The outcome of one attempt at a call. */
export type AttemptOutcome = ToolCallOutcome | WaitingCall;
/** The outcome of one attempt at a tool call, which may have begun work that goes on elsewhere. */
export type ToolAttempt = AttemptOutcome | LaterCall;
export type SubpromptAttempt = SubpromptOutcome | WaitingCall;
export type SubagentAttempt = SubagentOutcome | WaitingCall;
