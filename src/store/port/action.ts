/**
 * Actions: calls that a policy has judged, one row each. A call of a step tells of its action as it begins and ends (tool.ts); the commands
 * here are for calls that code makes itself, and for whoever looks after what is uncertain.
 */
import type { ActionArtifact, ActionState, JudgedAction } from '../../core/governance/agent-policy.ts';
import type { PolicyDecision } from '../../core/governance/capability-policy.ts';
import type { ToolStatus } from '../../core/message/message.ts';
import type { ErrorCode } from '../../core/value/error.ts';
import type { Reconciliation } from '../../core/wait/reconciliation.ts';
import type { Wait } from './wait.ts';

export interface ActionDenial {
  readonly code: ErrorCode;
  readonly reason: string;
  /** It ends the execution. */
  readonly fatal?: true;
}

export interface ToldAction extends JudgedAction {
  /** Why it is not done. */
  readonly denied?: ActionDenial;
}

export interface RecordAction {
  readonly threadId: string;
  readonly told: ToldAction;
  /** Where the code runs in one. */
  readonly step?: number;
  readonly executionId?: string;
  /** How long it is this process's, unless that renews it. */
  readonly leaseMs: number;
  /** The wait whose approval this is the one call of. */
  readonly approval?: string;
}

/** What somebody has said of an action of this fingerprint before, so far as it reaches this one. */
export interface EarlierDecision {
  readonly approved: boolean;
  readonly waitId: string;
  /** It lets one call of code pass, which spends it. */
  readonly once?: true;
  readonly reason?: string;
  readonly by?: string;
}

export interface FindDecision {
  readonly threadId: string;
  readonly userId: string | null;
  readonly executionId: string | null;
  readonly fingerprint: string;
  /** Of a call that code makes: the id of its action, which has not begun. An approval for `once` reaches it while it is not spent. */
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
  /** 100 unless given. */
  readonly limit?: number;
}

export type ReconciledAction =
  /** `wait`: the one that has asked for it, which is over now. */
  | { readonly kind: 'reconciled'; readonly action: ActionRecord; readonly wait?: Wait }
  /** It was not uncertain: as it is. */
  | { readonly kind: 'certain'; readonly action: ActionRecord }
  | { readonly kind: 'unknown' };

export interface ActionStore {
  /**
   * Keeps what was judged of a call that code makes itself: denied, or begun, for as long as its process renews it.
   * `spent`: another call has used its approval up, and nothing is kept. Given again it changes nothing but that; what was lost has begun
   * again. Rejects with `ThreadTerminated`, `ThreadNotFound`.
   */
  record(command: RecordAction): Promise<'kept' | 'spent'>;
  /** The end of what `record` has begun. Given again it changes nothing. */
  end(command: EndAction): Promise<void>;
  /** Its process is at it. What is not there, or over, stays as it is. */
  renew(id: string, leaseMs: number): Promise<void>;
  /** Those that nobody has renewed in time are uncertain: answers how many, 100 at most. */
  closeLost(): Promise<number>;
  /**
   * The newest answer of an approval of this fingerprint that reaches this execution: approved for the execution, the thread, or always (by
   * the scope of the answer; the last for threads of the same user), or denied in this execution. Null where there is none.
   */
  findDecision(asked: FindDecision): Promise<EarlierDecision | null>;
  /** Newest first. */
  list(options?: ListActions): Promise<readonly ActionRecord[]>;
  /** Once: a second time the action is certain. */
  reconcile(id: string, reconciliation: Reconciliation): Promise<ReconciledAction>;
}
