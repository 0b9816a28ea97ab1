/**
 * Threads (runtime §1, §6, §10): their records and tables, and the commands that open them, bring them to rest and end
 * them. Times are microseconds since 1970.
 */
import type { CountedBy, ThreadSort } from '../../core/author/read-options.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { Session } from '../../core/thread/session.ts';
import type { CommitStatusInput, StoredError, ThreadStatus } from '../../core/thread/step.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { WaitKind } from '../../core/wait/wait.ts';
import type { Flag, Json } from '../schema/column.ts';
import type { FromFlow, FromRun } from '../transaction/from-run.ts';

export interface ThreadRecord {
  readonly id: string;
  readonly agent: string;
  /** Name for display; null if none was given. */
  readonly name: string | null;
  readonly userId: string | null;
  /** The organisation that owns the thread and on whose behalf it acts; absent if none was given. */
  readonly organizationId?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Tags given by users, to find the thread again. */
  readonly tags: readonly string[];
  readonly status: ThreadStatus;
  readonly stopReason: string | null;
  readonly lastError: StoredError | null;
  /** State of the session; meaningless for an agent with one AI side. */
  readonly session: Session;
  readonly parentId: string | null;
  readonly rootId: string;
  /** Set for a fork: the thread that it has its history from, and the last step of it that it has. */
  readonly forkedFrom?: { readonly threadId: string; readonly step: number };
  readonly createdAt: number;
  /**
   * Microseconds since 1970. Set by each change of the status, and otherwise at most once a second while the thread
   * runs.
   */
  readonly updatedAt: number;
  readonly terminatedAt: number | null;
  /** Number of steps so far. */
  readonly lastStep: number;
  /** Number of children ever created. */
  readonly childCount: number;
  /** Number of stored messages of every kind, without queued ones. */
  readonly messageCount: number;
  /** Number of the newest event. */
  readonly lastSeq: number;
  /** US dollars for its calls of models, as far as their prices are known; without those of subagents. */
  readonly costUsd: number;
  /** Tokens of its calls of models, as far as providers have reported them; without those of subagents. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What it waits for; of several, the oldest. Null if nothing holds it up. */
  readonly waitingFor: WaitingFor | null;
  /** The code of the error with which it has failed; null unless its status is `failed`. */
  readonly failedCode: string | null;
  /**
   * The beginning of the first message of its user that is shown, and of the newest message of a person or a model: at
   * most 120 characters. Null if there is none. Secrets in the store are replaced where clients read a thread.
   */
  readonly firstWords: string | null;
  readonly lastWords: string | null;
  /**
   * The typed answer of its newest execution, as JSON; absent if the execution has none yet, if its message was deleted, and in lists
   * (`output` of the agent's side).
   */
  readonly output?: Readonly<Record<string, unknown>>;
  /** The figures by which lists are sorted; while the thread runs, they may be a second older. */
  readonly listed: { readonly costUsd: number; readonly tokens: number };
  /** Set if the open execution spends from a budget. */
  readonly budgeted?: true;
  /** Set if its history has ever been summarised. */
  readonly compacted?: true;
  /**
   * When the thread's content was deleted: only its id and the fact that it has ended remain. Absent if it was not
   * deleted.
   */
  readonly deletedAt?: number;
}

/** A wait (wait/wait-record.ts) of the thread or of a descendant that it waits for; `model`: no model takes its request. */
export interface WaitingFor {
  readonly kind: WaitKind | 'model';
  /** Microseconds since 1970. */
  readonly since: number;
  /** The tool whose call waits, the question's name, or the model. */
  readonly name: string;
  /** Absent for a model. */
  readonly waitId?: string;
}

export interface OpenThread extends FromRun {
  readonly agent: string;
  readonly userId: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly parentId: string | null;
  readonly rootId: string;
  /** The context that its executions begin with; used only if this command creates the thread. */
  readonly context?: GivenContext;
  /** Used only if this command creates the thread. */
  readonly tags?: readonly string[];
  /** True if the thread has run before: a store that does not know it is the wrong store. */
  readonly mustExist: boolean;
}

export type OpenedThread =
  | { readonly kind: 'terminated' }
  | {
      readonly kind: 'open';
      readonly thread: ThreadRecord;
      /** This step and all before it are over; the workflow asks again for later ones. */
      readonly afterStep: number;
      /** True if a run that was replaced has left its turn open. */
      readonly turnOpen: boolean;
      /** Number of queued items. */
      readonly waiting: number;
      /** True if the thread is in the registry of a parent. Opening the thread marks it there as started. */
      readonly isChild: boolean;
      /** True if a report of it has not been delivered to its parent. */
      readonly reportDue: boolean;
      /** True if it has created children whose workflows have not been started. */
      readonly unstarted: boolean;
    };

export interface CommitStatus extends CommitStatusInput, FromFlow {
  /** The report about the end of a child's execution, for its parent. */
  readonly report?: SubagentReport;
}

/** Position of a thread in lists. */
export type ThreadPlace = Pick<ThreadRecord, 'id' | 'createdAt' | 'updatedAt'> &
  Partial<Pick<ThreadRecord, 'listed'>> & {
    readonly waitingFor?: Pick<WaitingFor, 'since'> | null;
  };

/** All given conditions must hold. Times are microseconds since 1970; bounds are exclusive. */
export interface ThreadFilters {
  readonly status?: ThreadStatus;
  readonly agent?: string;
  /** Threads of this user, including those of subagents. */
  readonly userId?: string;
  /** Threads of this organisation, including those of subagents. */
  readonly organizationId?: string;
  /** Subagents of this thread only. */
  readonly parentId?: string;
  /** Root threads only, no subagents. */
  readonly rootsOnly?: boolean;
  /** Threads with this tag; the list is then ordered by creation. */
  readonly tag?: string;
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly updatedAfter?: number;
  readonly updatedBefore?: number;
  /** Threads whose ids begin with this text, case-sensitive. */
  readonly idPrefix?: string;
}

export interface ListThreads extends ThreadFilters {
  /** `updated` unless given. */
  readonly sort?: ThreadSort;
  /** The last thread of the previous page: the list continues after it. */
  readonly before?: ThreadPlace;
  /** Default 50. */
  readonly limit?: number;
}

export interface CountThreads extends ThreadFilters {
  /** What to count by; everything unless given, and with filters everything but tags, which then cost most. */
  readonly by?: readonly CountedBy[];
}

/** How many threads match, by the values of what they can be filtered by. A value without threads has no entry. */
export interface ThreadCounts {
  readonly total: number;
  readonly status: Readonly<Partial<Record<ThreadStatus, number>>>;
  readonly agent: Readonly<Record<string, number>>;
  /** The 100 users with the most threads; so are those of the next two. */
  readonly userId: Readonly<Record<string, number>>;
  readonly organizationId: Readonly<Record<string, number>>;
  readonly tag: Readonly<Record<string, number>>;
}

/** A thread whose content was deleted. */
export interface ForgottenThread {
  readonly id: string;
  readonly deleted: true;
}

export type ChangedThread = ThreadRecord | ForgottenThread;

export interface ListChanges {
  /** Continues after these changes; absent: from now on. */
  readonly cursor?: string | undefined;
  readonly userId?: string;
  readonly organizationId?: string;
  /** Default 100. */
  readonly limit?: number;
}

/**
 * Threads that have changed since the cursor, each as it is now: a thread that has changed several times is there at
 * least once, and may be there again.
 */
export interface ThreadChanges {
  readonly threads: readonly ChangedThread[];
  readonly cursor: string;
}

/** Figures of the whole store, for monitoring. */
export interface Census {
  /** Number of threads by status; counting stops at 10,000 of each. */
  readonly threads: Readonly<Record<ThreadStatus, number>>;
  /**
   * Milliseconds that the oldest item from outside has been queued in the store; 0 if there is none. Threads that wait
   * for a person, were stopped or have ended are left out.
   */
  readonly oldestItemMs: number;
  /** Milliseconds that a thread has waited for people, the longest of all; 0 if none waits. */
  readonly oldestWaitMs: number;
}

export interface ThreadTable {
  id: string;
  agent: string;
  user_id: string | null;
  /** The organisation that owns the thread and its subagents; null if none was given. */
  organization_id: string | null;
  arguments: Json;
  status: ThreadStatus;
  stop_reason: string | null;
  last_error: Json | null;
  /** The workflow run that may write (the fence); every earlier one is in thread_runs and retired. */
  run_id: string;
  /** Its newest activity of the flow, and when that one's newest attempt was scheduled, in milliseconds (the fence). */
  activity: number;
  activity_since: number;
  parent_id: string | null;
  root_id: string;
  created_at: number;
  updated_at: number;
  terminated_at: number | null;
  /** Last sequence number of an event. */
  event_seq: number;
  /** Last creation time of a message: each message is later than the one before. */
  clock: number;
  last_step: number;
  /** The first step that counts against the limits, and how many of each side have been counted since. */
  counted_from: number;
  counted_a: number;
  counted_b: number;
  /** The first step of the newest execution, and its model steps of each side: those that have an answer or wait for one. */
  asked_from: number;
  asked_a: number;
  asked_b: number;
  /** Number of its steps whose state is `open`. */
  open_steps: number;
  /** Number of its stored messages of every kind. */
  message_count: number;
  /** Last position of a pending item. */
  last_position: number;
  /** 1 if a turn has begun and no commit has ended it. */
  turn_open: Flag;
  /** 1 if input is stored that no committed step has answered. */
  answer_due: Flag;
  /** A handoff's target: the thread's agent from the next step on. */
  next_agent: string | null;
  /** 1 if `after_thread_created` has run. */
  greeted: Flag;
  /** Its name for display; a child gets it from its parent. */
  name: string | null;
  /** The side that acts next, and completed turns of the session; for an agent with two AI sides. */
  side: 'a' | 'b';
  turns: number;
  /** Number of open waits, its own and those of descendants that it shows; if 0, their tables are not read. */
  open_waits: number;
  /**
   * Since when its workflow has not read which waits of descendants it shows (wait/shown-wait.ts, S7); null if
   * it has.
   */
  unseen_since: number | null;
  /** Number of children ever created; if 0, their tables are not read. */
  child_count: number;
  /**
   * Sides of the present agent whose immediate subagents were made before their first model step, or that had none to
   * make: a list of `agent:side`, as JSON.
   */
  activated: Json;
  /** The context that its executions begin with, as given at its start; null if none was given. */
  run_context: Json | null;
  /** The budgets that the open execution spends from (budget/account.ts); null if there are none. */
  budget: Json | null;
  /** Loops that the next request of a side must warn of: a KeptWarnings; null if there are none. */
  loop_warnings: Json | null;
  /** How its models count the tokens of its requests: ModelCounts; null before the first. */
  model_counts: Json | null;
  /** The newest model call of each conversation whose requests are kept (request/keep-request.ts); null before the first. */
  requests: Json | null;
  /** A StoredOrigin, if the thread is a fork (fork/fork-record.ts). */
  forked_from: Json | null;
  /** How many rounds the turn may take, and where they began (step/limit.ts); null if nothing limits them. */
  rounds: Json | null;
  /** How large its team may grow in a turn (transaction/team-limit.ts); null if nothing limits it. */
  team: Json | null;
  /** 1 if its history has ever been summarised; if 0, the table of summaries is not read. */
  compacted: Flag;
  /** A list of texts; null for none. Also in `thread_tags`, where threads are found by a tag. */
  tags: Json | null;
  /** When its content was deleted: only the row is left, and lists leave it out. */
  deleted_at: number | null;
  /** 10⁻¹² US dollars, and tokens, of its model calls that have ended. */
  cost_pico: bigint;
  input_tokens: number;
  output_tokens: number;
  /** The cost, and all tokens, at the time when its place in lists last changed: lists are sorted by them. */
  listed_cost: bigint;
  listed_tokens: number;
  /** Since when it waits, and for what: a `WaitingFor` without that time; null if it does not wait. */
  waiting_since: number | null;
  waiting_for: Json | null;
  /** The beginnings of its first and of its newest message (transaction/thread-words.ts). */
  first_words: string | null;
  last_words: string | null;
  /** The message whose content is the typed answer of its newest execution; null if there is none. */
  output: string | null;
  /** The number of the transaction that has last written the row, and of the last one that has changed `updated_at` (changes.ts). */
  changed: number;
  moved: number;
}

/** A tag of a thread, with the time at which the thread was created. */
export interface ThreadTagTable {
  thread_id: string;
  tag: string;
  created_at: number;
}

export interface ThreadRunTable {
  thread_id: string;
  run_id: string;
  registered_at: number;
}

export interface ThreadTables {
  threads: ThreadTable;
  thread_runs: ThreadRunTable;
  thread_tags: ThreadTagTable;
}
