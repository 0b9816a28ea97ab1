/** Threads (runtime §1, §6, §10): their records, and the commands that open them, bring them to rest and end them. */
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { Session } from '../../core/thread/session.ts';
import type {
  CommitStatusInput,
  CommitStatusOutcome,
  StoredError,
  ThreadStatus,
} from '../../core/thread/step.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { FromRun } from './run.ts';

export interface ThreadRecord {
  readonly id: string;
  readonly agent: string;
  /** For display; null where nobody gave one. */
  readonly name: string | null;
  readonly userId: string | null;
  /** Whose it is: all that it does is done for it. Absent where nobody has said. */
  readonly organizationId?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Words of its users, by which it is found again. */
  readonly tags: readonly string[];
  readonly status: ThreadStatus;
  readonly stopReason: string | null;
  readonly lastError: StoredError | null;
  /** Where the session stands; without meaning for one AI side. */
  readonly session: Session;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly createdAt: number;
  /** Microseconds. While a thread runs it moves at most once a second; each change of its status moves it. */
  readonly updatedAt: number;
  readonly terminatedAt: number | null;
  /** Steps so far. */
  readonly lastStep: number;
  /** Children ever made. */
  readonly childCount: number;
  /** Stored messages, of whatever kind; what waits in line is not among them. */
  readonly messageCount: number;
  /** Number of the newest event. */
  readonly lastSeq: number;
  /** Its open execution spends from a budget; absent where it does not. */
  readonly budgeted?: true;
  /** It has had summaries of its history; absent where it has not. */
  readonly compacted?: true;
  /** What it had was deleted: of the thread itself its id is left, and that it has ended. Absent where it was not. */
  readonly deletedAt?: number;
}

export interface OpenThread extends FromRun {
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** What its executions begin with; kept where the thread is made now. */
  readonly context?: GivenContext;
  /** Where the thread is made now. */
  readonly tags?: readonly string[];
  /** The thread has run before: a store that does not know it is the wrong store. */
  readonly mustExist: boolean;
}

export type OpenedThread =
  | { readonly kind: 'terminated' }
  | {
      readonly kind: 'open';
      readonly thread: ThreadRecord;
      /** The workflow has seen this step and all before it. */
      readonly afterStep: number;
      /** A run that was replaced has left its turn open. */
      readonly turnOpen: boolean;
      /** Items in line. */
      readonly waiting: number;
      /** It has a parent in whose registry it stands. From now on it counts as started. */
      readonly isChild: boolean;
      /** It has made a report that its parent has not heard. */
      readonly reportDue: boolean;
      /** It has made children that nobody has started. */
      readonly unstarted: boolean;
    };

export interface CommitStatus extends CommitStatusInput, FromRun {
  /** What a child's parent is told of the end of its execution. */
  readonly report?: SubagentReport;
}

/** Where a thread stands in lists. */
export type ThreadPlace = Pick<ThreadRecord, 'id' | 'createdAt' | 'updatedAt'>;

/** All that is given must hold. Times are microseconds since 1970, and excluded themselves. */
export interface ListThreads {
  readonly status?: ThreadStatus;
  readonly agent?: string;
  /** Of threads of this user; those of their subagents are found by their families. */
  readonly userId?: string;
  /** Of threads of this organisation, their subagents among them. */
  readonly organizationId?: string;
  /** Its subagents alone. */
  readonly parentId?: string;
  /** Without subagents. */
  readonly rootsOnly?: boolean;
  /** With this tag among theirs; listed by their creation then. */
  readonly tag?: string;
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly updatedAfter?: number;
  readonly updatedBefore?: number;
  /** Whose ids begin with it, in the case in which they are written. */
  readonly idPrefix?: string;
  /** Which comes first: the one that changed last, unless given, or the one that was made last. */
  readonly order?: 'updated' | 'created';
  /** Those behind this one in the same list: the last one of the page before. */
  readonly before?: ThreadPlace;
  /** Default 50. */
  readonly limit?: number;
}

/** The store as a whole, for those who watch it. */
export interface Census {
  /** Threads by status, 10,000 of each at most: more are counted as so many. */
  readonly threads: Readonly<Record<ThreadStatus, number>>;
  /** Milliseconds that the oldest item from outside has waited in the store for its step; 0 for none. Threads that wait for a person are left out. */
  readonly oldestItemMs: number;
}

export interface ThreadRecordStore {
  /** At a bounded cost, however many threads there are. */
  census(): Promise<Census>;
  /**
   * Opens the thread for a run, which is the one that may write from now on; makes it at its very first run. The same run again
   * changes nothing. Rejects with `StoreMismatch` where the thread must exist and does not.
   */
  open(command: OpenThread): Promise<OpenedThread>;
  get(threadId: string): Promise<ThreadRecord | null>;
  /** Without those that were deleted. */
  list(options?: ListThreads): Promise<readonly ThreadRecord[]>;
  /** By thread, the first 200 characters of the first message of its user; no entry for a thread without one. */
  firstWords(threadIds: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Ends the execution and brings the thread to rest, with all that must be settled then: open steps and calls, effects of a
   * terminated one, a child's report. Answers `pending` instead where items wait that nobody took, unless it was stopped.
   * Its ordinal is the key: the same commit again tells the log nothing twice.
   */
  commitStatus(command: CommitStatus): Promise<CommitStatusOutcome>;
  /**
   * Ends the thread as `commitStatus` does, whoever asks. A terminated one stays as it is. A child that owes its parent
   * something reports its end. Rejects with `ThreadNotFound`.
   */
  terminate(threadId: string, reason?: string): Promise<void>;
  /** Sets all its tags. Rejects with `ThreadNotFound`. */
  setTags(threadId: string, tags: readonly string[]): Promise<ThreadRecord>;
  /**
   * Deletes what a terminated thread has; `get` answers a record with `deletedAt` from then on. In several transactions, of which the last one
   * counts. Rejects with `ThreadBusy` while it lives, `ThreadNotFound`.
   */
  remove(threadId: string): Promise<void>;
  /** Notes that `after_thread_created` has run. Rejects with `ThreadNotFound`. */
  markGreeted(threadId: string): Promise<void>;
}
