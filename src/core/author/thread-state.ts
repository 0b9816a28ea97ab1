/**
 * ThreadState: what tools, hooks, effects and endpoints receive. Types alone; `src/state` implements it.
 */

import type { ThreadFiles } from '../file/thread-file.ts';
import type { ToolResult } from '../message/message.ts';
import type { RunCode } from './code-execution.ts';
import type { ThreadActions } from './own-action.ts';
import type { ThreadQuestions } from './question.ts';
import type { ThreadEffects } from './thread-effect.ts';
import type { EnvState } from './thread-env.ts';
import type { ExecutionState } from './thread-execution.ts';
import type { ThreadFamily } from './thread-family.ts';
import type { GetLogsOptions, Log } from './thread-log.ts';
import type { ThreadMessages } from './thread-message.ts';
import type { ThreadValues } from './thread-value.ts';
import type { LoadedAgent, LoadedModel, LoadedPrompt } from './written-definition.ts';

/** Definitions of the project (definitions §14.4). */
export interface ThreadLoaders {
  /**
   * Returns the definition as its author wrote it (a `prompt` written as a text stays a text), with defaults for what
   * was left out; frozen. Rejects with `DefinitionNotFound`, whose message lists the known names.
   */
  loadModel(name: string): Promise<LoadedModel>;
  loadPrompt(name: string): Promise<LoadedPrompt>;
  loadAgent(name: string): Promise<LoadedAgent>;
  getModelNames(): string[];
  getPromptNames(): string[];
  getAgentNames(): string[];
}

/** Fields of unknown names and types, read-only. */
export type UnknownFields = { readonly [name: string]: unknown };
/** Fields of unknown names and types, writable. */
export type Scratch = Record<string, unknown>;

/**
 * The type parameters state what the author knows of the thread: the shapes of its `arguments`, of `context`, and of
 * the `options` of a tool's entry. They are not checked when the code runs: `ThreadState<{ city: string }>`.
 */
export interface ThreadState<
  Arguments extends object = UnknownFields,
  Context extends object = Scratch,
  Options extends object = UnknownFields,
> extends EnvState,
    ThreadFiles,
    ThreadValues,
    ThreadMessages,
    ThreadEffects,
    ThreadLoaders,
    ThreadQuestions,
    ThreadActions,
    ThreadFamily<ThreadState> {
  readonly threadId: string;
  /** Name of the thread's current agent. */
  readonly agentId: string;
  readonly userId: string | null;
  /** Microseconds. */
  readonly createdAt: number;
  /**
   * Time of termination in microseconds, or null while the thread lives: as of the moment in which this code began or
   * requested this state, updated by this state's own `terminate()`.
   */
  readonly terminated: number | null;
  /** The thread's creation arguments; within a sub-prompt also those of its call, which win. `{}` when there are none. Frozen, at any depth. */
  readonly arguments: Readonly<Arguments>;
  /**
   * Scratch of the current execution, shared by its tools and hooks, saved with each tool's result and each answer, cleared
   * when the thread rests; 256 KiB at most. What structured clone takes is kept (dates, maps, sets, bytes, cycles), an object
   * of a class as plain data. The rest is dropped, which the log says (`code.note`); no outcome depends on it.
   * Outside an execution it is `{}` and not saved.
   */
  readonly context: Context;
  readonly execution: ExecutionState | null;
  /**
   * The same for every attempt at this tool call and for no other call: `<threadId>:<step>:<call>`.
   * Pass it to the service that the tool calls. An invoked tool has its own key, the same for every attempt at the
   * work that invokes it: `<key of that work>:invoked:<n>`, `n` counting from 0. Null outside a tool call.
   */
  readonly idempotencyKey: string | null;
  /** `options` of the tool's entry in the prompt; an invoked tool has those of its own entry. `{}` when there are none. */
  readonly options: Readonly<Options>;

  /**
   * Runs a tool as a normal call before the next model step, and wakes an idle thread. Durable with the commit of the
   * calling tool, hook or effect; in an endpoint, before its answer is sent; discarded if its model step fails. Throws
   * `DefinitionNotFound` for an unknown name, `InvalidDefinitions` for one that `uses` of the tool does not list, and for
   * arguments that cannot be stored `InvalidValue`, which names the place, or `LimitExceeded`, above 4 MiB.
   */
  queueTool(name: string, args: Readonly<Record<string, unknown>>): void;
  /**
   * Runs a tool now and returns its result; stores a log entry and no message. Unknown names and bad arguments give error
   * results. The tool has a key, options, variables and `uses` of its own, and shares the rest of the state.
   */
  invokeTool(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult>;

  /**
   * Sends an event to readers of the thread's log: `{type: 'custom', data: {event, data}}`. Best effort: written soon
   * after, in order; data that is not JSON is dropped.
   */
  emit(event: string, data: unknown): void;
  getLogs(options?: GetLogsOptions): Promise<Log[]>;

  /**
   * Runs untrusted TypeScript or JavaScript in a separate isolate (runtime §13, `docs/sandbox.md`): without network,
   * files, timers or host objects, except what `imports` and `globals` provide. Awaiting the handle yields the result
   * and never rejects; `status` is `success`, `error`, `link_error`, `memory` or `terminated`. There is no time limit
   * unless you call `terminate(reason)`, which ends a run at once. A run ends with the tool call that started it, on
   * stop, time-out and hand-over; until then, and no longer, the functions in its result can be called.
   */
  readonly runCode: RunCode;

  /** Specific to this runtime: `{ runtime: 'everthread' }`. Not portable. */
  readonly _notPackableRuntimeContext?: Readonly<Record<string, unknown>>;
}

/** A ThreadState of any shapes: the type that a tool, an effect or an endpoint may declare for `state`. */
export type AnyThreadState = ThreadState<object, object, object>;
