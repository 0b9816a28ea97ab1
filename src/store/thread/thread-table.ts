/** The tables of threads and of the workflow runs that have written them. Times are microseconds since 1970. */
import type { ThreadStatus } from '../../core/thread/step.ts';
import type { A2aTaskTable } from '../a2a/a2a-table.ts';
import type { McpListTable } from '../mcp/mcp-table.ts';
import type { MemoryNoteTable } from '../memory/memory-table.ts';
import type { SentContentTable } from '../message/sent-table.ts';
import type { Flag, Json } from '../schema/json.ts';
import type { SummaryTable } from '../step/summary-table.ts';

export interface ThreadTable {
  id: string;
  agent: string;
  user_id: string | null;
  /** The organisation that owns the thread and its subagents; null if none was given. */
  organization_id: string | null;
  arguments: Json;
  status: ThreadStatus;
  stop_reason: string | null;
  last_error: Json | null;
  /** The workflow run that may write (the fence); every earlier one is in thread_runs and retired. */
  run_id: string;
  parent_id: string | null;
  root_id: string;
  created_at: number;
  updated_at: number;
  terminated_at: number | null;
  /** Last sequence number of an event. */
  event_seq: number;
  /** Last creation time of a message: each message is later than the one before. */
  clock: number;
  last_step: number;
  /** The first step that counts against the limits, and how many of each side have been counted since. */
  counted_from: number;
  counted_a: number;
  counted_b: number;
  /** The first step of the newest execution, and its model steps of each side: those that have an answer or wait for one. */
  asked_from: number;
  asked_a: number;
  asked_b: number;
  /** Number of its steps whose state is `open`. */
  open_steps: number;
  /** Number of its stored messages of every kind. */
  message_count: number;
  /** Last position of a pending item. */
  last_position: number;
  /** 1 if a turn has begun and no commit has ended it. */
  turn_open: Flag;
  /** 1 if input is stored that no committed step has answered. */
  answer_due: Flag;
  /** A handoff's target: the thread's agent from the next step on. */
  next_agent: string | null;
  /** 1 if `after_thread_created` has run. */
  greeted: Flag;
  /** Its name for display; a child gets it from its parent. */
  name: string | null;
  /** The side that acts next, and completed turns of the session; for an agent with two AI sides. */
  side: 'a' | 'b';
  turns: number;
  /** Number of open waits, its own and those of descendants that it shows; if 0, their tables are not read. */
  open_waits: number;
  /**
   * Since when its workflow has not read which waits of descendants it shows (wait/shown-wait.ts, S3); null if
   * it has.
   */
  unseen_since: number | null;
  /** Number of children ever created; if 0, their tables are not read. */
  child_count: number;
  /**
   * Sides of the present agent whose immediate subagents were made before their first model step, or that had none to
   * make: a list of `agent:side`, as JSON.
   */
  activated: Json;
  /** The context that its executions begin with, as given at its start; null if none was given. */
  run_context: Json | null;
  /** The budgets that the open execution spends from (budget/account.ts); null if there are none. */
  budget: Json | null;
  /** Loops that the next request of a side must warn of: a KeptWarnings; null if there are none. */
  loop_warnings: Json | null;
  /** How its models count the tokens of its requests: ModelCounts; null before the first. */
  model_counts: Json | null;
  /** How many rounds the turn may take, and where they began (step/rounds.ts); null if nothing limits them. */
  rounds: Json | null;
  /** How large its team may grow in a turn (transaction/team-limit.ts); null if nothing limits it. */
  team: Json | null;
  /** 1 if its history has ever been summarised; if 0, the table of summaries is not read. */
  compacted: Flag;
  /** A list of texts; null for none. Also in `thread_tags`, where threads are found by a tag. */
  tags: Json | null;
  /** When its content was deleted: only the row is left, and lists leave it out. */
  deleted_at: number | null;
}

/** A tag of a thread, with the time at which the thread was created. */
export interface ThreadTagTable {
  thread_id: string;
  tag: string;
  created_at: number;
}

export interface ThreadRunTable {
  thread_id: string;
  run_id: string;
  registered_at: number;
}

export interface ThreadTables {
  threads: ThreadTable;
  thread_runs: ThreadRunTable;
  thread_tags: ThreadTagTable;
  summaries: SummaryTable;
  mcp_lists: McpListTable;
  memory_notes: MemoryNoteTable;
  sent_contents: SentContentTable;
  a2a_tasks: A2aTaskTable;
}
