/**
 * What crosses Temporal between a thread's workflow and its activities about subagents and parents (runtime §7, §8). As in
 * `step.ts`: ids, names, flags.
 */
import type { WaitKind } from '../wait/wait.ts';
import type { ToolCallOutcome } from './step.ts';

/** A child thread, as its parent's workflow starts it. */
export interface ChildStart {
  readonly threadId: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly rootId: string;
}

/** A wait of a descendant that blocks the thread. */
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
      /** True if the child's workflow must be started; it may already be running. */
      readonly start: boolean;
      /** True if the call receives its result with the child's next report. */
      readonly wait: boolean;
      /** Waits of descendants for people; absent if there are none. */
      readonly waits?: readonly WaitBelow[];
    }
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | { readonly kind: 'terminated' };

/** `waiting`: the call blocks, and the child has not reported yet. */
export type FinishedSubagent =
  | ToolCallOutcome
  | {
      readonly kind: 'waiting';
      /** As in `SubagentOutcome`. */
      readonly waits?: readonly WaitBelow[];
    };

/** The outcome of delivering a thread's reports to its parent. */
export interface ReportOutcome {
  /** True if the thread ends with this report: a child that is not resumable does. */
  readonly ends: boolean;
}

export interface UnstartedOutcome {
  readonly children: readonly ChildStart[];
  /** True if more children remain than fit into one answer. */
  readonly more: boolean;
}
