/**
 * ThreadState: what tools, hooks, effects and endpoints are given. Types alone; `src/state` makes it.
 */
import type { RunCode } from './code-execution.ts';
import type { AgentDefinition, ModelDefinition, PromptDefinition } from './definition.ts';
import type { ThreadEffects } from './effect.ts';
import type { EnvState } from './env.ts';
import type { ToolResult } from './message.ts';
import type { ExecutionState } from './thread-execution.ts';
import type { ThreadFamily } from './thread-family.ts';
import type { ThreadFiles } from './thread-file.ts';
import type { GetLogsOptions, Log } from './thread-log.ts';
import type { ThreadMessages } from './thread-message.ts';
import type { ThreadValues } from './thread-value.ts';

/** Definitions of the project (definitions §14.4). */
export interface ThreadLoaders {
  /** Rejects with `DefinitionNotFound`, which tells the names there are. */
  loadModel(name: string): Promise<ModelDefinition>;
  loadPrompt(name: string): Promise<PromptDefinition>;
  loadAgent(name: string): Promise<AgentDefinition>;
  getModelNames(): string[];
  getPromptNames(): string[];
  getAgentNames(): string[];
}

export interface ThreadState
  extends EnvState,
    ThreadFiles,
    ThreadValues,
    ThreadMessages,
    ThreadEffects,
    ThreadLoaders,
    ThreadFamily {
  readonly threadId: string;
  /** Name of the agent that owns the thread now. */
  readonly agentId: string;
  readonly userId: string | null;
  /** Microseconds. */
  readonly createdAt: number;
  /** Microseconds, or null while the thread lives. */
  readonly terminated: number | null;
  /** The thread's creation arguments; within a sub-prompt, those of its call. `{}` when there are none. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * Scratch of the current execution, shared by its tools and hooks: JSON, saved with each tool's result and each answer,
   * gone when the thread rests. A tool that leaves anything else in it gets the error result `ContextNotSerializable`.
   * Outside an execution it is `{}` and kept nowhere.
   */
  readonly context: Record<string, unknown>;
  readonly execution: ExecutionState | null;
  /**
   * The same for every attempt of this tool call and for no other: `<threadId>:<step>:<call>`.
   * Hand it to the service that the tool calls. Null outside a tool call.
   */
  readonly idempotencyKey: string | null;
  /** `options` of the tool's entry in the prompt. */
  readonly options: Readonly<Record<string, unknown>>;

  /**
   * Runs a tool as a normal call before the next model step, and wakes an idle thread. Durable with the commit of the
   * calling tool, hook or effect; in an endpoint before its answer is sent. Throws for an unknown name.
   */
  queueTool(name: string, args: Readonly<Record<string, unknown>>): void;
  /**
   * Runs a tool now and returns its result; stores no message, but a log entry. Unknown names and bad arguments are error
   * results.
   */
  invokeTool(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult>;

  /**
   * Tells those who watch the thread's events: `{type: 'custom', data: {event, data}}`. Best effort: it is written soon
   * after, in order, and data that is not JSON is dropped.
   */
  emit(event: string, data: unknown): void;
  getLogs(options?: GetLogsOptions): Promise<readonly Log[]>;

  /**
   * Runs TypeScript or JavaScript that nobody has read, in an isolate of its own (runtime §13, `docs/sandbox.md`): no
   * network, files, timers or host objects but what `imports` and `globals` hand in. The handle is awaited for the
   * result and never rejects; `status` is `success`, `error`, `link_error`, `memory` or `terminated`. There is no time
   * limit but yours: `terminate(reason)` ends a run at once. A run ends with the tool call that started it, on stop,
   * time-out and hand-over; until then, and no longer, the functions in its result can be called.
   */
  readonly runCode: RunCode;

  /** Of this runtime alone: `{ runtime: 'everthread' }`. Not portable. */
  readonly _notPackableRuntimeContext?: Readonly<Record<string, unknown>>;
}
