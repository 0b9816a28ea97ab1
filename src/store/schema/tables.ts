/**
 * The tables, as Kysely sees them. Portable to PostgreSQL on purpose: text, integers and JSON as text;
 * flags are 0 or 1; times are microseconds since 1970.
 */

import type { Generated } from 'kysely';
import type { FlowDirective, StepDirective } from '../../core/author/thread-execution.ts';
import type { Message, SubagentFields } from '../../core/message/message.ts';
import type { A2aTaskTable } from '../a2a/a2a-record.ts';
import type { ActionTables } from '../action/action-record.ts';
import type { BudgetTables } from '../budget/budget-record.ts';
import type { EnvTables } from '../env/env-record.ts';
import type { FamilyTables } from '../family/family-record.ts';
import type { ValueAndFileTables } from '../file/file-record.ts';
import type { McpListTable } from '../mcp/mcp-record.ts';
import type { MemoryNoteTable } from '../memory/memory-table.ts';
import type { SentContentTable } from '../message/message-record.ts';
import type { ProducerTables } from '../producer/producer-record.ts';
import type { RequestTextTable } from '../request/request-record.ts';
import type { SummaryTable } from '../step/step-place-record.ts';
import type { TaskTables } from '../task/task-record.ts';
import type { ThreadTables } from '../thread/thread-record.ts';
import type { TokenTables } from '../token/token-record.ts';
import type { TraceTable } from '../trace/trace-record.ts';
import type { WaitTables } from '../wait/wait-record.ts';
import type { Flag, Json } from './column.ts';

export interface MetaTable {
  key: string;
  value: string;
}

export interface ItemTable {
  thread_id: string;
  id: string;
  kind: 'message' | 'tool';
  payload: Json;
  /**
   * staged: stored by the client, its signal will follow. queued: the next step takes it. drained: became a message, or
   * was refused.
   */
  state: 'staged' | 'queued' | 'drained';
  position: number | null;
  created_at: number;
  /** 1 if queued by code of the thread's own executions; everything else is from outside. */
  own: Flag;
  /** Identifies what the sender wrote, which `payload` no longer has once drained; null if an early version stored the item. */
  digest: string | null;
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
  /** The request to cancel it, made before it has begun. */
  cancel_request: Json | null;
}

/** The fields of `Message` are the columns of the same names. */
export interface MessageTable
  extends Omit<Message, keyof SubagentFields | 'silent' | 'metadata' | 'attachments'> {
  thread_id: string;
  silent: Flag;
  metadata: Json;
  attachments: Json | null;
  execution_id: string | null;
  step: number | null;
  /** Reasoning of the model, if its answer included any. */
  reasoning: string | null;
  /** Parts of an answer whose provider needs more of it back than its message says (core/message/answer-parts.ts). */
  parts: Json | null;
  /** The prompt that an assistant message belongs to. */
  prompt: string | null;
}

/** Its `status` is that with which it was in the history. */
export interface SupersededMessageTable extends MessageTable {
  /** Number of the event that superseded it. An edited message has a row for each earlier revision. */
  seq: number;
}

/** A superseded part of a thread, under the id of the request that superseded it. */
export interface SupersededPartTable {
  thread_id: string;
  id: string;
  /** Identifies what was asked. */
  digest: string;
  /** Rows of the log from here to `to_seq`, both included, belong to the part. */
  from_seq: number;
  to_seq: number;
  /** What the request was answered with. */
  answer: Json;
}

export interface ExecutionTable {
  thread_id: string;
  id: string;
  started_at: number;
  ended_at: number | null;
  stop_reason: string | null;
  /** `state.context`; stored while the execution runs. */
  context: Json | null;
  /** Its run context, if one was given; then ids of that context, to find executions by. */
  run_context: Json | null;
  run_id: string | null;
  session_id: string | null;
  trace_id: string | null;
  /** The agent with which it began. */
  agent: string | null;
  /** Number of the event that begins it. */
  first_seq: number | null;
  /** Null while it runs, and if the thread has simply become idle. */
  ended_as: 'stopped' | 'failed' | 'terminated' | null;
  /** The request to cancel it: by whom, why, since when; null if there is none. */
  cancel_request: Json | null;
  /** Once it has ended: the budgets that it has spent from (budget/account.ts); null if there were none. */
  budget: Json | null;
  /** Null until its end hooks have run (execution/read-execution.ts). */
  end_told: Flag | null;
  /** Null once its streamed text was removed from the log (execution/remove-chunks.ts). */
  streams: Flag | null;
  /** 1 if code of another process produces it (table `producers`). */
  produced: Flag | null;
  /** The newest answer that did not fit its type, if none has been accepted since (core/answer/typed-answer.ts). */
  rejected: Json | null;
  /** The message whose content is its typed answer; null if it has none. */
  output: string | null;
  /** The type that its message gives to its last answer; null if that is up to the agent's side. */
  answer_type: Json | null;
}

export interface StepTable {
  thread_id: string;
  step: number;
  execution_id: string;
  /** immediate: calls that a side makes before its first step. prompt: the step of a sub-prompt, within a call of `parent_step`. */
  kind: 'model' | 'tools' | 'immediate' | 'prompt';
  state: 'open' | 'committed' | 'stopped' | 'failed' | 'abandoned';
  /** Number of the newest attempt; a chunk event says which attempt it came from. */
  attempt: number;
  message_id: string | null;
  /** The model that answered, by its definition's name. */
  model: string | null;
  /** 1 if the answer has text. */
  text: Flag;
  /** The log's last number when the step opened; its chunk rows come after it. */
  first_seq: number;
  opened_at: number;
  closed_at: number | null;
  /** Flow directive of hooks: `stop`, `a` or `b`. */
  directive: StepDirective | null;
  /** The call that a sub-prompt's step answers. */
  parent_step: number | null;
  parent_idx: number | null;
  /** The depth of its messages; 0 at the top. */
  depth: number;
  /** The sub-prompt's name, and the call's validated arguments. */
  prompt: string | null;
  arguments: Json | null;
  /** The side whose step it is: `a` for an agent with one AI side. */
  side: 'a' | 'b';
  /** The attempt that a worker gave up when it shut down. */
  handed_over: Generated<number | null>;
  /** An answer of a sub-prompt that did not fit: in the step that gave it, and in the one that asks again. */
  rejected: Json | null;
}

/** (workflow run, ordinal) identifies a command of the workflow; a step that was taken over has two of them. */
export interface CommandKeyTable {
  thread_id: string;
  run_id: string;
  ordinal: number;
  /** The step that it began or took over; null if there was nothing to do. */
  step: number | null;
  /** Number of pending rows that it turned into messages. */
  swept: number;
}

export interface ToolCallTable {
  thread_id: string;
  step: number;
  idx: number;
  call_id: string;
  name: string;
  arguments: string;
  /** Origin of the call: the model, a signal (`queueTool`), or code (`state.queueTool`). */
  origin: 'model' | 'signal' | 'code';
  /**
   * asked: its body has asked something and ended; the end of the wait makes it scheduled again. finished: its end is
   * stored (`deferred`), and becomes history once every call before it has a result.
   */
  state: 'scheduled' | 'started' | 'asked' | 'finished' | 'done' | 'unknown';
  /** The attempt that holds the call; only it may commit a result. */
  attempt: string | null;
  status: 'success' | 'error' | null;
  started_at: number | null;
  ended_at: number | null;
  /** Id that its tool message will have, assigned early if messages of a sub-prompt refer to it. */
  message_id: string | null;
  /** Flow directive of the tool or its hooks: `stop`, `a` or `b`. */
  directive: FlowDirective | null;
  /** Number of waits that it has opened. */
  waits: number;
  /** The log's last number when it began; null if it has not begun. */
  first_seq: number | null;
  /** Digest of its arguments, for the detection of loops; null if it does not count for that. */
  signature: string | null;
  /** Digest of its result, if that is a success. */
  outcome: string | null;
  /** 1 if its result has brought something new. */
  progress: Flag | null;
  /** The loop that ends its execution: a LoopWarning. */
  loop: Json | null;
  /** Set when it begins: 0 if its tool must not be called twice. */
  idempotent: Flag | null;
  /** 1 if it may be under way together with its neighbours that have the mark (core/thread/call-group.ts). */
  parallel: Flag | null;
  /** When the server scheduled the attempt that holds it, in milliseconds since 1970; null if it has no such mark. */
  held_since: number | null;
  /** The end of a finished call: a DeferredEnd (tool/call-end.ts). */
  deferred: Json | null;
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
  /** 10⁻¹² US dollars. */
  cost_pico: bigint | null;
  /** SourcedPrices: the prices per 1,000,000 tokens from which the cost was computed, and where they are from. */
  price: Json | null;
  started_at: number;
  first_token_at: number | null;
  ended_at: number | null;
  /** What the call adds to the messages of its conversation (request/request-chain.ts); null if nothing was kept. */
  chain: Json | null;
  /** What it was sent, by reference to that and to texts; null if it is not kept, or no longer. */
  request: Json | null;
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
  /** Number of attempts so far. */
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
  superseded_messages: SupersededMessageTable;
  superseded_parts: SupersededPartTable;
  executions: ExecutionTable;
  steps: StepTable;
  command_keys: CommandKeyTable;
  tool_calls: ToolCallTable;
  model_calls: ModelCallTable;
  events: EventTable;
  effects: EffectTable;
  execution_claims: ExecutionClaimTable;
  author_strikes: StrikeTable;
  summaries: SummaryTable;
  request_texts: RequestTextTable;
  mcp_lists: McpListTable;
  memory_notes: MemoryNoteTable;
  sent_contents: SentContentTable;
  a2a_tasks: A2aTaskTable;
  traces: TraceTable;
}
