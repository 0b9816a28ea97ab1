/** The tables of parents and children (runtime §7, definitions §13). Times are microseconds since 1970. */
import type { Flag, Json } from './tables.ts';

/** The registry: one row for each child, kept for ever. */
export interface ChildTable {
  parent_id: string;
  child_id: string;
  /** The child's agent as it was made; a handoff never changes it here. */
  agent: string;
  name: string | null;
  title: string | null;
  description: string;
  resumable: Flag;
  blocking: Flag;
  /** `parentCommunication: 'explicit'`. */
  explicit: Flag;
  /** The side of the child that answers its parent. */
  hears: 'a' | 'b';
  status: string;
  /** The call that made it; null where its variables came later (`variable_requests`). */
  made_step: number | null;
  made_idx: number | null;
  /** The call that has its result with the child's next report. */
  wait_step: number | null;
  wait_idx: number | null;
  /** The newest call that told it something, and the message that its parent is to have an answer to. */
  told_step: number | null;
  told_idx: number | null;
  told_id: string | null;
  /** The parent has asked for something and has not been answered. */
  owes: Flag;
  /** A workflow run of the child has opened its thread. */
  started: Flag;
  created_at: number;
  terminated_at: number | null;
}

/** A child's reports to its parent: written with the end of the child's execution, then delivered. */
export interface ChildReportTable {
  child_id: string;
  /** The id of the execution that ended; `end` for the thread's own end. */
  id: string;
  kind: 'result' | 'failure' | 'stopped' | 'terminated';
  content: string;
  /** Paths: of the child's files, and where they are in the parent's once delivered. */
  attachments: Json;
  delivered: Json | null;
  state: 'due' | 'delivered' | 'dropped';
  /** Made before the child had read what its parent told it last: no answer to that. */
  early: Flag;
  /** The parent's call that it answered; null for a queued message, or none. */
  call_step: number | null;
  call_idx: number | null;
  /** The budgets of whoever has caused the execution, a list of `{ threadId, executionId }`; null where there were none. */
  budget: Json | null;
  created_at: number;
  delivered_at: number | null;
}

/** A child that waits for variables which nobody has (runtime §7.5). */
export interface VariableRequestTable {
  id: string;
  parent_id: string;
  agent: string;
  required: Json;
  missing: Json;
  /** The child as it will be made, and the names of what it does not inherit. Holds no value of any variable. */
  child: Json;
  step: number;
  idx: number;
  created_at: number;
  /** Single use: the child that it has become. */
  child_id: string | null;
  completed_at: number | null;
}

export interface FamilyTables {
  children: ChildTable;
  child_reports: ChildReportTable;
  variable_requests: VariableRequestTable;
}
