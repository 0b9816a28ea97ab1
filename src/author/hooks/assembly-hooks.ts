/**
 * The hooks of a request (definitions §9, §12.2): they change what is sent to a model, and nothing that is stored.
 * - A returned message with a known id keeps the fields that hooks do not see. A message with another id exists in
 *   this request only, and counts as part of the current execution.
 * - `prefilter_llm_history` refuses the request by throwing an error with `block: true`. The messages that it returns
 *   are validated where they become a request (core/message/llm-message.ts).
 */

import type { Compaction } from '../../core/author/hook.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import type { LLMMessage } from '../../core/message/llm-message.ts';
import { fillMessage, type Message } from '../../core/message/message.ts';
import { errorMessage } from '../../core/value/error.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { HookChain } from './chain.ts';
import { readContextMessage, readList, readText } from './returned.ts';

export interface RequestHooks {
  /** Called after a summary was stored; the request begins with it. */
  compacted(compaction: Compaction): Promise<void>;
  system(text: string): Promise<string>;
  messages(messages: readonly ContextMessage[]): Promise<readonly ContextMessage[]>;
  history(messages: readonly LLMMessage[]): Promise<readonly LLMMessage[]>;
}

/** A member is absent if there is no hook of its kind. `redactKnown` keeps secrets that a hook has read from models. */
export function createRequestHooks(
  chain: HookChain,
  executionId: string,
  redactKnown: ThreadEnv['redactKnown'],
): Partial<RequestHooks> {
  return {
    ...(chain.has('on_compaction')
      ? {
          compacted: (compaction) =>
            chain.run('on_compaction', undefined, { give: () => [compaction], take: () => undefined }),
        }
      : {}),
    ...(chain.has('after_system_message')
      ? { system: async (text) => redactKnown(await filterSystem(chain, text)) }
      : {}),
    ...(chain.has('filter_messages')
      ? { messages: async (messages) => redactKnown(await filterMessages(chain, messages, executionId)) }
      : {}),
    ...(chain.has('prefilter_llm_history')
      ? { history: async (messages) => redactKnown(await filterHistory(chain, messages)) }
      : {}),
  };
}

const isNothing = (value: unknown): value is null | undefined => value === null || value === undefined;

async function filterSystem(chain: HookChain, text: string): Promise<string> {
  return chain.run('after_system_message', text, {
    give: (current) => [current],
    take: (current, returned) => (isNothing(returned) ? current : readText(returned)),
  });
}

async function filterMessages(
  chain: HookChain,
  messages: readonly ContextMessage[],
  executionId: string,
): Promise<readonly ContextMessage[]> {
  const known = new Map(messages.map((message) => [message.id, message]));
  return chain.run('filter_messages', messages, {
    give: (current) => [current.map(toPublic)],
    take(current, returned) {
      if (isNothing(returned)) return current;
      const list = readList<unknown>('messages', returned);
      return list.map((each, index) => toContext(readContextMessage(each, index), known, executionId));
    },
  });
}

const FIELDS = [
  'id',
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'created_at',
  'parent_id',
  'depth',
  'silent',
  'metadata',
  'attachments',
  'status',
  'tool_status',
] as const satisfies readonly (keyof Message)[];

/** Returns a message as hooks see it, with the same fields that readers see. */
export function toPublic(message: ContextMessage): Message {
  return pick(message) as Message;
}

function pick(message: Partial<Message>): Partial<Message> {
  return Object.fromEntries(
    FIELDS.filter((field) => message[field] !== undefined).map((field) => [field, message[field]]),
  );
}

/** Keeps what hooks are not shown. */
function toContext(
  returned: Partial<Message> & Pick<Message, 'id'>,
  known: ReadonlyMap<string, ContextMessage>,
  executionId: string,
): ContextMessage {
  const before = known.get(returned.id) ?? { ...SYNTHETIC, executionId, step: null };
  return { ...before, ...pick(returned), id: returned.id };
}

/** A message that a hook made, before the hook's fields. */
const SYNTHETIC = fillMessage({ id: '', role: 'user' });

async function filterHistory(
  chain: HookChain,
  messages: readonly LLMMessage[],
): Promise<readonly LLMMessage[]> {
  return chain.run('prefilter_llm_history', messages, {
    give: (current) => [current],
    take: (current, returned) =>
      isNothing(returned) ? current : readList<LLMMessage>('LLM messages', returned),
    fatal: (thrown, { name }) =>
      (thrown as { block?: unknown } | null)?.block === true
        ? new HookBlocked(errorMessage(thrown), name)
        : undefined,
  });
}

/** A hook has refused the request. Recognised by its name. */
export class HookBlocked extends Error {
  override readonly name = 'HookBlocked';
  readonly hookId: string;

  constructor(message: string, hookId: string) {
    super(message);
    this.hookId = hookId;
  }
}

export function isHookBlocked(error: unknown): error is HookBlocked {
  return (error as { name?: unknown } | null)?.name === 'HookBlocked';
}
