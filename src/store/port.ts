/**
 * The ThreadStore port: where everything of a thread lives that Temporal must not carry.
 * P1. Each command is one transaction. A command given twice has the effect of once: natural keys guard it.
 *     Streamed text alone has no key; nobody sends it twice.
 * P2. Commands of a workflow carry its run id; a retired run's command throws `StaleRun` (the fence). Two do not:
 *     a tool's result is true whoever asked for it, and streamed text is dropped without a word.
 * P3. On a terminated thread commands answer `terminated` (or refuse) and change nothing; only a tool's late
 *     result is still told in the log.
 * Times are microseconds since 1970.
 */
import type { ContextMessage } from '../core/context.ts';
import type { QueueItem, Refusal } from '../core/item.ts';
import type { Message, ToolCall, ToolResult, ToolStatus } from '../core/message.ts';
import type { ProviderUsage } from '../core/provider.ts';
import type { CommitStatusInput, CommitStatusOutcome, StoredError, ThreadStatus } from '../core/step.ts';
import type { GetMessagesOptions, MessagePage, NewMessage } from '../core/thread-state.ts';
import type { EnvStore } from './env-port.ts';
import type { FileStore } from './file-port.ts';
import type { ValueStore } from './value-port.ts';

export interface ThreadRecord {
  readonly id: string;
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: ThreadStatus;
  readonly stopReason: string | null;
  readonly lastError: StoredError | null;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly terminatedAt: number | null;
  /** Steps so far. */
  readonly lastStep: number;
  /** Number of the newest event. */
  readonly lastSeq: number;
}

/** One row of a thread's event log; `seq` has no gap when given. */
export interface ThreadEvent {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly step?: number;
  readonly attempt?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

interface FromRun {
  readonly threadId: string;
  readonly runId: string;
}

export interface OpenThread extends FromRun {
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** The thread has run before: a store that does not know it is the wrong store. */
  readonly mustExist: boolean;
}

export type OpenedThread =
  | { readonly kind: 'terminated' }
  | {
      readonly kind: 'open';
      readonly thread: ThreadRecord;
      readonly afterStep: number;
      readonly turnOpen: boolean;
      readonly waiting: number;
    };

export interface BeginStep extends FromRun {
  readonly ordinal: number;
  readonly executionId: string;
  readonly afterStep: number;
  readonly items: readonly QueueItem[];
  readonly rejections: readonly Refusal[];
}

/** A step that is in the store, as the workflow must hear of it. */
export interface StepRecord {
  readonly step: number;
  readonly kind: 'model' | 'tools';
  readonly text: boolean;
  readonly model: string | null;
  /** Names of its tool calls, in order. */
  readonly calls: readonly string[];
  /** Input is stored that this step has not answered. */
  readonly moreInput: boolean;
}

export type BegunStep =
  | { readonly kind: 'terminated' }
  | { readonly kind: 'nothing_to_do'; readonly step: number; readonly swept: number }
  | { readonly kind: 'stored'; readonly record: StepRecord; readonly swept: number }
  | { readonly kind: 'failed'; readonly step: number; readonly error: StoredError; readonly swept: number }
  | { readonly kind: 'call'; readonly step: number; readonly attempt: number; readonly swept: number };

export interface StepRef extends FromRun {
  readonly step: number;
  readonly attempt: number;
}

export interface CommitStep extends StepRef {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly model: string;
  readonly finishReason: string;
  readonly usage: ProviderUsage;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** `closed`: the step was stopped, or another attempt was first; nothing was written. */
export type CommittedStep =
  | { readonly kind: 'stored'; readonly record: StepRecord }
  | { readonly kind: 'closed' }
  | { readonly kind: 'terminated' };

export interface ModelCallStart extends StepRef {
  readonly call: number;
  readonly model: string;
  readonly modelId: string;
}

export interface ModelCallEnd extends StepRef {
  readonly call: number;
  readonly ok: boolean;
  readonly error?: StoredError & { readonly statusCode?: number; readonly retryInMs?: number };
  readonly usage?: ProviderUsage;
  readonly cost?: number;
  readonly firstTokenAt?: number;
}

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
}

export type BegunTool =
  | { readonly kind: 'terminated' }
  /** The outcome is stored already. */
  | {
      readonly kind: 'settled';
      readonly name: string;
      readonly state: 'done' | 'unknown';
      readonly status: ToolStatus;
    }
  /** Another attempt began it, and it may not run twice. */
  | { readonly kind: 'begun_elsewhere'; readonly name: string }
  | { readonly kind: 'run'; readonly call: StoredToolCall; readonly thread: ThreadRecord };

export interface CommitTool extends ToolCallKey {
  readonly attempt: string;
  readonly result: ToolResult;
  /** Tools that the tool queued: stored with its result, or not at all. */
  readonly queuedTools: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  }[];
}

/** `late`: the call was settled before; the result became an event. */
export type CommittedTool =
  | { readonly kind: 'stored'; readonly queued: number }
  | { readonly kind: 'late' }
  | { readonly kind: 'terminated' };

export type SettledTool =
  | { readonly kind: 'redispatch'; readonly name: string }
  | {
      readonly kind: 'settled';
      readonly name: string;
      readonly state: 'done' | 'unknown';
      readonly status: ToolStatus;
    }
  | { readonly kind: 'terminated' };

/** What a model's request is assembled from. */
export interface StepContext {
  readonly thread: ThreadRecord;
  readonly executionId: string;
  /** Oldest first. */
  readonly messages: readonly ContextMessage[];
}

export interface ThreadStore extends ValueStore, FileStore, EnvStore {
  /** The store's own id; part of each worker's identity. */
  readonly id: string;
  /** Its engine and where it is, for people. */
  readonly place: string;

  openThread(command: OpenThread): Promise<OpenedThread>;
  /** Moves queued content into the store, in order; answers how many rows are pending now. */
  stashItems(
    command: FromRun & { readonly items: readonly QueueItem[] },
  ): Promise<{ readonly waiting: number }>;
  beginStep(command: BeginStep): Promise<BegunStep>;
  readContext(threadId: string, step: number): Promise<StepContext>;
  startModelCall(command: ModelCallStart): Promise<void>;
  endModelCall(command: ModelCallEnd): Promise<void>;
  /** Appends streamed text; false when the step is no longer open and nothing was written. */
  appendChunk(command: StepRef & { readonly call: number; readonly delta: string }): Promise<boolean>;
  commitStep(command: CommitStep): Promise<CommittedStep>;
  failStep(command: StepRef & { readonly error: StoredError }): Promise<CommittedStep>;
  beginTool(
    command: ToolCallKey & { readonly attempt: string; readonly idempotent: (name: string) => boolean },
  ): Promise<BegunTool>;
  commitTool(command: CommitTool): Promise<CommittedTool>;
  /** Settles a call whose worker was lost: done stays done, started becomes unknown, the rest may go again. */
  settleLostTool(command: ToolCallKey): Promise<SettledTool>;
  commitStatus(command: CommitStatusInput & FromRun): Promise<CommitStatusOutcome>;

  /** Puts an item where its signal will find it, even before the thread is there. The same id again changes nothing. */
  stageItem(threadId: string, item: QueueItem): Promise<void>;
  /** Queues an item from inside a running tool. Throws `ThreadTerminated`. */
  queueItem(threadId: string, item: QueueItem): Promise<void>;
  injectMessage(
    threadId: string,
    id: string,
    message: NewMessage,
    executionId: string | null,
  ): Promise<Message>;

  getThread(threadId: string): Promise<ThreadRecord | null>;
  listThreads(options?: {
    readonly status?: ThreadStatus;
    readonly agent?: string;
    readonly limit?: number;
  }): Promise<readonly ThreadRecord[]>;
  getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage>;
  getMessage(threadId: string, id: string): Promise<Message | null>;
  /** Events after a number, oldest first. */
  readEvents(threadId: string, after: number, limit?: number): Promise<readonly ThreadEvent[]>;
  /** How many of these item ids have become messages or were refused. */
  countTaken(threadId: string, itemIds: readonly string[]): Promise<number>;

  close(): Promise<void>;
}
