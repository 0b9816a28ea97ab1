/**
 * The provider-neutral chat message that the hook `prefilter_llm_history` receives and returns (definitions §9), and the
 * conversion in both directions.
 * - A message that a hook leaves unchanged is converted back unchanged.
 *   Its parts, which hooks do not see, return to it.
 * - The returned list is untrusted: malformed messages are dropped and reported, and nothing here throws.
 */

import { canonicalJson } from '../value/canonical-json.ts';
import type { ToolCall } from './message.ts';
import type { ContentPart, ProviderMessage } from './provider.ts';
import type { ProviderToolCall, ReasoningDetail } from './provider-terms.ts';
import { isToolCall, toProviderCall } from './tool-call.ts';

export interface LLMMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
  /** The tool's name, on tool messages. */
  readonly name?: string;
  /** Stored reasoning that is sent again (`reasoning.include`). */
  readonly reasoning?: string;
  /** The same reasoning in the provider's own form. */
  readonly reasoning_details?: readonly ReasoningDetail[];
}

export function toLLMMessage(message: ProviderMessage): LLMMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'assistant': {
      const { role, content, toolCalls, reasoning, reasoningDetails } = message;
      return {
        role,
        content,
        ...(toolCalls ? { tool_calls: toolCalls.map(toToolCall) } : {}),
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(reasoningDetails === undefined ? {} : { reasoning_details: reasoningDetails }),
      };
    }
    case 'tool': {
      const { role, toolCallId, toolName, attachments } = message;
      const text = toolText(message.content);
      const content = attachments ? [{ type: 'text' as const, text }, ...attachments] : text;
      return { role, content, tool_call_id: toolCallId, name: toolName };
    }
  }
}

export function toolText(content: Extract<ProviderMessage, { role: 'tool' }>['content']): string {
  if (typeof content === 'string') return content;
  return content.type === 'text' ? content.text : `Error: ${content.error}`;
}

function toToolCall(call: ProviderToolCall): ToolCall {
  const { id, name, rawArguments, extraContent } = call;
  return {
    id,
    type: 'function',
    function: { name, arguments: rawArguments ?? JSON.stringify(call.arguments) },
    ...(extraContent === undefined ? {} : { extra_content: extraContent }),
  };
}

export interface ReadHistory {
  readonly messages: readonly ProviderMessage[];
  /** Why messages were dropped, one sentence each. */
  readonly problems: readonly string[];
}

/** Reads what a hook returned. `before` is kept if nothing in it is usable. */
export function fromLLMMessages(given: unknown, before: readonly ProviderMessage[]): ReadHistory {
  if (!Array.isArray(given)) {
    return {
      messages: before,
      problems: ['The history that the hook returned is not a list; the original is used.'],
    };
  }
  const read = given.map((each: unknown, index) => readMessage(each, index));
  const messages = returnParts(
    read.flatMap((each) => (typeof each === 'string' ? [] : [each])),
    before,
  );
  const problems = read.filter((each) => typeof each === 'string');
  if (messages.length > 0 || before.length === 0) return { messages, problems };
  return {
    messages: before,
    problems: [...problems, 'The history that the hook returned has no messages; the original is used.'],
  };
}

/** An answer that is returned as it was given gets its parts back. */
function returnParts(
  messages: readonly ProviderMessage[],
  before: readonly ProviderMessage[],
): readonly ProviderMessage[] {
  const parts = new Map(
    before.flatMap((message) =>
      message.role === 'assistant' && message.parts ? [[keyOf(message), message.parts] as const] : [],
    ),
  );
  if (parts.size === 0) return messages;
  return messages.map((message) => {
    const own = message.role === 'assistant' ? parts.get(keyOf(message)) : undefined;
    return own ? { ...message, parts: own } : message;
  });
}

const keyOf = (message: ProviderMessage) => canonicalJson(toLLMMessage(message));

/** Returns the message, or why it was dropped. */
function readMessage(value: unknown, index: number): ProviderMessage | string {
  if (typeof value !== 'object' || value === null)
    return `Message ${index} was dropped: it is not an object.`;
  const given = value as Partial<LLMMessage>;
  const parts = readParts(given.content);
  if (parts === undefined) {
    return `Message ${index} was dropped: its content must be a string, null or a list of content parts.`;
  }
  switch (given.role) {
    case 'system':
      return { role: given.role, content: textOf(parts) };
    case 'user':
      return { role: given.role, content: parts };
    case 'assistant':
      return readAnswer(given, parts) ?? `Message ${index} was dropped: ${BAD_CALLS}`;
    case 'tool':
      return readResult(given, parts) ?? `Message ${index} was dropped: a tool message needs a tool_call_id.`;
    default:
      return `Message ${index} was dropped: its role must be system, user, assistant or tool.`;
  }
}

const BAD_CALLS = 'its tool_calls must be a list of { id, function: { name, arguments } }.';

type Parts = string | readonly ContentPart[];

function readAnswer(
  { content, tool_calls: calls, reasoning, reasoning_details: details }: Partial<LLMMessage>,
  parts: Parts,
): ProviderMessage | undefined {
  if (calls !== undefined && calls !== null && !(Array.isArray(calls) && calls.every(isToolCall)))
    return undefined;
  return {
    role: 'assistant',
    content: content === null || content === undefined ? null : textOf(parts),
    ...(calls && calls.length > 0 ? { toolCalls: calls.map(toProviderCall) } : {}),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(Array.isArray(details) ? { reasoningDetails: details } : {}),
  };
}

function readResult(
  { tool_call_id: callId, name }: Partial<LLMMessage>,
  parts: Parts,
): ProviderMessage | undefined {
  if (typeof callId !== 'string') return undefined;
  const attachments = typeof parts === 'string' ? [] : parts.filter(({ type }) => type !== 'text');
  return {
    role: 'tool',
    toolCallId: callId,
    toolName: typeof name === 'string' ? name : '',
    content: textOf(parts),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

function readParts(content: unknown): Parts | undefined {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  return Array.isArray(content) && content.every(isPart) ? content : undefined;
}

function isPart(value: unknown): value is ContentPart {
  const part = (value ?? {}) as Record<string, unknown>;
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string';
    case 'image':
    case 'file':
      return typeof part.data === 'string' && typeof part.mediaType === 'string';
    case 'image_url':
      return typeof (part.image_url as { url?: unknown } | null)?.url === 'string';
    default:
      return false;
  }
}

function textOf(parts: Parts): string {
  if (typeof parts === 'string') return parts;
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
