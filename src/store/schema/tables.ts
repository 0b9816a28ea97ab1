/**
 * The tables, as Kysely sees them. Portable to PostgreSQL on purpose: text, integers and JSON as text;
 * flags are 0 or 1; times are microseconds since 1970.
 */

import type { Generated } from 'kysely';
import type { FlowDirective, StepDirective } from '../../core/author/thread-execution.ts';
import type { ActionTables } from './action.ts';
import type { BudgetTables } from './budget.ts';
import type { EnvTables } from './env.ts';
import type { FamilyTables } from './family.ts';
import type { ValueAndFileTables } from './file.ts';
import type { ProducerTables } from './producer.ts';
import type { TaskTables } from './task.ts';
import type { ThreadTables } from './thread.ts';
import type { TokenTables } from './token.ts';
import type { WaitTables } from './wait.ts';

/** 0 or 1. */
export type Flag = number;
/** JSON text. */
export type Json = string;

export interface MetaTable {
  key: string;
  value: string;
}

export interface ItemTable {
  thread_id: string;
  id: string;
  kind: 'message' | 'tool';
  payload: Json;
  /** staged: the client put it here, its signal is to come. queued: next step takes it. drained: a message. */
  state: 'staged' | 'queued' | 'drained';
  position: number | null;
  created_at: number;
  /** Queued by code of the thread's own executions; what comes from anywhere else is from outside. */
  own: Flag;
}

/** An id that a sender has given to an execution. */
export interface ExecutionClaimTable {
  /** `organization:<id>`, `user:<id>`, or `store`. */
  owner: string;
  execution_id: string;
  thread_id: string;
  /** The item that begins it. */
  item_id: string;
  digest: string;
  created_at: number;
  /** Somebody wants it cancelled before it has begun. */
  cancel_request: Json | null;
}

export interface MessageTable {
  thread_id: string;
  id: string;
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  name: string | null;
  tool_calls: Json | null;
  tool_call_id: string | null;
  created_at: number;
  parent_id: string | null;
  depth: number;
  silent: Flag;
  metadata: Json;
  attachments: Json | null;
  status: 'pending' | 'completed' | 'failed';
  tool_status: 'success' | 'error' | null;
  execution_id: string | null;
  step: number | null;
  /** What the model thought, when its answer told it. */
  reasoning: string | null;
  /** The prompt that an assistant message answers for. */
  prompt: string | null;
}

export interface ExecutionTable {
  thread_id: string;
  id: string;
  started_at: number;
  ended_at: number | null;
  stop_reason: string | null;
  /** `state.context`: kept while the execution lasts. */
  context: Json | null;
  /** What it runs with, where somebody has given anything; then its run's labels, for those who look for them. */
  run_context: Json | null;
  run_id: string | null;
  session_id: string | null;
  trace_id: string | null;
  /** The agent with which it began. */
  agent: string | null;
  /** The number of the log's row that begins it. */
  first_seq: number | null;
  /** Null while it lasts, and where the thread has simply come to rest. */
  ended_as: 'stopped' | 'failed' | 'terminated' | null;
  /** Who wants it cancelled, why, since when; null where nobody does. */
  cancel_request: Json | null;
  /** Once it has ended: the budgets that it has spent from (commands/budget/account.ts); null where there were none. */
  budget: Json | null;
  /** Null while no hook has been told of its end (commands/run/ending.ts). */
  end_told: Flag | null;
  /** Null once its streamed text was removed from the log (commands/run/remove-chunks.ts). */
  streams: Flag | null;
  /** Code of another process produces it (producers). */
  produced: Flag | null;
}

export interface StepTable {
  thread_id: string;
  step: number;
  execution_id: string;
  /** immediate: calls that a side makes before its first step. prompt: the step of a sub-prompt, within a call of `parent_step`. */
  kind: 'model' | 'tools' | 'immediate' | 'prompt';
  state: 'open' | 'committed' | 'stopped' | 'failed' | 'abandoned';
  /** Counts the workers that tried; a chunk event says which one it came from. */
  attempt: number;
  message_id: string | null;
  /** The model that answered, by its definition's name. */
  model: string | null;
  /** The answer has text. */
  text: Flag;
  /** The log's last number when the step opened: its chunk rows lie beyond. */
  first_seq: number;
  opened_at: number;
  closed_at: number | null;
  /** What hooks asked of the flow: `stop`, `a` or `b`. */
  directive: StepDirective | null;
  /** The call that a sub-prompt's step answers. */
  parent_step: number | null;
  parent_idx: number | null;
  /** The depth of its messages; 0 at the top. */
  depth: number;
  /** The sub-prompt's name, and the call's checked arguments. */
  prompt: string | null;
  arguments: Json | null;
  /** Whose step it is: `a` for an agent with one AI side. */
  side: 'a' | 'b';
  /** The attempt that a worker gave up as it shut down. */
  handed_over: Generated<number | null>;
}

/** (workflow run, ordinal) names a command of the workflow; a step that is taken over has two such names. */
export interface CommandKeyTable {
  thread_id: string;
  run_id: string;
  ordinal: number;
  /** The step it began or took over; null where there was nothing to do. */
  step: number | null;
  /** Pending rows that it turned into messages. */
  swept: number;
}

export interface ToolCallTable {
  thread_id: string;
  step: number;
  idx: number;
  call_id: string;
  name: string;
  arguments: string;
  /** Who asked: the model, a signal (`queueTool`), or code (`state.queueTool`). */
  origin: 'model' | 'signal' | 'code';
  /** asked: its body has asked something and ended; the answer makes it scheduled again. */
  state: 'scheduled' | 'started' | 'asked' | 'done' | 'unknown';
  /** The attempt that holds the call; only it may commit a result. */
  attempt: string | null;
  status: 'success' | 'error' | null;
  started_at: number | null;
  ended_at: number | null;
  /** The id that its tool message will have, given ahead where sub-prompt messages refer to it. */
  message_id: string | null;
  /** What the tool or its hooks asked of the flow: `stop`, `a` or `b`. */
  directive: FlowDirective | null;
  /** Waits that it has opened. */
  waits: number;
  /** The log's last number as it began; null where it has not. */
  first_seq: number | null;
  /** A digest of its arguments, where loops are looked for; null where it does not count. */
  signature: string | null;
  /** A digest of its result, where that is a success. */
  outcome: string | null;
  /** It has brought something new. */
  progress: Flag | null;
  /** The loop with which it ends its execution: a LoopWarning. */
  loop: Json | null;
}

export interface ModelCallTable {
  thread_id: string;
  step: number;
  /** Attempt of the step by a worker, and call within that attempt. */
  attempt: number;
  call: number;
  model: string;
  model_id: string;
  state: 'started' | 'ok' | 'error' | 'lost';
  error: Json | null;
  usage: Json | null;
  cost: number | null;
  started_at: number;
  first_token_at: number | null;
  ended_at: number | null;
}

export interface EventTable {
  thread_id: string;
  seq: number;
  at: number;
  type: string;
  step: number | null;
  attempt: number | null;
  data: Json;
}

export interface EffectTable {
  thread_id: string;
  id: string;
  name: string;
  args: Json;
  due_at: number;
  created_at: number;
  state: 'pending' | 'running' | 'done' | 'failed' | 'cancelled';
  /** Counts the workers that tried. */
  attempts: number;
  error: Json | null;
  started_at: number | null;
  ended_at: number | null;
  /** The budgets of the execution that scheduled it: a list of `{ threadId, executionId }`. */
  budget: Json | null;
}

export interface StrikeTable {
  work: string;
  thread_id: string;
  code: string;
  name: string;
  /** Ids of the deaths that it has caused. */
  deaths: Json;
  updated_at: number;
}

export interface Tables
  extends ThreadTables,
    ValueAndFileTables,
    EnvTables,
    FamilyTables,
    ActionTables,
    WaitTables,
    BudgetTables,
    TaskTables,
    ProducerTables,
    TokenTables {
  meta: MetaTable;
  items: ItemTable;
  messages: MessageTable;
  executions: ExecutionTable;
  steps: StepTable;
  command_keys: CommandKeyTable;
  tool_calls: ToolCallTable;
  model_calls: ModelCallTable;
  events: EventTable;
  effects: EffectTable;
  execution_claims: ExecutionClaimTable;
  author_strikes: StrikeTable;
}
