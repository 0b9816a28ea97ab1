/** The tables of threads and of the workflow runs that have written them. Times are microseconds since 1970. */
import type { ThreadStatus } from '../../core/thread/step.ts';
import type { A2aTaskTable } from './a2a.ts';
import type { McpListTable } from './mcp.ts';
import type { SummaryTable } from './summary.ts';
import type { Flag, Json } from './tables.ts';

export interface ThreadTable {
  id: string;
  agent: string;
  user_id: string | null;
  /** Whose thread it is, and whose its subagents are; null where nobody has said. */
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
  /** Last sequence number given to an event. */
  event_seq: number;
  /** Last time given to a message: each is later than the one before. */
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
  /** Its steps whose state is `open`. */
  open_steps: number;
  /** Its stored messages, of whatever kind. */
  message_count: number;
  /** Last position given to a pending item. */
  last_position: number;
  /** A turn has begun and no commit has ended it. */
  turn_open: Flag;
  /** Input is stored that no committed step has answered. */
  answer_due: Flag;
  /** A handoff's target: the thread's agent from the next step on. */
  next_agent: string | null;
  /** `after_thread_created` has run. */
  greeted: Flag;
  /** Its name for display; a child has it from its parent. */
  name: string | null;
  /** The side that acts next, and completed turns of the session; for an agent with two AI sides. */
  side: 'a' | 'b';
  turns: number;
  /** Its waits that are open: a thread without any is not asked for them. */
  open_waits: number;
  /** Since when it shows other waits of descendants than its workflow has read (commands/wait/shown-wait.ts, S3); null where it has read them. */
  unseen_since: number | null;
  /** Children ever made: a thread without any is not asked for them. */
  child_count: number;
  /** Sides of the present agent that have had a model step, and the immediate subagents before it: a list of `agent:side`, as JSON. */
  activated: Json;
  /** What its executions begin with, as it was started; null where nothing was given. */
  run_context: Json | null;
  /** The budgets that the open execution spends from (commands/budget/account.ts); null where there are none. */
  budget: Json | null;
  /** Loops that the next request of a side reminds of: a KeptWarnings; null where there are none. */
  loop_warnings: Json | null;
  /** How many rounds the turn may take, and where they began (commands/step/rounds.ts); null where nothing limits them. */
  rounds: Json | null;
  /** How large its team may grow in a turn (commands/base/team-limit.ts); null where nothing limits it. */
  team: Json | null;
  /** It has had summaries of its history: a thread without any is not asked for them. */
  compacted: Flag;
  /** A list of texts; null for none. `thread_tags` has them too, for those who look for one. */
  tags: Json | null;
  /** Its content was deleted: the row alone is left, and nobody reads it as a thread. */
  deleted_at: number | null;
}

/** A tag of a thread, with the time at which that thread was made. */
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
  a2a_tasks: A2aTaskTable;
}
