/** Children (runtime §7, §8): the registry of their parent, and messages between the two. */

import type { EnvType } from '../../core/author/thread-env.ts';
import type { Side } from '../../core/author/thread-execution.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { EarlierQueries, StatusGuard, SubagentState } from '../../core/guard/status-query.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { SubagentReport } from '../../core/thread/subagent-report.ts';
import type { ChildStart } from '../../core/thread/subagent-step.ts';
import type { NewTask } from '../task/task-record.ts';
import type { CallKey } from '../transaction/call-row.ts';

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
  /** Derived from the call that creates it (`state/id.ts`). */
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
