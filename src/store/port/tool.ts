/** Tool calls (runtime §5): scheduled → started → done, or of unknown outcome. A wait takes one from started back to scheduled. */

import type { FlowDirective, Side } from '../../core/author/thread-execution.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { LoopGuard } from '../../core/guard/loop.ts';
import type { AttachmentRef, Message, ToolResult, ToolStatus } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ToldAction } from './action.ts';
import type { FromRun } from './run.ts';
import type { SubpromptPlace } from './step.ts';
import type { ThreadRecord } from './thread.ts';
import type { Wait } from './wait.ts';

export interface ToolCallKey extends FromRun {
  readonly step: number;
  readonly index: number;
}

export interface StoredToolCall {
  readonly name: string;
  readonly callId: string;
  /** The caller's JSON text, unparsed. */
  readonly arguments: string;
  readonly origin: 'model' | 'signal' | 'code';
  /** The id that its tool message will have, where messages refer to it already. */
  readonly messageId?: string;
}

export type BegunTool =
  | { readonly kind: 'terminated' }
  /** The outcome is stored already. */
  | {
      readonly kind: 'settled';
      readonly name: string;
      readonly state: 'done' | 'unknown';
      readonly status: ToolStatus;
      readonly directive?: FlowDirective;
      /** The execution ends with that: its policy has refused it, or it is one of a loop. */
      readonly denied?: StoredError;
      /** It has waited: whoever shows that is to look again. */
      readonly waited?: true;
    }
  /** The execution's budget denies it: it has not begun, and has its result as the execution ends. */
  | { readonly kind: 'exceeded'; readonly name: string; readonly error: StoredError }
  /** Another attempt has begun it, perhaps on a worker that was lost since, and it may not run twice. */
  | { readonly kind: 'begun_elsewhere'; readonly name: string }
  /** It has asked something: it begins again once the wait is over. */
  | { readonly kind: 'waits'; readonly name: string; readonly wait: Wait }
  | {
      readonly kind: 'run';
      /** Another attempt had begun it. */
      readonly repeated: boolean;
      /** It is to be judged first, and has not begun: begin it again with what was judged. */
      readonly unbegun?: true;
      readonly call: StoredToolCall;
      readonly thread: ThreadRecord;
      /** Model steps of the execution so far. */
      readonly stepCount: number;
      readonly sideSteps: SideSteps;
      /** Whose step it is. */
      readonly side: Side;
      /** The execution's scratch. */
      readonly scratch: Readonly<Record<string, unknown>>;
      /** What the execution runs with; null where nobody has given anything. */
      readonly runContext: RunContext | null;
      /** Where the call is one of a sub-prompt's. */
      readonly subprompt: SubpromptPlace | null;
      /** As long as it may take, where a budget bounds it. */
      readonly leftMs?: number;
      /** The thread's newest messages, oldest first, as `messages.recent` has them; absent where they were not asked for. */
      readonly history?: readonly Message[];
      /** What it has asked so far, all of it over; absent where it has asked nothing. */
      readonly waits?: readonly HeardWait[];
    };

/** A wait of a call, by the key that it was opened with. */
export interface HeardWait {
  readonly key: string;
  readonly wait: Wait;
}

export interface QueuedTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface CommitTool extends ToolCallKey {
  readonly attempt: string;
  /** Null where a hook removed the call: nothing of it is stored but that it is over. */
  readonly result: ToolResult | null;
  /** Files that the result brought, stored already. */
  readonly attachments?: readonly AttachmentRef[];
  /** The tool message, as hooks have made it; its own where absent. */
  readonly message?: {
    readonly id?: string;
    readonly content?: string | null;
    readonly silent?: boolean;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  /** What the tool, or a hook of its call, asked of the flow. */
  readonly directive?: FlowDirective;
  /** The execution's scratch, JSON text; absent where it is as it was. */
  readonly context?: string;
  /** A handoff: the agent that has the thread from the next step on. */
  readonly nextAgent?: string;
  /** That agent's first message: queued in the same transaction. */
  readonly nextInput?: MessageItem;
  /** It may have an action, which ends with it. */
  readonly judged?: boolean;
  /** It ends without having begun: it was refused before. */
  readonly unbegun?: boolean;
  /** It was not to run: its tool is unknown, or not to be called now. */
  readonly refused?: true;
  /** Of a call that its policy has refused. */
  readonly action?: ToldAction;
  /** Its execution's detection of loops, where the call counts: it has run, and was not refused. */
  readonly loops?: LoopGuard;
  /** Tools that the tool queued: stored with its result, or not at all. */
  readonly queuedTools: readonly QueuedTool[];
}

/** `late`: the call was settled before; the result became an event. `denied`: what the execution ends with, whose calls go round in circles. */
export type CommittedTool =
  | { readonly kind: 'stored'; readonly queued: number; readonly denied?: StoredError }
  | { readonly kind: 'late' }
  | { readonly kind: 'terminated' };

export type SettledTool =
  | { readonly kind: 'redispatch'; readonly name: string }
  /** A person is asked what became of it. */
  | { readonly kind: 'waits'; readonly name: string; readonly wait: Wait }
  | {
      readonly kind: 'settled';
      readonly name: string;
      readonly state: 'done' | 'unknown';
      readonly status: ToolStatus;
      readonly directive?: FlowDirective;
      /** As in BegunTool. */
      readonly denied?: StoredError;
    }
  | { readonly kind: 'terminated' };

export interface BeginTool extends ToolCallKey {
  /** The attempt's own name: only the attempt that began a call may commit its result. */
  readonly attempt: string;
  readonly idempotent: (name: string) => boolean;
  /**
   * Whether calls of this agent, in an execution with this context, are judged before they begin: one that has not begun is then told as
   * `unbegun`, and stays so. Where it is given, so is one that a budget pays for. `name` is the call's.
   */
  readonly judges?: (agent: string, context: RunContext | null, name: string) => boolean;
  /** Whoever comes goes on with a call of this name that has begun: it is no other beginning, and whoever held it holds it no more. */
  readonly resumes?: (name: string) => boolean;
  /** What was judged of the call: it may begin. */
  readonly action?: ToldAction;
  /** Whether to bring the thread's newest messages, which the tool's body may ask for. */
  readonly history?: boolean;
}

export interface SettleLost extends ToolCallKey {
  /** Whether threads of this agent wait for a person's word of what became of it; none where absent. */
  readonly asks?: (agent: string) => boolean;
}

export interface ToolCallStore {
  /** Begins the body: scheduled → started, unless it waits for an answer. Only an idempotent tool may be begun again by another attempt. */
  begin(command: BeginTool): Promise<BegunTool>;
  /** Stores the call's one result; whatever run asks (thread-store.ts, P2). The same attempt again changes nothing. */
  commit(command: CommitTool): Promise<CommittedTool>;
  /** Settles a call whose worker was lost: done stays done, started becomes unknown, or waits for word of it; the rest may go again. */
  settleLost(command: SettleLost): Promise<SettledTool>;
}
