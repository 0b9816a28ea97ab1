/** Children (runtime §7, §8): the registry of their parent, and messages between the two. */

import type { EnvType } from '../../core/author/thread-env.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { EarlierQueries, StatusGuard, SubagentState } from '../../core/guard/status-query.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { ChildStart } from '../../core/thread/subagent-step.ts';
import type { NewTask } from './task.ts';

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
  /** Of what it takes over from its parent, its prompts show these alone (core/project/env.ts, V3); absent: whatever it takes over. */
  readonly promoted?: readonly string[];
  /** Its first messages, in order; attachments are paths of the parent's files. */
  readonly messages: readonly MessageItem[];
  /** What its executions begin with; absent where the parent's has none. */
  readonly context?: GivenContext;
}

/** A variable of the new thread that its parent's environment does not give by itself. */
export interface GivenVariable {
  readonly name: string;
  readonly value: string;
  readonly type?: EnvType;
  /** No prompt of the child shows it. */
  readonly withheld?: boolean;
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
  /** The child is a task: it is told nothing, and has no variables. */
  readonly task?: { readonly begins: NewTask; readonly manifest: string | null };
}

export type LimitedChild = Pick<NewChild, 'agent' | 'maxInstances'>;

/** Why there may be no further child. */
export type ChildLimit =
  /** There are as many children of this agent as may be: the living ones. */
  | { readonly kind: 'full'; readonly limit: number; readonly living: readonly ChildRecord[] }
  /** `threadDepth`, `childrenPerThread` or a limit of the team is reached. */
  | { readonly kind: 'refused'; readonly reason: string };

export type CreatedChild =
  | { readonly kind: 'created'; readonly child: ChildRecord; readonly start: ChildStart }
  | ChildLimit
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
  /** It is at rest, and the parent's team is at its limit. */
  | { readonly kind: 'refused'; readonly reason: string }
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

/** For a call of a model that asks how far its subagents are. */
export interface TeamStatus {
  /** How often it may ask; null where nothing limits it. */
  readonly limits: StatusGuard | null;
  /** Calls of the same execution that were answered before. */
  readonly earlier: EarlierQueries;
  /** The newest, oldest first. */
  readonly subagents: readonly SubagentState[];
}

/** Commands reject with `ThreadNotFound` for an unknown parent. */
export interface ChildStore {
  /**
   * Makes a child's thread with its variables, files and first messages, and its place in the registry: status `running`, or `idle`
   * where it is told nothing yet. The same call again finds the same child.
   * Events `subagent.created` in the parent's log, `thread.created` in the child's. Rejects with `InvalidVariable`.
   */
  create(command: CreateChild): Promise<CreatedChild>;
  /** What `create` would be refused with now by a limit; null where there is room. */
  judge(parentId: string, child: LimitedChild): Promise<ChildLimit | null>;
  readTeam(parentId: string, call: ParentCall): Promise<TeamStatus>;
  /** Queues a message to a child, with its files, once for its id; status `running`, event `subagent.messaged`. */
  tell(command: TellChild): Promise<ToldChild>;
  /**
   * Queues a message of the child's own making to its parent (`notifyParent`), once for its id, in the role that the side hears which
   * has asked the child; event `subagent.notified`. False without a parent, or where it is over.
   */
  tellParent(childId: string, message: MessageItem): Promise<boolean>;
  /** Null where the call has made no child and told none anything. */
  readCall(parentId: string, call: ParentCall): Promise<CallOfChild | null>;
  /** The call has its result or never will: it gets no report any more. */
  releaseCall(parentId: string, call: ParentCall): Promise<void>;

  /** Oldest first. */
  list(parentId: string): Promise<readonly ChildRecord[]>;
  /** Null for a thread without a parent in the registry. */
  get(childId: string): Promise<ChildRecord | null>;
  /** A child lives that may be spoken to, of another agent than those of `except`. */
  hasResumable(parentId: string, options?: { readonly except?: readonly string[] }): Promise<boolean>;
  /** Children that nobody has started, oldest first. */
  listUnstarted(parentId: string, limit: number): Promise<readonly ChildStart[]>;
  /** The status that the parent's registry shows, event `subagent.status`. False without a parent. */
  setStatus(childId: string, status: string): Promise<boolean>;
}
