/**
 * Actions: calls that a policy has judged, one row each. A call of a step records its action when it begins and ends
 * (tool.ts). The commands here are for calls that code makes itself, and for settling uncertain actions.
 */
import type { ActionArtifact, ActionState, JudgedAction } from '../../core/governance/agent-policy.ts';
import type { PolicyDecision } from '../../core/governance/capability-policy.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import type { Reconciliation } from '../../core/wait/reconciliation.ts';
import type { Wait } from '../wait/wait-record.ts';
import type { ActionDenial, DecidedAction } from './decided-action-record.ts';

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

export type ReconciledAction =
  /** `wait`: the wait that asked for the reconciliation; it is over now. */
  | { readonly kind: 'reconciled'; readonly action: ActionRecord; readonly wait?: Wait }
  /** The action was not uncertain and is unchanged. */
  | { readonly kind: 'certain'; readonly action: ActionRecord }
  | { readonly kind: 'unknown' };
