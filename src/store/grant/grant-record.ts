/** Grants: approvals that reach further than one call (core/governance/grant.ts). Times are microseconds since 1970. */
import type { GrantCover, WaitScope } from '../../core/wait/answer.ts';
import type { Json } from '../schema/column.ts';

/** A grant has no content of a thread, so it can outlive the thread that asked. */
export interface Grant {
  /** The id of the wait that was answered so. */
  readonly id: string;
  readonly scope: Exclude<WaitScope, 'once'>;
  /** `arguments`: the same call only. `tool`: every call of the tool with no other capabilities than these. */
  readonly covers: GrantCover;
  /** The thread that asked; null once it is deleted. */
  readonly threadId: string | null;
  /** Set if the scope is `execution`. */
  readonly executionId: string | null;
  /** Those of the thread that asked; a grant of a thread without a user holds for all such threads. */
  readonly userId: string | null;
  readonly organizationId: string | null;
  readonly agent: string;
  readonly tool: string;
  readonly capabilities: readonly string[];
  readonly grantedBy: string | null;
  readonly grantedAt: number;
  /** Null: until it is revoked, or its scope ends. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly revokedBy: string | null;
}

export interface ListGrants {
  /** Grants that apply to this thread: its own, and those of its user. */
  readonly threadId?: string;
  /** Also grants that are revoked or have expired. */
  readonly all?: boolean;
  /** Default 100. */
  readonly limit?: number;
}

/** The call that a grant is searched for. */
export interface GrantedTool {
  readonly agent: string;
  readonly name: string;
  readonly digest: string;
  readonly capabilities: readonly string[];
}

export interface GrantTable {
  id: string;
  /** What it applies to: an execution, a thread, or the threads of a user within an organisation. */
  owner: string;
  scope: Exclude<WaitScope, 'once'>;
  /** The thread that asked. */
  asked_in: string | null;
  execution_id: string | null;
  organization_id: string | null;
  user_id: string | null;
  agent: string;
  name: string;
  capabilities: Json;
  /** The digest of the tool; null if the grant is for one fingerprint. */
  digest: string | null;
  /** Null if the grant is for the tool. */
  fingerprint: string | null;
  granted_by: string | null;
  granted_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  revoked_by: string | null;
}
