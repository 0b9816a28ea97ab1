/** What the stages of the tool gate know of a call from the beginning, and what a call is answered with. */

import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { ToolResult } from '../../core/message/message.ts';
import type { ToldAction } from '../../store/port/action.ts';
import type { BegunTool, CommitTool, ToolCallKey } from '../../store/port/tool.ts';

/** A call that has begun, with its place in the step. */
export interface BegunCallInfo
  extends Omit<Extract<BegunTool, { kind: 'run' }>, 'kind' | 'repeated' | 'unbegun'> {
  readonly step: number;
  readonly index: number;
  /** Absent where the call had begun before it came to the gate. */
  readonly pending?: PendingCall;
}

/** A call that the gate begins itself, since it is to be judged first. */
export interface PendingCall {
  /** Whether the gate has begun it. */
  readonly begun: boolean;
  /** As long as it may take, once it has begun, where a budget bounds it. */
  readonly leftMs?: number;
  begin(action: ToldAction | undefined): Promise<BegunTool>;
}

/** As much of it as tells whether the call may be, and with what. */
export type CallInfo = Pick<
  BegunCallInfo,
  'call' | 'thread' | 'side' | 'subprompt' | 'runContext' | 'step' | 'index' | 'pending' | 'waits'
>;

/** What each stage is given. */
export interface KnownCall {
  readonly execution: CallInfo;
}

/** What a call has come to, before it is stored: as a body, a sub-prompt or a child has answered, or a stage that refused it. */
export interface CallAnswer {
  readonly result: ToolResult;
  /** It was not to run: its tool is unknown, or not to be called now. */
  readonly refused?: true;
  /** Where its policy has refused it. */
  readonly action?: ToldAction;
  readonly directive?: FlowDirective;
  /** Metadata of the tool message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** A handoff, which takes effect with the result. */
  readonly handoff?: Pick<CommitTool, 'nextAgent' | 'nextInput'>;
}

export interface ToolResultKey extends ToolCallKey {
  readonly attempt: string;
}
