/**
 * Actions: calls that a policy has judged, one row each. A call of a step records its action when it begins and ends
 * (tool.ts). The commands here are for calls that code makes itself, and for settling uncertain actions.
 */
import type { ActionArtifact, ActionState, JudgedAction } from '../../core/governance/agent-policy.ts';
import type { PolicyDecision } from '../../core/governance/capability-policy.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import type { Reconciliation } from '../../core/wait/reconciliation.ts';
import type { ActionDenial, DecidedAction } from './decided-action.ts';
import type { Wait } from './wait.ts';

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

export interface ActionStore {
  /**
   * Records a judged call that code makes itself: denied, or begun, which its process must then renew. `spent`: another
   * call has used up its approval, and nothing is stored. The same command again only renews the lease; an action that
   * was considered lost is begun again. Rejects with `ThreadTerminated`, `ThreadNotFound`.
   */
  record(command: RecordAction): Promise<'kept' | 'spent'>;
  /** Ends an action that `record` has begun. Idempotent. */
  end(command: EndAction): Promise<void>;
  /**
   * Renews the lease of an action whose process still works on it. No effect on an unknown action, or one that is over.
   */
  renew(id: string, leaseMs: number): Promise<void>;
  /** Marks actions that were not renewed in time as uncertain. Returns how many, 100 at most. */
  closeLost(): Promise<number>;
  /**
   * The newest answered approval with this fingerprint that applies to this execution: approved for the execution, for
   * the thread, or always (by the scope of the answer; `always` is for threads of the same user and organisation, also
   * once the thread that asked is deleted), or denied in this execution. Null if there is none.
   */
  findDecision(asked: FindDecision): Promise<EarlierDecision | null>;
  /** Newest first. */
  list(options?: ListActions): Promise<readonly ActionRecord[]>;
  /** Settles an uncertain action, once: a second call returns `certain`. */
  reconcile(id: string, reconciliation: Reconciliation): Promise<ReconciledAction>;
}
