/** The table of actions: calls that a policy has judged. Times are microseconds since 1970. */
import type { ActionKind, ActionState } from '../../core/governance/agent-policy.ts';
import type { Json } from '../schema/json.ts';

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

/** An approval for all threads of a user within an organisation. It has no content, and outlives the thread that asked. */
export interface GrantTable {
  /** The wait that was answered so. */
  wait_id: string;
  fingerprint: string;
  /** Those of the thread that asked; a grant of a thread without a user holds for all such threads. */
  organization_id: string | null;
  user_id: string | null;
  granted_by: string | null;
  granted_at: number;
}

export interface ActionTables {
  actions: ActionTable;
  grants: GrantTable;
}
