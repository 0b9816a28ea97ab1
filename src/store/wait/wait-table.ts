/** The table of waits: what is asked of people, and what they answered. Times are microseconds since 1970. */
import type { WaitKind, WaitState } from '../../core/wait/wait.ts';
import type { Flag, Json } from '../schema/json.ts';

/** Kept as long as the content of its thread: the first answer is the one in its row. */
export interface WaitTable {
  id: string;
  thread_id: string;
  root_id: string;
  /** Unique in its thread: opening the same key again finds the existing wait. */
  key: string;
  kind: WaitKind;
  name: string;
  summary: string;
  data: Json;
  fingerprint: string | null;
  /** The execution that closes the wait when it ends; null if the wait outlives executions. */
  execution_id: string | null;
  /** The call that waits. */
  step: number | null;
  idx: number | null;
  tool_call_id: string | null;
  /** 1 if the thread does not continue before the wait is over. */
  blocks: Flag;
  state: WaitState;
  answer: Json | null;
  /** Why it is over without an answer. */
  reason: string | null;
  opened_at: number;
  expires_at: number | null;
  ended_at: number | null;
  /** 1 once the waiting call, step or task has continued, or an approval for one call of code was used up. */
  heard: Flag;
}

/** Waits of descendants that block a thread, as long as they are open. */
export interface ShownWaitTable {
  /** The ancestor. */
  thread_id: string;
  wait_id: string;
}

export interface WaitTables {
  waits: WaitTable;
  shown_waits: ShownWaitTable;
}
