/** Translates a ProviderRequest into the body of an OpenAI chat completion (definitions §5.2). Pure. */

import type OpenAI from 'openai';
import { toolText } from '../core/message/llm-message.ts';
import {
  type ContentPart,
  ProviderError,
  type ProviderMessage,
  type ProviderRequest,
} from '../core/message/provider.ts';
import { definedFields } from '../core/value/record.ts';
import { toReasoningEffort } from './reasoning-effort.ts';
import { sentArguments } from './tool-arguments.ts';
import { imagesBehindTools } from './tool-images.ts';

export type ChatBody = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'>;

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;
type ChatPart = OpenAI.Chat.ChatCompletionContentPart;

/**
 * OpenAI itself takes `max_completion_tokens` and refuses unknown fields; the many servers that speak its protocol
 * know `max_tokens`, and often `top_k`.
 */
export type Dialect = 'openai' | 'compatible';

export function toChatBody(request: ProviderRequest, dialect: Dialect): ChatBody {
  return definedFields<ChatBody>({
    ...toLimits(request, dialect),
    ...toTools(request),
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stopSequences && [...request.stopSequences],
    // Effort and schema are passed on as defined; the server validates them.
    reasoning_effort: toEffort(request.reasoning) as ChatBody['reasoning_effort'],
    response_format: request.responseFormat as ChatBody['response_format'],
    user: request.user,
    ...toRouting(request, dialect),
    // The author's own options win over everything above, but cannot replace the conversation.
    ...request.providerOptions,
    model: request.model,
    // Tool messages of this protocol can hold only text.
    messages: imagesBehindTools(request.messages).map((message) => toChatMessage(message, dialect)),
  });
}

function toLimits({ maxOutputTokens, topK }: ProviderRequest, dialect: Dialect): object {
  if (dialect === 'openai') return { max_completion_tokens: maxOutputTokens };
  return { max_tokens: maxOutputTokens, top_k: topK };
}

/** The `provider` field of routers that speak the protocol; OpenAI itself rejects unknown fields and does not route. */
function toRouting({ includedProviders: only }: ProviderRequest, dialect: Dialect): object {
  return only === undefined || dialect === 'openai' ? {} : { provider: { only } };
}

/** Empty if there are no tools: servers reject a tool choice without tools. */
function toTools({ tools, toolChoice, parallelToolCalls }: ProviderRequest): object {
  if (tools === undefined || tools.length === 0) return {};
  refuseProviderTools(tools);
  const named = typeof toolChoice === 'object';
  return {
    tools: tools.map(({ type, function: { name, description, parameters } }) => ({
      type,
      function: { name, description, parameters },
    })),
    tool_choice: named ? { type: 'function', function: { name: toolChoice.name } } : toolChoice,
    parallel_tool_calls: parallelToolCalls,
  };
}

/** Rejects tools that the provider runs: the protocol has none, and omitting one would silently change the agent. */
function refuseProviderTools(tools: NonNullable<ProviderRequest['tools']>): void {
  const tool = tools.find(({ executionMode }) => executionMode === 'provider');
  if (tool === undefined) return;
  throw new ProviderError(
    `Chat completions do not support tools that the provider runs, such as "${tool.function.name}": use this model through aiSdk(…), or remove the tool from the prompt.`,
    'invalid_request',
  );
}

/** "none" is left out: few models support it, and leaving it out never fails. */
function toEffort(reasoning: ProviderRequest['reasoning']): string | undefined {
  if (reasoning?.effort !== undefined) return reasoning.effort ?? undefined;
  const effort = toReasoningEffort(reasoning?.level);
  return effort === 'none' ? undefined : effort;
}

function toChatMessage(message: ProviderMessage, dialect: Dialect): ChatMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toUserContent(message.content) };
    case 'assistant':
      return { ...toAssistantMessage(message, dialect), ...toReasoning(message, dialect) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: toolText(message.content) };
  }
}

function toAssistantMessage(
  message: Extract<ProviderMessage, { role: 'assistant' }>,
  dialect: Dialect,
): ChatMessage {
  const calls = message.toolCalls ?? [];
  // Servers reject a message with neither text nor calls, but accept an empty text.
  if (calls.length === 0) return { role: 'assistant', content: message.content ?? '' };
  return {
    role: 'assistant',
    content: message.content,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(sentArguments(call)) },
      ...(call.extraContent === undefined || dialect === 'openai'
        ? {}
        : { extra_content: call.extraContent }),
    })),
  };
}

/** Reasoning in the fields of compatible servers. OpenAI itself has no such fields, and rejects unknown ones. */
function toReasoning(
  { reasoning, reasoningDetails }: Extract<ProviderMessage, { role: 'assistant' }>,
  dialect: Dialect,
): object {
  if (dialect === 'openai') return {};
  return definedFields({ reasoning_content: reasoning, reasoning_details: reasoningDetails });
}

function toUserContent(content: string | readonly ContentPart[]): string | ChatPart[] {
  return typeof content === 'string' ? content : content.map(toChatPart);
}

function toChatPart(part: ContentPart): ChatPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(part), ...toDetail(part.detail) } };
    case 'image_url':
      return { type: 'image_url', image_url: { url: part.image_url.url } };
    case 'file':
      return { type: 'file', file: { filename: part.filename ?? 'file', file_data: dataUrl(part) } };
  }
}

function toDetail(detail: string | undefined): { detail?: 'auto' | 'low' | 'high' } {
  return detail === 'auto' || detail === 'low' || detail === 'high' ? { detail } : {};
}

/** `data` is base64; a complete data URL stays as it is. */
function dataUrl({ data, mediaType }: { data: string; mediaType: string }): string {
  return data.startsWith('data:') ? data : `data:${mediaType};base64,${data}`;
}
