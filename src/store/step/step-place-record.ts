/**
 * The place of a step in its thread, and what its request is made from: queued rows for hooks (definitions §9), before a
 * step drains them and as modified by hooks; and summaries, which requests show in place of the older part of a thread's
 * history, while the messages themselves stay unchanged.
 */
import type { RejectedAnswer } from '../../core/answer/typed-answer.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import type { Scale } from '../../core/context/context-estimate.ts';
import type { ModelCounts } from '../../core/context/model-count.ts';
import type { Summary } from '../../core/context/summary.ts';
import type { SnippetCause } from '../../core/event/cause.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { CompactionReason } from '../../core/guard/compaction.ts';
import type { LoopWarning } from '../../core/guard/loop.ts';
import type { AttachmentRef, ChangedMessage, Message } from '../../core/message/message.ts';
import type { SideSteps } from '../../core/thread/session.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';
import type { StepRef } from '../transaction/from-run.ts';

export interface StepPlace {
  readonly thread: ThreadRecord;
  readonly step: number;
  readonly executionId: string;
  /** Number of model steps of the execution, this one included. */
  readonly stepCount: number;
  /** Number of model steps of each side, this one included. */
  readonly sideSteps: SideSteps;
  /** The side whose step it is. */
  readonly side: Side;
  /** The execution's scratch data (`state.context`). */
  readonly scratch: Readonly<Record<string, unknown>>;
  /** Run context of the execution; null if none was given. */
  readonly runContext: RunContext | null;
  /** The sub-prompt that the step belongs to; null if it belongs to none. */
  readonly subprompt: SubpromptPlace | null;
  /** The answer of its execution that was rejected last, if none has been accepted since. */
  readonly rejected?: RejectedAnswer | undefined;
  /** The type that the execution's message gives to its last answer, in place of that of the agent's side. */
  readonly answerType?: JsonSchema | undefined;
  /** Loops that its request must warn of; absent if there are none. */
  readonly loops?: readonly LoopWarning[];
  /** How models have counted the thread's requests. */
  readonly counts?: ModelCounts;
}

/** The stored state that a model's request is assembled from. */
export interface StepContext extends StepPlace {
  /** Oldest first. */
  readonly messages: readonly ContextMessage[];
  /** Number of messages before the first one that the window had no room for. */
  readonly trimmed: number;
  /** Tokens for which messages were read; `assumed`: no model declares its window. Absent if all were read. */
  readonly room?: number | undefined;
  readonly assumed?: true | undefined;
  /** Summary that replaces all messages up to its time; none of those is among `messages`. */
  readonly summary?: Summary;
}

/**
 * How much of a thread's history a step needs. Messages of its own execution that no summary covers are always read.
 */
export interface HistoryWindow {
  /** True to include messages of earlier executions. */
  readonly includeChat: boolean;
  /** True to include the tool results of earlier executions. */
  readonly includePastTools: boolean;
  /** Limit of the estimated tokens of all messages (`core/context/context-estimate.ts`); absent if there is none. */
  readonly tokens?: number;
  /** True if that is not the window of a model: none declares it. */
  readonly assumed?: true | undefined;
  /** How the tokens of a message are estimated. */
  readonly scale?: Scale;
  /** Number of newest messages whose images are shown. */
  readonly recentImages: number;
  /** True if the agent has two AI sides: tool messages of the other side then take no room. */
  readonly twoSides?: boolean;
  /** Which summaries may replace older messages; absent if none may. */
  readonly summaries?: SummaryKey;
}

/** The place of a sub-prompt's step: the call that it answers, and the call's arguments. */
export interface SubpromptPlace {
  readonly prompt: string;
  /** The call's checked arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Depth of its messages: 1 or more; that of the thread's own is 0. */
  readonly depth: number;
  /** The tool message that will hold its result. */
  readonly parentId: string;
  /** Names of the prompts around it, the outermost sub-prompt first, its own last. */
  readonly path: readonly string[];
}

/** An item that a step is about to drain. */
export interface PendingItem {
  readonly id: string;
  /** As it would be stored, without its files. Null if it will be refused, because its id is taken. */
  readonly message: Message | null;
  /** References, or paths that its sender has named. */
  readonly files: readonly (string | AttachmentRef)[];
}

/** An item as hooks have changed it. Absent fields stay. */
export interface PreparedItem extends ChangedMessage {
  readonly id: string;
  readonly role?: 'user' | 'assistant' | 'system';
}

/** `thread`: with the agent that has it from this step on. `side`: unless hooks change the role of the first message. `runContext`: including what the items add. */
export interface PendingWork
  extends Pick<StepPlace, 'thread' | 'stepCount' | 'sideSteps' | 'side' | 'scratch' | 'runContext'> {
  /** True if `after_thread_created` has run, or must not run. */
  readonly greeted: boolean;
  /**
   * In the order in which they are drained. Empty if a step has already begun under this ordinal, or one must be
   * taken over.
   */
  readonly rows: readonly PendingItem[];
  /** Null if the step begins an execution. */
  readonly executionId: string | null;
  /** The execution that these items begin, if they name one. */
  readonly nextExecutionId?: string;
  /** True if a limit forbids the step: nothing would be drained. */
  readonly limited: boolean;
}

/** Selects, together with the side, the summaries that apply to a step. */
export interface SummaryKey {
  readonly prompt: string;
  /** The execution, if its prompt is shown only that one; empty if it is shown the whole thread. */
  readonly scope: string;
}

export interface SaveSummary extends StepRef, SummaryKey {
  readonly summary: Summary;
  /** The last message that it covers. */
  readonly messageId: string;
  /** Number of messages that were summarised for this summary. */
  readonly count: number;
  readonly reason: CompactionReason;
  /** What was too much, and the limit, in the unit of the reason. */
  readonly size?: number | undefined;
  readonly limit?: number | undefined;
  /** Why no model has written it; absent if one has. */
  readonly because?: SnippetCause | undefined;
  /** Last number of the log when the messages were read: a later change of a message makes the summary outdated. */
  readonly seen: number;
}

export type SavedSummary =
  /** The summary that is stored for the key, perhaps by another caller. */
  | { readonly kind: 'kept'; readonly summary: Summary }
  /** A message was changed or removed since then: nothing was written. */
  | { readonly kind: 'outdated' }
  /** Another attempt has the step, or it is over: nothing was written. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };

/** A text that requests show in place of the messages of a thread until then (`until`). */
export interface SummaryTable {
  thread_id: string;
  side: 'a' | 'b';
  prompt: string;
  /** The execution, if the summary is only about its messages; empty if it is about all of the thread's. */
  scope: string;
  /** The time of the last message that it covers, and its id. */
  until: number;
  message_id: string;
  /** Number of messages that it replaces. */
  messages: number;
  text: string;
  /** The last message of the user that it covers. */
  asked: string | null;
  step: number;
  created_at: number;
}
