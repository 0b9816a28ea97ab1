/**
 * What crosses Temporal between a thread's workflow and its activities about subagents and parents (runtime §7, §8). As in
 * `step.ts`: ids, names, flags.
 */
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

/** What a call of a subagent has come to: a child that is to be started, or was told something; or its result. */
export type SubagentOutcome =
  | {
      readonly kind: 'child';
      readonly child: ChildStart;
      /** Its workflow is to be started: by whoever comes, as it may run already. */
      readonly start: boolean;
      /** The call has its result with the child's next report. */
      readonly wait: boolean;
    }
  | { readonly kind: 'settled'; readonly outcome: ToolCallOutcome }
  | { readonly kind: 'terminated' };

export interface FinishSubagentInput extends ToolCallInput {
  /** Why the child could not be asked, or its workflow not be started. */
  readonly error?: StoredError;
}

/** `waiting`: the call blocks, and the child has not reported yet. */
export type FinishedSubagent = ToolCallOutcome | { readonly kind: 'waiting' };

/** What became of a thread's reports to its parent. */
export interface ReportOutcome {
  /** A child that is not resumable ends with its report. */
  readonly ends: boolean;
}

export interface UnstartedOutcome {
  readonly children: readonly ChildStart[];
  /** There are more than fit into one answer. */
  readonly more: boolean;
}
