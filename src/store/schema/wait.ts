/** The table of waits: what is asked of people, and what they answered. Times are microseconds since 1970. */
import type { WaitKind, WaitState } from '../../core/wait/wait.ts';
import type { Flag, Json } from './tables.ts';

/** Kept for ever: the first answer is the one in its row. */
export interface WaitTable {
  id: string;
  thread_id: string;
  root_id: string;
  /** Unique in its thread: who asks the same again finds the wait that is there. */
  key: string;
  kind: WaitKind;
  name: string;
  summary: string;
  data: Json;
  fingerprint: string | null;
  /** Closed with this execution; null where it outlives executions. */
  execution_id: string | null;
  /** The call that waits. */
  step: number | null;
  idx: number | null;
  tool_call_id: string | null;
  /** The thread does not go on before it is over. */
  blocks: Flag;
  state: WaitState;
  answer: Json | null;
  /** Why it is over without an answer. */
  reason: string | null;
  opened_at: number;
  expires_at: number | null;
  ended_at: number | null;
  /** Whoever waited has gone on. */
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
