/**
 * Hooks (definitions §9, and our own): code of authors at fixed points of a thread's life. Types alone; `state/hooks` runs them.
 */
import type { LLMMessage } from '../message/llm-message.ts';
import type { Message, ToolCall, ToolResult } from '../message/message.ts';
import type { MessageAttachment, MessageUpdates } from './thread-message.ts';
import type { ThreadState } from './thread-state.ts';

/** What a hook answers, at once or later. */
export type HookAnswer<T> = T | Promise<T>;
/** Returning nothing keeps the value. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing has the type void.
export type Kept = null | undefined | void;

/** Fields that replace those of a new message: content, silent, metadata, role and attachments; the others stay. */
export type MessageChange = Partial<Omit<Message, 'attachments'>> & {
  readonly attachments?: readonly MessageAttachment[] | null;
};

/** What a hook says of a call that is to be made: that it is not, or with which arguments it is, all of them. */
export type CallChange =
  | { readonly block: true; readonly reason?: string }
  | { readonly arguments: Readonly<Record<string, unknown>> };

/** How an execution has ended. */
export interface AgentEnd {
  /** The same whenever the end is told, and of no other: for what must be done once. */
  readonly key: string;
  readonly executionId: string;
  readonly status: 'idle' | 'stopped' | 'failed' | 'terminated';
  /** As the event `execution.ended` has it: a stop rule, `canceled`, `stopped`, `failed`, `terminated`. */
  readonly reason: string;
  /** What was said last in it; null where nothing was. */
  readonly text: string | null;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What a summary has taken the place of, in the requests of a thread. */
export interface Compaction {
  /** Of this summary, and of no other: for what must be done once. */
  readonly key: string;
  /** Messages that it covers and no summary before it did. */
  readonly count: number;
  readonly summary: string;
  /** The last message that it covers. */
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
  /** As after a success. A returned result with status `success` is a recovery. */
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
   * A guard: before a call of any kind has begun, an invoked tool's too, with its arguments as they were checked. What it throws, a return
   * of the wrong shape and 30 s without an answer refuse the call as a block does. It may run again for the same call.
   */
  before_tool_call(
    state: ThreadState,
    call: ToolCall,
    args: Readonly<Record<string, unknown>>,
  ): HookAnswer<CallChange | Kept>;
  /**
   * Behind a summary that is kept, before the request that begins with it. Where the worker is lost in between it is not told again: that
   * it was made is in the log.
   */
  on_compaction(state: ThreadState, compaction: Compaction): HookAnswer<void>;
  /**
   * Right before an execution is over, however it ends, with `state.execution` null. Where the worker is lost before the end is stored it runs
   * again, with the same `key`; what it makes through its state is there once.
   */
  on_agent_end(state: ThreadState, end: AgentEnd): HookAnswer<void>;
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
  /** Its id: what prompts and agents list. */
  readonly name: string;
  readonly hook: Name;
  /** Absent: 0. */
  readonly priority?: number;
  readonly execute: HookSignatures[Name];
}
