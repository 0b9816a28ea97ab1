/**
 * The part of the ThreadStore port that keeps families (runtime §7, §8): children with their registry, what parents tell
 * children, what children report. All threads of a family live in one store, so whatever touches two threads is one transaction.
 * F1. Each command may be given twice: a call makes one child, an item id is stored once, a report is delivered once.
 * F2. Files go along in the same transaction: a copy has a path of its own in the thread that it comes to, and its name for
 *     people is kept. A copy that is there already is not made again.
 * F3. A command locks one thread's row: the one whose log and queue it writes. Where it writes two, the parent's first.
 */
import type { EnvType } from '../../core/env.ts';
import type { MessageItem } from '../../core/item.ts';
import type { AttachmentRef } from '../../core/message.ts';
import type { ReportKind, SubagentReport } from '../../core/subagent-report.ts';
import type { ChildStart } from '../../core/subagent-step.ts';
import type { Side } from '../../core/thread-execution.ts';
import type { ThreadRecord } from './thread.ts';

/** A child, as the registry of its parent has it. */
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
  /** The step whose call made it. */
  readonly madeStep: number | null;
  readonly createdAt: number;
  readonly terminatedAt: number | null;
}

/** A child that is to be made. Holds no value of any variable. */
export interface NewChild {
  /** Derived from the call that makes it (`state/id.ts`). */
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
  /** Its first messages, in order; attachments are paths of the parent's files. */
  readonly messages: readonly MessageItem[];
}

/** A variable of the new thread that its parent's environment does not give by itself. */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly type?: EnvType;
}

export interface ParentCall {
  readonly step: number;
  readonly index: number;
}

export interface CreateChild {
  readonly parentId: string;
  readonly child: NewChild;
  /** The call that makes it. With it, the same call again finds the same child. */
  readonly call: ParentCall | null;
  /** The call has its result with the child's first report. */
  readonly waits: boolean;
  /** Which of the parent's own variables the child takes over. */
  readonly inherits: (name: string) => boolean;
  readonly given: readonly GivenVariable[];
}

export type CreatedChild =
  | { readonly kind: 'created'; readonly child: ChildRecord; readonly start: ChildStart }
  /** There are as many children of this agent as may be: the living ones. */
  | { readonly kind: 'full'; readonly limit: number; readonly living: readonly ChildRecord[] }
  /** `threadDepth` or `childrenPerThread` is reached. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The parent is terminated. */
  | { readonly kind: 'terminated' };

export interface TellChild {
  readonly parentId: string;
  readonly childId: string;
  /** Attachments are paths of the parent's files. */
  readonly message: MessageItem;
  readonly call: ParentCall;
  readonly waits: boolean;
}

export type ToldChild =
  | { readonly kind: 'told'; readonly child: ChildRecord; readonly start: ChildStart }
  /** It is no living child of this thread. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'terminated' };

/** A call that made a child or told it something, and its outcome. */
export interface CallOfChild {
  readonly child: ChildRecord;
  readonly start: ChildStart;
  /** A workflow run of the child has opened its thread. */
  readonly started: boolean;
  /** The call waits for a report. */
  readonly waits: boolean;
  /** The report that answered it; its attachments are files of the parent. */
  readonly report:
    | (Omit<SubagentReport, 'attachments'> & { readonly attachments: readonly AttachmentRef[] })
    | null;
}

/** A report that its child has made and its parent has not heard. */
export interface DueReport {
  readonly id: string;
  readonly kind: ReportKind;
  readonly child: ChildRecord;
}

export interface DeliveredReport {
  /** `message`: queued to the parent. `call`: a waiting call's result. `dropped`: told nobody, as it should be. */
  readonly by: 'message' | 'call' | 'dropped';
  /** The parent is over: nobody is to be woken. */
  readonly parentEnded: boolean;
}

/** One thread of a family tree. */
export interface FamilyMember {
  readonly thread: ThreadRecord;
  /** Null for the root. */
  readonly child: ChildRecord | null;
  /** 0 for the root. */
  readonly depth: number;
}

/** A request for variables that a child needs (runtime §7.5). */
export interface VariableRequest {
  readonly id: string;
  readonly parentId: string;
  readonly agent: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  readonly createdAt: number;
  /** The child that it has become, once: a request serves a single time. */
  readonly childId: string | null;
}

export interface KeepRequest {
  readonly id: string;
  readonly parentId: string;
  readonly call: ParentCall;
  readonly required: readonly string[];
  readonly missing: readonly string[];
  /** Variables that the child does not take over from its parent: whoever serves the request knows no definitions. Kept with `child`. */
  readonly scoped: readonly string[];
  /** The declared types of missing variables: for values that come without one. */
  readonly types?: Readonly<Record<string, EnvType>>;
  readonly child: NewChild;
}

export interface FulfilRequest {
  readonly parentId: string;
  readonly requestId: string;
  /** Beside these the child has what was stored for its thread before it was there (`setEnv`), which wins over what it inherits. */
  readonly given: readonly GivenVariable[];
}

export type FulfilledRequest =
  | Exclude<CreatedChild, { kind: 'terminated' }>
  | { readonly kind: 'unknown' }
  | { readonly kind: 'used'; readonly childId: string }
  | { readonly kind: 'missing'; readonly names: readonly string[] }
  | { readonly kind: 'terminated' };

export interface FamilyStore {
  /**
   * Makes a child's thread with its variables, files and first messages, and its place in the registry: status `running`, or `idle`
   * where it is told nothing yet.
   * Events `subagent.created` in the parent's log, `thread.created` in the child's.
   */
  createChild(command: CreateChild): Promise<CreatedChild>;
  /** Queues a message to a child, with its files; status `running`, event `subagent.messaged`. */
  tellChild(command: TellChild): Promise<ToldChild>;
  /** Null where the call has made no child and told none anything. */
  readCallOfChild(parentId: string, call: ParentCall): Promise<CallOfChild | null>;
  /** The call has its result or never will: no report is its any more. */
  releaseCall(parentId: string, call: ParentCall): Promise<void>;

  /** Oldest first. */
  listChildren(parentId: string): Promise<readonly ChildRecord[]>;
  /** A child lives that may be spoken to. */
  hasResumable(parentId: string): Promise<boolean>;
  /** Null for a thread without a parent in the registry. */
  getChild(childId: string): Promise<ChildRecord | null>;
  /** Children that nobody has started, oldest first. */
  listUnstarted(parentId: string, limit: number): Promise<readonly ChildStart[]>;
  /** The living, parents before their children. */
  listDescendants(
    threadId: string,
  ): Promise<readonly { readonly threadId: string; readonly agent: string }[]>;
  /** Relatives at rest that have something in their queues of which nobody may have told them. Stopped ones rest as they should. */
  listForgotten(threadId: string): Promise<readonly string[]>;
  /** A thread with all that descend from it, each behind its parent. Empty where there is no such thread. */
  readFamily(threadId: string): Promise<readonly FamilyMember[]>;

  /** Queues a message of the child's own making to its parent (`notifyParent`), event `subagent.notified`. False without a parent, or where it is over. */
  tellParent(childId: string, message: MessageItem): Promise<boolean>;
  /** What the parent's registry shows, event `subagent.status`. False without a parent. */
  setChildStatus(childId: string, status: string): Promise<boolean>;

  listDueReports(childId: string): Promise<readonly DueReport[]>;
  /**
   * Gives a report to the parent: to the call that waits for it, else as a queued message unless communication is explicit;
   * A call is not answered by what the child said before it had read the call's message.
   * `stopped` only to a call; `terminated` only where the parent is owed something. Event `subagent.returned` or `subagent.failed`.
   */
  deliverReport(childId: string, reportId: string): Promise<DeliveredReport>;

  /** The same call again changes nothing and answers the request that is there. */
  keepRequest(command: KeepRequest): Promise<VariableRequest>;
  getRequest(requestId: string): Promise<VariableRequest | null>;
  /** Oldest first; those that have been served are left out. */
  listRequests(parentId: string): Promise<readonly VariableRequest[]>;
  /** Makes the child with the values given, in one transaction with the request's end. */
  fulfilRequest(command: FulfilRequest): Promise<FulfilledRequest>;
}
