/** What the stages of the tool gate know of a call from the beginning, and what a call is answered with. */

import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { DecidedAction } from '../../store/action/action-record.ts';
import type { BegunTool, CommitTool, ToolCallKey } from '../../store/tool/tool-record.ts';

/** A call that has begun, with its place in the step. */
export interface BegunCallInfo
  extends Omit<Extract<BegunTool, { kind: 'run' }>, 'kind' | 'repeated' | 'unbegun'> {
  readonly step: number;
  readonly index: number;
  /** Absent if the call had begun before it came to the gate. */
  readonly pending?: PendingCall;
}

/** A call that the gate itself begins, since it must be judged first. */
export interface PendingCall {
  /** True once the gate has begun the call. */
  readonly begun: boolean;
  /** Milliseconds that the call may take once it has begun, if a budget bounds it. */
  readonly leftMs?: number;
  begin(action: DecidedAction | undefined): Promise<BegunTool>;
}

/** The parts that decide whether the call may run, and with what. */
export type CallInfo = Pick<
  BegunCallInfo,
  'call' | 'thread' | 'side' | 'subprompt' | 'runContext' | 'step' | 'index' | 'pending' | 'waits'
>;

/** What each stage receives. */
export interface KnownCall {
  readonly execution: CallInfo;
}

/**
 * The answer of a call before it is stored: from a body, a sub-prompt or a child, or from a stage that refused the
 * call.
 */
export interface CallAnswer {
  readonly result: ToolResult;
  /** Set if the call must not run: its tool is unknown, or must not be called now. */
  readonly refused?: true;
  /** The action, if its policy has refused it. */
  readonly action?: DecidedAction;
  readonly directive?: FlowDirective;
  /** Metadata of the tool message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** A handoff, which takes effect with the result. */
  readonly handoff?: Pick<CommitTool, 'nextAgent' | 'nextInput'>;
}

export interface ToolResultKey extends ToolCallKey {
  readonly attempt: string;
}
