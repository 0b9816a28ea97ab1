/**
 * Tool calls (runtime §5): scheduled → started → done, or of unknown outcome. A wait moves a call from started back to
 * scheduled.
 *
 * Author code that has brought worker processes down. A unit of work is identified by a key that is the same in every
 * attempt.
 * - A row marks work as suspect: it then runs in its own process. Only deaths known to be caused by it count as
 *   strikes.
 * K2. The row is deleted when the work ends normally, or if it is not touched for STRIKES_KEPT_DAYS.
 */
import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { LoopGuard } from '../../core/guard/loop.ts';
import type { ChangedMessage, Message, ToolResult, ToolStatus } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { ChangedArguments } from '../../core/wait/changed-arguments.ts';
import type { DecidedAction } from '../action/action-record.ts';
import type { StepPlace } from '../step/step-place-record.ts';
import type { CallKey, FromFlow, FromRun } from '../transaction/from-run.ts';
import type { Wait } from '../wait/wait-record.ts';

export interface ToolCallKey extends FromRun, CallKey {}

export interface StoredToolCall {
  readonly name: string;
  readonly callId: string;
  /** JSON text, unparsed: the caller's, or what a person has changed it to. */
  readonly arguments: string;
  /** Present if a person has changed the arguments as they approved the call. */
  readonly changed?: Pick<ChangedArguments, 'waitId' | 'by'> & { readonly from: string };
  readonly origin: 'model' | 'signal' | 'code';
  /** Id that its tool message will have; set if messages refer to it already. */
  readonly messageId?: string;
}

interface SettledCall {
  readonly kind: 'settled';
  readonly name: string;
  readonly state: 'done' | 'unknown';
  readonly status: ToolStatus;
  readonly directive?: FlowDirective;
  /** Error that ends the execution: its policy has refused the call, or the call is part of a loop. */
  readonly denied?: StoredError;
}

/** The place of the step that a call belongs to; its model steps are those so far. */
type CallPlace = Pick<
  StepPlace,
  'thread' | 'stepCount' | 'sideSteps' | 'side' | 'scratch' | 'runContext' | 'subprompt'
>;

export type BegunTool =
  | { readonly kind: 'terminated' }
  /** The outcome is stored already. `waited`: the call has had waits; ancestors that show them must be notified. */
  | (SettledCall & { readonly waited?: true })
  /** The execution's budget denies the call. It has not begun; it gets its result when the execution ends. */
  | { readonly kind: 'exceeded'; readonly name: string; readonly error: StoredError }
  /** Another attempt has begun the call, perhaps on a worker that was lost since, and the tool may not run twice. */
  | { readonly kind: 'begun_elsewhere'; readonly name: string }
  /** The call has an open wait, and begins again once that is over. */
  | { readonly kind: 'waits'; readonly name: string; readonly wait: Wait }
  | (CallPlace & {
      readonly kind: 'run';
      /** True if another attempt had begun the call. */
      readonly repeated: boolean;
      /** Set if the call must be judged first and has not begun: begin it again with the judged action. */
      readonly unbegun?: true;
      readonly call: StoredToolCall;
      /** Milliseconds that the call may take; absent if no budget limits its time. */
      readonly leftMs?: number;
      /** The thread's newest messages, oldest first, as `messages.recent` returns them; absent unless requested. */
      readonly history?: readonly Message[];
      /** Waits that the call has opened so far, all of them over; absent if there are none. */
      readonly waits?: readonly KeyedWait[];
    });

/** A wait of a call, with the key that it was opened with. */
export interface KeyedWait {
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
  /** Null if a hook removed the call: it is over, and nothing else is stored. */
  readonly result: ToolResult | null;
  /** Fields of the tool message, its files among them; absent fields come from the result. */
  readonly message?: ChangedMessage & { readonly id?: string };
  /** Flow directive of the tool, or of a hook of its call. */
  readonly directive?: FlowDirective;
  /** The execution's scratch data as JSON text; absent if unchanged. */
  readonly context?: string;
  /** Set by a handoff: the agent that has the thread from the next step on. */
  readonly nextAgent?: string;
  /** First message for that agent, queued in the same transaction. */
  readonly nextInput?: MessageItem;
  /** True if the call may have an action, which then ends with it. */
  readonly judged?: boolean;
  /** True if the call ends without having begun, because it was refused before. */
  readonly unbegun?: boolean;
  /** Set if the call must not run: its tool is unknown, or may not be called now. */
  readonly refused?: true;
  /** Action of a call that its policy has refused. */
  readonly action?: DecidedAction;
  /** Loop detection of its execution; set if the call counts for it: it has run, and was not refused. */
  readonly loops?: LoopGuard;
  /** Tools that the tool queued; stored in the same transaction as its result. */
  readonly queuedTools: readonly QueuedTool[];
}

/**
 * `late`: the call had been settled, and the result is only logged. `denied`: error that ends the execution, because
 * its calls form a loop.
 */
export interface EndedCall {
  /** How many items and tools were put in line. */
  readonly queued: number;
  readonly denied?: StoredError;
  /** Ids of the messages of calls whose end had waited for this one, as far as their commands name them. */
  readonly released?: readonly string[];
}

export type CommittedTool =
  | ({ readonly kind: 'stored' } & EndedCall)
  | { readonly kind: 'late' }
  | { readonly kind: 'terminated' };

export type SettledTool =
  | { readonly kind: 'redispatch'; readonly name: string }
  /** A person is asked for the outcome of the call. */
  | { readonly kind: 'waits'; readonly name: string; readonly wait: Wait }
  | SettledCall
  | { readonly kind: 'terminated' };

export interface BeginTool extends ToolCallKey, FromFlow {
  /** Unique name of the attempt: only the attempt that began a call may commit its result. */
  readonly attempt: string;
  readonly idempotent: (name: string) => boolean;
  /**
   * True if calls of this agent, in an execution with this context, are judged before they begin; `name` is that of the
   * call. A judged call that has not begun is returned as `unbegun` and not started. If this function is given, the
   * same holds for every call that a budget pays for, or that has waited.
   */
  readonly judges?: (agent: string, context: RunContext | null, name: string) => boolean;
  /**
   * True if any attempt may continue a call of this name that has begun: it takes the call over from the attempt that
   * held it, and the call counts as begun once.
   */
  readonly resumes?: (name: string) => boolean;
  /** The judged action of the call, which may now begin. */
  readonly action?: DecidedAction;
  /** True to return the thread's newest messages, which the tool's body may ask for. */
  readonly history?: boolean;
}

export interface SettleLost extends ToolCallKey, FromFlow {
  /** True if threads of this agent wait for a person to report the outcome of the call. If absent, none do. */
  readonly asks?: (agent: string) => boolean;
}

export interface Strike {
  readonly work: string;
  readonly threadId: string;
  /** Kind (`code`) and name of the code that ran, for display. */
  readonly code: string;
  readonly name: string;
  /** Number of deaths that it caused; 0 if it only ran when a process died. */
  readonly strikes: number;
}

export type StruckWork = Omit<Strike, 'strikes'>;

export interface RecordedDeath {
  /** Idempotency key: recording the same death again has no effect. */
  readonly id: string;
  readonly culprit?: StruckWork;
  readonly suspects: readonly StruckWork[];
}
