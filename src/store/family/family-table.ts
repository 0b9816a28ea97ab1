/** The tables of parents and children (runtime §7, definitions §13). Times are microseconds since 1970. */
import type { ReportKind } from '../../core/thread/subagent-report.ts';
import type { Flag, Json } from '../schema/json.ts';

/** The registry: one row for each child, kept as long as the content of the parent's thread. */
export interface ChildTable {
  parent_id: string;
  child_id: string;
  /** The agent that the child was created with; a handoff does not change it. */
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
  /** The call that created it; null if a variable request was fulfilled (`variable_requests`). */
  made_step: number | null;
  made_idx: number | null;
  /** The call that gets its result with the child's next report. */
  wait_step: number | null;
  wait_idx: number | null;
  /** The newest call that sent it a message, and the id of the newest message that the parent expects an answer to. */
  told_step: number | null;
  told_idx: number | null;
  told_id: string | null;
  /** 1 if the parent has asked for something and has not been answered. */
  owes: Flag;
  /** 1 if a workflow run of the child has opened its thread. */
  started: Flag;
  created_at: number;
  terminated_at: number | null;
  /** Names of the parent's variables that its prompts may show; null if there is no such limit. */
  promoted: Json | null;
}

/** A child's reports to its parent: written with the end of the child's execution, then delivered. */
export interface ChildReportTable {
  child_id: string;
  /** The id of the execution that ended; `end` for the thread's own end. */
  id: string;
  kind: ReportKind;
  content: string;
  /** Paths of the child's files; in `delivered`, the attachments of the parent that they were copied to. */
  attachments: Json;
  delivered: Json | null;
  state: 'due' | 'delivered' | 'dropped';
  /** 1 if made before the child had read its parent's newest message, which it does not answer then. */
  early: Flag;
  /** The parent's call that it answered; null if it was queued as a message, or dropped. */
  call_step: number | null;
  call_idx: number | null;
  /** Budgets of the execution that caused this one: a list of `{ threadId, executionId }`; null if there were none. */
  budget: Json | null;
  created_at: number;
  delivered_at: number | null;
}

/** A child that is created once its missing variables are given (runtime §7.5). */
export interface VariableRequestTable {
  id: string;
  parent_id: string;
  agent: string;
  required: Json;
  missing: Json;
  /**
   * The child as it will be created, the names of variables that it does not inherit, and declared types. Holds no
   * value of any variable.
   */
  child: Json;
  step: number;
  idx: number;
  created_at: number;
  /** The child that was created from it; a request can be fulfilled once. */
  child_id: string | null;
  completed_at: number | null;
}

export interface FamilyTables {
  children: ChildTable;
  child_reports: ChildReportTable;
  variable_requests: VariableRequestTable;
}
