/**
 * ThreadState: what tools are given (seed 003). Types alone; `activities/thread-state.ts` makes it.
 * Members arrive as the runtime grows; those listed here work.
 */
import type { RunCode } from './code-execution.ts';
import type { EnvState } from './env.ts';
import type { Message, ToolResult } from './message.ts';
import type { ThreadFiles } from './thread-file.ts';
import type { ThreadValues } from './thread-value.ts';

export interface GetMessagesOptions {
  /** How many at most; default 100, the newest. */
  readonly limit?: number;
  readonly offset?: number;
  /** `asc` (default): oldest first. `desc`: newest first. */
  readonly order?: 'asc' | 'desc';
  readonly includeSilent?: boolean;
  readonly maxDepth?: number;
}

export interface MessagePage {
  readonly messages: readonly Message[];
  readonly total: number;
  readonly hasMore: boolean;
}

export interface NewMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  readonly silent?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ExecutionState {
  readonly flowId: string;
  readonly currentSide: 'a' | 'b';
  readonly stepCount: number;
  /** Fires when the execution is stopped, the thread is terminated, or the worker must hand over. */
  readonly abortSignal: AbortSignal;
}

export interface ThreadState extends EnvState, ThreadFiles, ThreadValues {
  readonly threadId: string;
  /** Name of the agent that owns the thread now. */
  readonly agentId: string;
  readonly userId: string | null;
  /** Microseconds. */
  readonly createdAt: number;
  /** Microseconds, or null while the thread lives. */
  readonly terminated: number | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly execution: ExecutionState | null;
  /**
   * The same for every attempt of this tool call and for no other: `<threadId>:<step>:<call>`.
   * Hand it to the service that the tool calls. Null outside a tool call.
   */
  readonly idempotencyKey: string | null;
  /** `options` of the tool's entry in the prompt. */
  readonly options: Readonly<Record<string, unknown>>;

  /** Stored and pending messages; pending ones carry `metadata.queued: true`. */
  getMessages(options?: GetMessagesOptions): Promise<MessagePage>;
  getMessage(id: string): Promise<Message | null>;
  /** Stores a message now; starts nothing. Rejects with `ThreadTerminated` on a dead thread. */
  injectMessage(message: NewMessage): Promise<Message>;
  /** Durable FIFO: injected before the next model call (seed 000 §9). Resolves once stored. */
  queueMessage(message: Omit<NewMessage, 'role'> & { readonly role?: 'user' | 'assistant' }): Promise<void>;

  /** Runs a tool as a normal call before the next model step; durable with the commit of the calling tool. */
  queueTool(name: string, args: Readonly<Record<string, unknown>>): void;
  /** Runs a tool now and returns its result; stores no message. Unknown names and bad arguments are error results. */
  invokeTool(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolResult>;

  /**
   * Runs TypeScript or JavaScript that nobody has read, in an isolate of its own (seed 000 §13, `docs/sandbox.md`): no
   * network, files, timers or host objects but what `imports` and `globals` hand in. The handle is awaited for the
   * result and never rejects; `status` is `success`, `error`, `link_error`, `memory` or `terminated`. There is no time
   * limit but yours: `terminate(reason)` ends a run at once. A run ends with the tool call that started it, on stop,
   * time-out and hand-over; until then, and no longer, the functions in its result can be called.
   */
  readonly runCode: RunCode;
}
