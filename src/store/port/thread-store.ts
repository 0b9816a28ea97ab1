/**
 * The ThreadStore port: storage for everything of a thread that Temporal must not carry. It is grouped by what is
 * stored; a group's file defines what its commands take, return, and reject with.
 * P1. Each command is one transaction and idempotent: natural keys guard against a command given twice. Streamed text
 *     has no key, and is never sent twice. Exceptions are noted at the command.
 * P2. Commands of a workflow carry its run id; a command of a retired run rejects with `StaleRun` (the fence). Not
 *     fenced are outcomes, which are true whichever run reports them (of a tool call, an act, an effect), and streamed
 *     text, which is dropped silently.
 * P3. On a terminated thread commands return `terminated` (or reject with `ThreadTerminated`) and change nothing; only
 *     a tool's late result is still logged.
 * P4. Every command may reject with `StoreUnavailable`, `StoreFull`, `StoreLost` or `StoreCorrupt`: then it is unknown
 *     whether anything was stored, and the same command may be given again.
 * Times are microseconds since 1970.
 */

import type { A2aStore } from './a2a.ts';
import type { ActionStore } from './action.ts';
import type { BudgetStore } from './budget.ts';
import type { EffectStore } from './effect.ts';
import type { EnvStore } from './env.ts';
import type { EventStore } from './event.ts';
import type { ExecutionStore } from './execution.ts';
import type { ChildStore, FamilyStore, ReportStore, VariableRequestStore } from './family.ts';
import type { FileStore } from './file.ts';
import type { IdStore } from './id.ts';
import type { McpStore } from './mcp.ts';
import type { MemoryStore } from './memory.ts';
import type { MessageStore } from './message.ts';
import type { ModelCallStore } from './model-call.ts';
import type { ProducerStore } from './producer.ts';
import type { QueueStore } from './queue.ts';
import type { SentStore } from './sent.ts';
import type { StepStore } from './step.ts';
import type { StrikeStore } from './strike.ts';
import type { SubpromptStore } from './subprompt.ts';
import type { TaskStore } from './task.ts';
import type { ThreadRecordStore } from './thread.ts';
import type { TokenStore } from './token.ts';
import type { ToolCallStore } from './tool.ts';
import type { ValueStore } from './value.ts';
import type { WaitStore } from './wait.ts';

export type * from './a2a.ts';
export type * from './action.ts';
export type * from './decided-action.ts';
export type * from './event.ts';
export type * from './execution.ts';
export type * from './family.ts';
export type * from './mcp.ts';
export type * from './model-call.ts';
export type * from './producer.ts';
export type { FromRun } from './run.ts';
export type * from './step.ts';
export type * from './step-ref.ts';
export type * from './strike.ts';
export type * from './subprompt.ts';
export type * from './summary.ts';
export type * from './task.ts';
export type * from './thread.ts';
export type * from './tool.ts';
export type * from './wait.ts';

export interface ThreadStore {
  /** The store's own id; part of each worker's identity. */
  readonly id: string;
  /** Engine and location of the store, for display. */
  readonly place: string;
  /**
   * Aborted when the store can no longer be used, with a `StoreLost` or `StoreCorrupt` as its reason. Absent if that
   * cannot happen.
   */
  readonly ended?: AbortSignal;

  readonly ids: IdStore;
  /** Threads: opened, brought to rest, ended. */
  readonly threads: ThreadRecordStore;
  /** Items sent to a thread, until a step drains them. */
  readonly queue: QueueStore;
  /** Executions of all threads; also the index of runs. */
  readonly executions: ExecutionStore;
  readonly steps: StepStore;
  /** Steps within a call of another step. */
  readonly subprompts: SubpromptStore;
  /** A running step's model calls, and the text that they stream. */
  readonly modelCalls: ModelCallStore;
  readonly toolCalls: ToolCallStore;
  /**
   * Tasks, and the steps of their loops. Other data of a task is stored like that of a thread, under `task/` plus the
   * task's id.
   */
  readonly tasks: TaskStore;
  /** Executions that code of one process produces, and the presence of that process. */
  readonly producers: ProducerStore;
  readonly budgets: BudgetStore;
  /** Calls that a policy has judged. */
  readonly actions: ActionStore;
  readonly messages: MessageStore;
  /** The log of each thread. */
  readonly events: EventStore;
  /** The key-value store of each thread. */
  readonly values: ValueStore;
  /** The file system of each thread. */
  readonly files: FileStore;
  /** Variables of threads, users and the instance. */
  readonly env: EnvStore;
  /** Who may use the HTTP API. */
  readonly tokens: TokenStore;
  /** Tool lists of MCP servers. */
  readonly mcp: McpStore;
  /** Notes of memory hooks. */
  readonly memory: MemoryStore;
  /** Content of starts, and reasons, that clients have stored before sending their ids. */
  readonly sent: SentStore;
  /** Tasks of agents elsewhere that calls have begun. */
  readonly a2a: A2aStore;
  readonly effects: EffectStore;
  /** Waits: approvals, questions and other answers that people must give. */
  readonly waits: WaitStore;
  /** Author code that has brought worker processes down. */
  readonly strikes: StrikeStore;
  /** Threads below one root, as a whole. */
  readonly family: FamilyStore;
  /** A parent's registry, and messages between a parent and a child. */
  readonly children: ChildStore;
  /** Reports of children's executions, until they are delivered to the parent. */
  readonly reports: ReportStore;
  /** Children that wait for variables. */
  readonly variableRequests: VariableRequestStore;

  /** Ends all connections. Commands that wait for a lost server reject with `StoreUnavailable`. */
  close(): Promise<void>;
}
