/**
 * What crosses Temporal between a thread's workflow and its activities about subagents and parents (runtime §7, §8). As in
 * `step.ts`: ids, names, flags.
 */
import type { WaitKind } from '../wait/wait.ts';
import type { StoredError, ToolCallInput, ToolCallOutcome } from './step.ts';

/** A child thread, as its parent's workflow starts it. */
export interface ChildStart {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly rootId: string;
  /** Its name for display. */
  readonly name: string | null;
}

/** What a descendant waits for that holds the thread up. */
export interface WaitBelow {
  readonly id: string;
  readonly threadId: string;
  readonly kind: WaitKind;
  readonly name: string;
}

/** The outcome of a call of a subagent: a child to start, a child that was messaged; or the call's result. */
export type SubagentOutcome =
  | {
      readonly kind: 'child';
      readonly child: ChildStart;
      /** Its workflow is to be started; it may be running already. */
      readonly start: boolean;
      /** The call receives its result with the child's next report. */
      readonly wait: boolean;
      /** Absent where nobody waits for people. */
      readonly waits?: readonly WaitBelow[];
    }
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | { readonly kind: 'terminated' };

export interface FinishSubagentInput extends ToolCallInput {
  /** Why the child could not be messaged, or its workflow not be started. */
  readonly error?: StoredError;
}

/** `waiting`: the call blocks, and the child has not reported yet. */
export type FinishedSubagent =
  | ToolCallOutcome
  | {
      readonly kind: 'waiting';
      /** As above. */
      readonly waits?: readonly WaitBelow[];
    };

/** The outcome of delivering a thread's reports to its parent. */
export interface ReportOutcome {
  /** A child that is not resumable ends with its report. */
  readonly ends: boolean;
}

export interface UnstartedOutcome {
  readonly children: readonly ChildStart[];
  /** More remain than fit into one answer. */
  readonly more: boolean;
}
