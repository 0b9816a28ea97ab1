/**
 * Actions: calls that a policy has judged, one row each. A call of a step records its action when it begins and ends
 * (tool.ts). The commands here are for calls that code makes itself, and for settling uncertain actions.
 * Times are microseconds since 1970.
 */
import type {
  ActionArtifact,
  ActionKind,
  ActionState,
  JudgedAction,
} from '../../core/governance/agent-policy.ts';
import type { PolicyDecision } from '../../core/governance/capability-policy.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import type { ErrorCode } from '../../core/value/error.ts';
import type { Reconciliation } from '../../core/wait/reconciliation.ts';
import type { GrantedTool, GrantTable } from '../grant/grant-record.ts';
import type { Json } from '../schema/column.ts';

export interface RecordAction {
  readonly threadId: string;
  readonly told: DecidedAction;
  /** Set if the code runs in a step. */
  readonly step?: number;
  readonly executionId?: string;
  /** Milliseconds for which the action belongs to this process, unless the process renews it. */
  readonly leaseMs: number;
  /** The wait whose approval covers this single call. */
  readonly approval?: string;
}

/** An earlier decision on an action with this fingerprint whose scope includes the present one. */
export interface EarlierDecision {
  readonly approved: boolean;
  readonly waitId: string;
  /** The grant that covers the action. */
  readonly grantId?: string;
  /** Set if the approval is for a single call of code, which uses it up. */
  readonly once?: true;
  readonly reason?: string;
  readonly by?: string;
}

export interface FindDecision {
  readonly threadId: string;
  readonly executionId: string | null;
  readonly fingerprint: string;
  /**
   * Id of the action, for a call that code makes itself. An unused approval for `once` then counts too; an action that
   * has already begun is approved.
   */
  readonly byCode?: string;
  /** Absent if no grant of its tool may cover it. */
  readonly tool?: GrantedTool | undefined;
}

export interface EndAction {
  readonly id: string;
  readonly threadId: string;
  readonly status: ToolStatus;
  readonly error?: string;
}

/** Times are microseconds since 1970. */
export interface ActionRecord extends Omit<JudgedAction['action'], 'artifacts'> {
  readonly threadId: string;
  readonly step: number | null;
  readonly executionId: string | null;
  readonly artifacts: readonly ActionArtifact[];
  readonly decision: PolicyDecision;
  readonly state: ActionState;
  readonly denied?: ActionDenial;
  readonly error?: string;
  readonly reconciliation?: Reconciliation;
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface ListActions {
  readonly id?: string;
  readonly threadId?: string;
  readonly state?: ActionState;
  /** Default 100. */
  readonly limit?: number;
}

export interface ActionDenial {
  readonly code: ErrorCode;
  readonly reason: string;
  /** Set if the denial ends the execution. */
  readonly fatal?: true;
}

export interface DecidedAction extends JudgedAction {
  /** The arguments that run, without secrets; absent if they are too large for the log. */
  readonly arguments?: unknown;
  /** The grant that covers it. */
  readonly grant?: string | undefined;
  /** Set if the action was denied. */
  readonly denied?: ActionDenial;
}

export interface ActionTable {
  /** The idempotency key of the call. */
  id: string;
  thread_id: string;
  /** The call of a step; null if code made the call. */
  step: number | null;
  idx: number | null;
  execution_id: string | null;
  kind: ActionKind;
  name: string;
  call_id: string | null;
  fingerprint: string;
  /** Capabilities, description, artifacts. */
  prepared: Json;
  decision: Json;
  state: ActionState;
  /** The denial, the failure, or the outcome that a person has reported. */
  outcome: Json | null;
  requested_at: number;
  started_at: number | null;
  ended_at: number | null;
  /** Until when an action of code belongs to its process, unless renewed; null for the call of a step. */
  lease_until: number | null;
}

export interface ActionTables {
  actions: ActionTable;
  grants: GrantTable;
}
