/**
 * Hooks (definitions §9, and our own): author code that runs at fixed points of a thread's life. Types alone;
 * `author/hooks` runs them.
 */
import type { LLMMessage } from '../message/llm-message.ts';
import type { Message, ToolCall, ToolResult } from '../message/message.ts';
import type { MessageAttachment, MessageUpdates } from './thread-message.ts';
import type { ThreadState } from './thread-state.ts';

/** The return value of a hook, or a promise of it. */
export type HookAnswer<T> = T | Promise<T>;
/** A hook that returns nothing keeps the value. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing has the type void.
export type Kept = null | undefined | void;

/** Fields that replace those of a new message: content, silent, metadata, role, attachments. Others are ignored. */
export type MessageChange = Partial<Omit<Message, 'attachments'>> & {
  readonly attachments?: readonly MessageAttachment[] | null;
};

/** What a hook decides about a call before it is made: to block it, or to replace all of its arguments. */
export type CallChange =
  | { readonly block: true; readonly reason?: string }
  | { readonly arguments: Readonly<Record<string, unknown>> };

/** How an execution has ended. */
export interface AgentEnd {
  /** Idempotency key: the same each time this end is reported, and unique to it. */
  readonly key: string;
  readonly executionId: string;
  readonly status: 'idle' | 'stopped' | 'failed' | 'terminated';
  /** The reason in the event `execution.ended`: a stop rule, `canceled`, `stopped`, `failed`, `terminated`. */
  readonly reason: string;
  /** The last text of the execution; null if it has none. */
  readonly text: string | null;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A summary that replaces older messages in the requests of a thread. */
export interface Compaction {
  /** Idempotency key: unique to this summary. */
  readonly key: string;
  /** Number of messages that it covers and no earlier summary does. */
  readonly count: number;
  readonly summary: string;
  /** Id of the last message that it covers. */
  readonly messageId: string;
  /** The name of the prompt whose requests begin with it. */
  readonly prompt: string;
}

/** The hooks with their arguments and results: the twelve of the spec, then our own. */
export interface HookSignatures {
  /** After the thread was made, before its first execution. */
  after_thread_created(state: ThreadState): HookAnswer<void>;
  /** On the parent, after its child was made and before the child's first message is queued. */
  after_subagent_created(state: ThreadState, child: ThreadState): HookAnswer<void>;
  /** The rendered system prompt; a returned text replaces it. */
  after_system_message(state: ThreadState, system: string): HookAnswer<string | Kept>;
  /** The messages of a request, oldest first. The returned list is used for this request alone. */
  filter_messages(state: ThreadState, messages: Message[]): HookAnswer<readonly Message[] | Kept>;
  /** The request's messages, immediately before it is sent. */
  prefilter_llm_history(state: ThreadState, messages: LLMMessage[]): HookAnswer<readonly LLMMessage[] | Kept>;
  /** A message about to be stored; returned fields replace its own. */
  before_create_message(state: ThreadState, message: Message): HookAnswer<MessageChange | Kept>;
  after_create_message(state: ThreadState, message: Message): HookAnswer<void>;
  before_update_message(
    state: ThreadState,
    messageId: string,
    updates: MessageUpdates,
  ): HookAnswer<MessageUpdates | Kept>;
  /** The whole message, after the update. */
  after_update_message(state: ThreadState, message: Message): HookAnswer<void>;
  /** `null` removes the call: nothing of it is stored. */
  after_tool_call_success(
    state: ThreadState,
    call: ToolCall,
    result: ToolResult,
    // biome-ignore lint/suspicious/noConfusingVoidType: as above; null means something else here.
  ): HookAnswer<ToolResult | null | undefined | void>;
  /** Results are as for `after_tool_call_success`. A returned result with status `success` makes the call a success. */
  after_tool_call_failure(
    state: ThreadState,
    call: ToolCall,
    result: ToolResult,
    // biome-ignore lint/suspicious/noConfusingVoidType: as above; null means something else here.
  ): HookAnswer<ToolResult | null | undefined | void>;
  /** The result immediately before it is stored. */
  before_store_tool_result(
    state: ThreadState,
    call: ToolCall,
    result: ToolResult,
  ): HookAnswer<ToolResult | Kept>;

  /**
   * A guard that runs before any call begins, including one by `invokeTool`, with the call's validated arguments. A
   * throw, a return value of the wrong shape, or no answer within 30 s refuses the call like a block. It may run more
   * than once for the same call.
   */
  before_tool_call(
    state: ThreadState,
    call: ToolCall,
    args: Readonly<Record<string, unknown>>,
  ): HookAnswer<CallChange | Kept>;
  /**
   * Runs after a summary was stored, before the request that begins with it. If the worker is lost in between, it is
   * not called again; the log still has the summary's event.
   */
  on_compaction(state: ThreadState, compaction: Compaction): HookAnswer<void>;
  /**
   * Runs right before an execution is over, however it ends, with `state.execution` null. If the worker is lost before
   * the end is stored, it runs again with the same `key`; what it creates through its state then exists only once.
   */
  on_agent_end(state: ThreadState, end: AgentEnd): HookAnswer<void>;
}

/** A note of `memoryHook`. */
export interface MemoryNote {
  readonly asked: string;
  readonly answered: string;
  /** True if the note is of the thread that recalls it. */
  readonly own: boolean;
}

/** The notes of a user's threads (store/memory/memory.ts), for `memoryHook` alone. */
export interface HookMemory {
  note(note: Omit<MemoryNote, 'own'>, most: number): Promise<void>;
  recall(within: 'user' | 'thread'): Promise<readonly MemoryNote[]>;
}

export const HOOK_NAMES = [
  'after_thread_created',
  'after_subagent_created',
  'after_system_message',
  'filter_messages',
  'prefilter_llm_history',
  'before_create_message',
  'after_create_message',
  'before_update_message',
  'after_update_message',
  'after_tool_call_success',
  'after_tool_call_failure',
  'before_store_tool_result',
  'before_tool_call',
  'on_compaction',
  'on_agent_end',
] as const satisfies readonly (keyof HookSignatures)[];

export type HookName = (typeof HOOK_NAMES)[number];

export interface HookDefinition<Name extends HookName = HookName> {
  readonly kind: 'hook';
  /** Id that prompts and agents list. */
  readonly name: string;
  readonly hook: Name;
  /** Default 0. */
  readonly priority?: number;
  /** True for `memoryHook`: it gets the notes as its last argument. */
  readonly memory?: true;
  readonly execute: HookSignatures[Name];
}
