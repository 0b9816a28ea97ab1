/** Actions: calls that a policy has judged. A call of a step tells of its action as it begins or ends (tool.ts); this is for all others. */
import type { JudgedAction } from '../../core/governance/agent-policy.ts';
import type { ErrorCode } from '../../core/value/error.ts';

export interface ToldAction extends JudgedAction {
  /** Why it is not done. */
  readonly denied?: { readonly code: ErrorCode; readonly reason: string };
}

export interface RecordAction {
  readonly threadId: string;
  readonly told: ToldAction;
  /** Where the code runs in one. */
  readonly step?: number;
}

export interface ActionStore {
  /** Tells the log what was judged of a call that code makes itself. Rejects with `ThreadTerminated`, `ThreadNotFound`. */
  record(command: RecordAction): Promise<void>;
}
