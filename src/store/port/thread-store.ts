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
import type { QueueItem, Refusal } from '../../core/item.ts';
import type { CommitStatusInput, CommitStatusOutcome, StoredError, ThreadStatus } from '../../core/step.ts';
import type { SubagentReport } from '../../core/subagent-report.ts';
import type { EventData, EventKind, ThreadEvent } from '../../core/thread-event.ts';
import type { GetLogsOptions, Log } from '../../core/thread-log.ts';
import type { EffectStore } from './effect.ts';
import type { EnvStore } from './env.ts';
import type { FamilyStore } from './family.ts';
import type { FileStore } from './file.ts';
import type { HookStore } from './hook.ts';
import type { MessageStore } from './message.ts';
import type { FromRun } from './run.ts';
import type {
  BeginStep,
  BegunStep,
  CommitStep,
  CommittedStep,
  HistoryWindow,
  ModelCallEnd,
  ModelCallStart,
  StepContext,
  StepPlace,
  StepRef,
} from './step.ts';
import type { StrikeStore } from './strike.ts';
import type { SubpromptStore } from './subprompt.ts';
import type { ThreadRecord } from './thread.ts';
import type { BegunTool, CommitTool, CommittedTool, SettledTool, ToolCallKey } from './tool.ts';
import type { ValueStore } from './value.ts';

export type * from './family.ts';
export type { FromRun } from './run.ts';
export type * from './step.ts';
export type * from './strike.ts';
export type * from './subprompt.ts';
export type * from './thread.ts';
export type * from './tool.ts';

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
      /** It has a parent in whose registry it stands. From now on it counts as started. */
      readonly isChild: boolean;
      /** It has made a report that its parent has not heard. */
      readonly reportDue: boolean;
      /** It has made children that nobody has started. */
      readonly unstarted: boolean;
    };

/** Narrowed by its `type`, as the events that are read. */
export type NewEvent = {
  [Kind in EventKind]: {
    readonly type: Kind;
    readonly data: EventData[Kind];
    readonly step?: number;
    /** Not when the step has an event of this type already. */
    readonly once?: boolean;
  };
}[EventKind];

export interface ThreadStore
  extends ValueStore,
    FileStore,
    EnvStore,
    MessageStore,
    EffectStore,
    HookStore,
    SubpromptStore,
    StrikeStore,
    FamilyStore {
  /** The store's own id; part of each worker's identity. */
  readonly id: string;
  /** Its engine and where it is, for people. */
  readonly place: string;
  /** Fires when it can be used no more: its reason is a `StoreLost` or `StoreCorrupt`. Absent where that cannot happen. */
  readonly ended?: AbortSignal;

  openThread(command: OpenThread): Promise<OpenedThread>;
  /**
   * Moves queued content into the store, in order; answers how many rows are pending now. An item that is nested too deep
   * becomes an event `item.rejected`, and so does each of `rejections`, which the caller has found.
   */
  stashItems(
    command: FromRun & { readonly items: readonly QueueItem[]; readonly rejections?: readonly Refusal[] },
  ): Promise<{ readonly waiting: number }>;
  beginStep(command: BeginStep): Promise<BegunStep>;
  /**
   * One read, from the place of the step to its messages: `window` is asked in between how much of them is needed; all where
   * it is absent.
   */
  readContext(
    threadId: string,
    step: number,
    window?: (place: StepPlace) => HistoryWindow,
  ): Promise<StepContext>;
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
  /** `report`: what a child's parent is told of the end of its execution. */
  commitStatus(
    command: CommitStatusInput & FromRun & { readonly report?: SubagentReport },
  ): Promise<CommitStatusOutcome>;

  /** Puts an item where its signal will find it, even before the thread is there. The same id again changes nothing. */
  stageItem(threadId: string, item: QueueItem): Promise<void>;
  /** Queues an item from inside a running tool. Throws `ThreadTerminated`. */
  queueItem(threadId: string, item: QueueItem): Promise<void>;
  getThread(threadId: string): Promise<ThreadRecord | null>;
  listThreads(options?: {
    readonly status?: ThreadStatus;
    readonly agent?: string;
    readonly limit?: number;
  }): Promise<readonly ThreadRecord[]>;
  /** Events after a number, oldest first. */
  readEvents(threadId: string, after: number, limit?: number): Promise<readonly ThreadEvent[]>;
  /** Writes an event of code's own making. Rejects with `ThreadTerminated`. */
  appendEvent(threadId: string, event: NewEvent): Promise<void>;
  getLogs(threadId: string, options?: GetLogsOptions): Promise<readonly Log[]>;
  /**
   * Ends the thread as `commitStatus` does, whoever asks. A terminated one stays as it is. A child that owes its parent
   * something reports its end.
   */
  terminateThread(threadId: string, reason?: string): Promise<void>;
  /** How many of these item ids have become messages or were refused. */
  countTaken(threadId: string, itemIds: readonly string[]): Promise<number>;
  /** How many items lie in line, whoever put them there. */
  countQueued(threadId: string): Promise<number>;

  close(): Promise<void>;
}
