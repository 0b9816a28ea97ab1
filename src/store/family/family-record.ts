/**
 * Families (runtime §7, §8): children with their registry, reports, requests for variables, and all threads below one
 * root. All threads of a family are in one store, so a command that writes two threads is one transaction.
 * - Each command may be given twice: a call creates one child, an item id is stored once, a report is delivered once.
 * - Files are copied in the same transaction. A copy gets its own path in the receiving thread and keeps its display
 *   name. An existing copy is not made again.
 * F3. A command locks the row of the thread whose log and queue it writes. If it writes two, it locks the parent's
 *     first.
 *
 * Children (runtime §7, §8): the registry of their parent, and messages between the two.
 *
 * Reports (runtime §8.2): stored with the end of a child's execution (`threads.commitStatus`), then delivered to the parent.
 *
 * Requests for variables that a child needs and that are not set (runtime §7.5). The child is created once they are
 * given.
 *
 * The tables of parents and children (runtime §7, definitions §13). Times are microseconds since 1970.
 */

import type { EnvType } from '../../core/author/thread-env.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { EarlierQueries, StatusGuard, SubagentState } from '../../core/guard/status-query.ts';
import type { AttachmentRef, Message } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { ChildStart } from '../../core/thread/step.ts';
import type { ReportKind, SubagentReport } from '../../core/thread/subagent-report.ts';
import type { Flag, Json } from '../schema/column.ts';
import type { NewTask } from '../task/task-record.ts';
import type { ThreadRecord } from '../thread/thread-record.ts';
import type { CallKey } from '../transaction/from-run.ts';

/** One thread of a family tree. */
export interface FamilyMember {
  readonly thread: ThreadRecord;
  /** Null for the root. */
  readonly child: ChildRecord | null;
  /** 0 for the root. */
  readonly depth: number;
}

/** A child, as recorded in the registry of its parent. */
export interface ChildRecord {
  readonly parentId: string;
  readonly threadId: string;
  readonly agent: string;
  readonly name: string | null;
  readonly title: string | null;
  readonly description: string;
  readonly resumable: boolean;
  readonly blocking: boolean;
  readonly explicit: boolean;
  readonly hears: Side;
  readonly status: string;
  /** The step whose call created it; null if a variable request was fulfilled. */
  readonly madeStep: number | null;
  readonly createdAt: number;
  readonly terminatedAt: number | null;
}

/** A child to be created. Contains no value of any variable. */
export interface NewChild {
  /** Derived from the call that creates it (`author/state/id.ts`). */
  readonly threadId: string;
  readonly agent: string;
  readonly name: string | null;
  readonly title: string | null;
  readonly description: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly resumable: boolean;
  readonly blocking: boolean;
  readonly explicit: boolean;
  readonly hears: Side;
  readonly maxInstances?: number;
  /** The only inherited variables that its prompts may show (core/project/env.ts, V3); if absent, they may show all. */
  readonly promoted?: readonly string[];
  /** Its first messages, in order; attachments are paths of the parent's files. */
  readonly messages: readonly MessageItem[];
  /** The context that its executions begin with; absent if the parent's execution has none. */
  readonly context?: GivenContext;
}

/** A variable of the new thread that it does not simply inherit from its parent. */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly type?: EnvType;
  /** True if no prompt of the child may show it. */
  readonly withheld?: boolean;
}

export interface CreateChild {
  readonly parentId: string;
  readonly child: NewChild;
  /** The call that creates it. With it, the same call again finds the same child. */
  readonly call: CallKey | null;
  /** True if the call gets its result with the child's first report. */
  readonly waits: boolean;
  /** True if the child inherits this variable of its parent. */
  readonly inherits: (name: string) => boolean;
  readonly given: readonly GivenVariable[];
  /** Set if the child is a task, which gets no messages and no variables. */
  readonly task?: { readonly begins: NewTask; readonly manifest: string | null };
}

export type LimitedChild = Pick<NewChild, 'agent' | 'maxInstances'>;

/** Why no further child may be created. */
export type ChildLimit =
  /** The limit of living children of this agent is reached; `living` lists them. */
  | { readonly kind: 'full'; readonly limit: number; readonly living: readonly ChildRecord[] }
  /** `threadDepth`, `childrenPerThread` or a limit of the team is reached. */
  | { readonly kind: 'refused'; readonly reason: string };

export type CreatedChild =
  | { readonly kind: 'created'; readonly child: ChildRecord; readonly start: ChildStart }
  | ChildLimit
  /** The parent is terminated. */
  | { readonly kind: 'terminated' };

export interface SendToChild {
  readonly parentId: string;
  readonly childId: string;
  /** Attachments are paths of the parent's files. */
  readonly message: MessageItem;
  readonly call: CallKey;
  readonly waits: boolean;
}

export type SentToChild =
  | { readonly kind: 'told'; readonly child: ChildRecord; readonly start: ChildStart }
  /** Not a living child of this thread. */
  | { readonly kind: 'unknown' }
  /** The child is at rest, and the parent's team is at its limit. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'terminated' };

/** A call that created a child or sent it a message, and its outcome. */
export interface ChildCall {
  readonly child: ChildRecord;
  readonly start: ChildStart;
  /** True if a workflow run of the child has opened its thread. */
  readonly started: boolean;
  /** True if the call waits for a report. */
  readonly waits: boolean;
  /** The report that answered the call, or null; its attachments are files of the parent. */
  readonly report:
    | (Omit<SubagentReport, 'attachments'> & { readonly attachments: readonly AttachmentRef[] })
    | null;
}

/** Data for a model's call that asks for the status of its subagents. */
export interface TeamStatus {
  /** How often the model may ask; null if nothing limits it. */
  readonly limits: StatusGuard | null;
  /** Calls for the status in the same execution that were answered before. */
  readonly earlier: EarlierQueries;
  /** The newest subagents, oldest first. */
  readonly subagents: readonly SubagentState[];
}

/** A report that a child has made and that was not yet delivered to its parent. */
export interface DueReport {
  readonly id: string;
  readonly kind: ReportKind;
  readonly child: ChildRecord;
}

export interface DeliveredReport {
  /**
   * `message`: queued to the parent. `call`: marked for the call that waits; `finishSubagent` stores its result.
   * `dropped`: deliberately not delivered.
   */
  readonly by: 'message' | 'call' | 'dropped';
  /** True if the parent has ended and must not be woken. */
  readonly parentEnded: boolean;
  /**
   * Set if waits of descendants have blocked the parent: its ancestors must be notified, so that they update what they
   * show.
   */
  readonly updatesAncestors?: true;
}

export interface LastStep {
  readonly side: Side;
  /** Tool messages of its calls, in order. */
  readonly results: readonly Message[];
}

/** A request for variables that a child needs (runtime §7.5). */
export interface VariableRequest {
  readonly id: string;
  readonly parentId: string;
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  readonly createdAt: number;
  /** The child created from it; null before. A request can be fulfilled once. */
  readonly childId: string | null;
}

export interface SaveRequest {
  readonly id: string;
  readonly parentId: string;
  readonly call: CallKey;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /**
   * Variables that the child does not inherit from its parent. Stored with `child`: whoever fulfils the request does
   * not know the definitions.
   */
  readonly scoped: readonly string[];
  /** Declared types of missing variables, for values that are given without a type. */
  readonly types?: Readonly<Record<string, EnvType>>;
  readonly child: NewChild;
}

export interface FulfilRequest {
  readonly parentId: string;
  readonly requestId: string;
  /**
   * Values for the child. It also has what was stored for its thread before it existed (`env.set`), which overrides
   * what it inherits.
   */
  readonly given: readonly GivenVariable[];
}

export type FulfilledRequest =
  | Exclude<CreatedChild, { kind: 'terminated' }>
  | { readonly kind: 'unknown' }
  | { readonly kind: 'used'; readonly childId: string }
  /** The request was refused. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'terminated' };

/** The registry: one row for each child, kept as long as the content of the parent's thread. */
export interface ChildTable {
  parent_id: string;
  child_id: string;
  /** The agent that the child was created with; a handoff does not change it. */
  agent: string;
  name: string | null;
  title: string | null;
  description: string;
  resumable: Flag;
  blocking: Flag;
  /** `parentCommunication: 'explicit'`. */
  explicit: Flag;
  /** The side of the child that answers its parent. */
  hears: 'a' | 'b';
  status: string;
  /** The call that created it; null if a variable request was fulfilled (`variable_requests`). */
  made_step: number | null;
  made_idx: number | null;
  /** The call that gets its result with the child's next report. */
  wait_step: number | null;
  wait_idx: number | null;
  /** The newest call that sent it a message, and the id of the newest message that the parent expects an answer to. */
  told_step: number | null;
  told_idx: number | null;
  told_id: string | null;
  /** 1 if the parent has asked for something and has not been answered. */
  owes: Flag;
  /** 1 if a workflow run of the child has opened its thread. */
  started: Flag;
  created_at: number;
  terminated_at: number | null;
  /** Names of the parent's variables that its prompts may show; null if there is no such limit. */
  promoted: Json | null;
  /** 1 if its parent's part of the history that asked it was superseded: its reports are logged and not delivered, until it is asked again. */
  superseded: Flag | null;
}

/** A child's reports to its parent: written with the end of the child's execution, then delivered. */
export interface ChildReportTable {
  child_id: string;
  /** The id of the execution that ended; `end` for the thread's own end. */
  id: string;
  kind: ReportKind;
  content: string;
  /** Paths of the child's files; in `delivered`, the attachments of the parent that they were copied to. */
  attachments: Json;
  delivered: Json | null;
  state: 'due' | 'delivered' | 'dropped';
  /** 1 if made before the child had read its parent's newest message, which it does not answer then. */
  early: Flag;
  /** The parent's call that it answered; null if it was queued as a message, or dropped. */
  call_step: number | null;
  call_idx: number | null;
  /** Budgets of the execution that caused this one: a list of `{ threadId, executionId }`; null if there were none. */
  budget: Json | null;
  created_at: number;
  delivered_at: number | null;
}

/** A child that is created once its missing variables are given (runtime §7.5). */
export interface VariableRequestTable {
  id: string;
  parent_id: string;
  agent: string;
  required: Json;
  missing: Json;
  /**
   * The child as it will be created, the names of variables that it does not inherit, and declared types. Holds no
   * value of any variable.
   */
  child: Json;
  step: number;
  idx: number;
  created_at: number;
  /** The child that was created from it; a request can be fulfilled once. */
  child_id: string | null;
  completed_at: number | null;
}

export interface FamilyTables {
  children: ChildTable;
  child_reports: ChildReportTable;
  variable_requests: VariableRequestTable;
}
