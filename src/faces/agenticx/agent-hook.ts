/** The six hook points of AgenticX's page, and its memory, as hooks of the engine (docs/hooks.md), which runs them. */
import type { HookAnswer, HookDefinition, Kept } from '../../core/author/hook.ts';
import { parseCalls } from '../../core/context/context.ts';
import type { LLMMessage } from '../../core/message/llm-message.ts';
import { type ToolCall, toolContent } from '../../core/message/message.ts';
import { defineHook, type MemoryHookInput, memoryHook } from '../../definitions/index.ts';
import type { Fields } from './runtime-tool.ts';

/** Whether a call is blocked, or with which arguments it is made. */
export type HookOutcome =
  | { readonly blocked: true; readonly reason?: string }
  | { readonly blocked?: false; readonly arguments: Fields };

export interface ModelResponse {
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
}

/**
 * What runs around the rounds of a turn, at the points that it has. `session` is the thread's id. Returning nothing keeps
 * the value. Code of a hook may run again after a crash, so it must have no side effects beside those of `onAgentEnd`.
 */
export interface AgentHook {
  /** Hooks with a higher one run first; those with equal ones in the order of their registration. Default 0. */
  readonly priority?: number;
  /** Right before the model is asked. A returned list is sent instead, this once. */
  beforeModel?(messages: readonly LLMMessage[], session: string): HookAnswer<readonly LLMMessage[] | Kept>;
  /** Before an answer is stored. A returned text replaces its own. */
  afterModel?(response: ModelResponse, session: string): HookAnswer<string | Kept>;
  /** Before a call begins; the first one that blocks decides. An error blocks, too. */
  beforeToolCall?(name: string, args: Fields, session: string): HookAnswer<HookOutcome | Kept>;
  /** Before the result of a call is stored. A returned text replaces it. */
  afterToolCall?(name: string, result: string, session: string): HookAnswer<string | Kept>;
  /** After older messages were replaced by a summary. */
  onCompaction?(count: number, summary: string, session: string): HookAnswer<void>;
  /** Before a turn ends, however it does; `text` is empty if it has no answer. */
  onAgentEnd?(text: string, session: string): HookAnswer<void>;
}

/**
 * Hooks in the order of their registration.
 * @example
 * ```ts
 * const hooks = new HookRegistry().register({
 *   beforeToolCall: (name) => (name === 'erase' ? { blocked: true, reason: 'Nothing is erased.' } : undefined),
 * });
 * ```
 */
export class HookRegistry {
  readonly #hooks: AgentHook[] = [];

  register(hook: AgentHook): this {
    this.#hooks.push(hook);
    return this;
  }

  [Symbol.iterator](): Iterator<AgentHook> {
    return this.#hooks[Symbol.iterator]();
  }
}

/**
 * Remembers the question and the answer of each turn, and shows the model those that fit its question (`memoryHook`,
 * docs/hooks.md), at the priority -10. A runtime has one unless it is given another, or `memory: false`.
 * @example
 * ```ts
 * const hooks = [new MemoryHook({ recalls: 2 })];
 * ```
 */
export class MemoryHook implements AgentHook {
  readonly priority = -10;
  readonly options: Omit<MemoryHookInput, 'id'>;

  constructor(options: Omit<MemoryHookInput, 'id'> = {}) {
    this.options = options;
  }
}

/** The engine's hooks; an agent lists all of them. */
export function toHooks(hooks: Iterable<AgentHook>): readonly HookDefinition[] {
  return [...hooks].flatMap((hook, place) =>
    hook instanceof MemoryHook ? toMemory(hook, place) : toDefinitions(hook, place),
  );
}

function toMemory({ options }: MemoryHook, place: number): readonly HookDefinition[] {
  return [
    memoryHook('remember', { ...options, id: `remember_${place}` }),
    memoryHook('recall', { ...options, id: `recall_${place}` }),
  ];
}

function toDefinitions(hook: AgentHook, place: number): readonly HookDefinition[] {
  const { priority = 0 } = hook;
  const as = (point: string) => ({ id: `hook_${place}_${point}`, priority });
  const made: (HookDefinition | false | undefined)[] = [
    hook.beforeModel &&
      defineHook({
        ...as('before_model'),
        hook: 'prefilter_llm_history',
        execute: ({ threadId }, messages) => hook.beforeModel?.(messages, threadId),
      }),
    hook.afterModel &&
      defineHook({
        ...as('after_model'),
        hook: 'before_create_message',
        execute: async ({ threadId }, message) => {
          if (message.role !== 'assistant') return undefined;
          const response = { content: message.content, toolCalls: parseCalls(message) };
          const text = await hook.afterModel?.(response, threadId);
          return typeof text === 'string' ? { content: text } : undefined;
        },
      }),
    hook.beforeToolCall &&
      defineHook({
        ...as('before_tool_call'),
        hook: 'before_tool_call',
        execute: async ({ threadId }, call, args) => {
          const outcome = await hook.beforeToolCall?.(call.function.name, args, threadId);
          if (!outcome?.blocked) return outcome;
          return { block: true, ...(outcome.reason !== undefined && { reason: outcome.reason }) };
        },
      }),
    hook.afterToolCall &&
      defineHook({
        ...as('after_tool_call'),
        hook: 'before_store_tool_result',
        execute: async ({ threadId }, call, result) => {
          const text = await hook.afterToolCall?.(call.function.name, toolContent(result), threadId);
          if (typeof text !== 'string') return undefined;
          return result.status === 'error' ? { ...result, error: text } : { ...result, result: text };
        },
      }),
    hook.onCompaction &&
      defineHook({
        ...as('on_compaction'),
        hook: 'on_compaction',
        execute: async ({ threadId }, { count, summary }) => {
          await hook.onCompaction?.(count, summary, threadId);
        },
      }),
    hook.onAgentEnd &&
      defineHook({
        ...as('on_agent_end'),
        hook: 'on_agent_end',
        execute: async ({ threadId }, { text }) => {
          await hook.onAgentEnd?.(text ?? '', threadId);
        },
      }),
  ];
  return made.filter((one) => one !== undefined && one !== false);
}
