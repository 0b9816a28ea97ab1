/** Reads the body of an OpenAI chat completion back into the ProviderRequest that tests compare with. Pure. */
import type OpenAI from 'openai';
import {
  type ContentPart,
  ProviderError,
  type ProviderMessage,
  type ProviderRequest,
  type ProviderTool,
} from '../core/message/provider.ts';
import { parseToolCall } from '../models/tool-arguments.ts';

export type ChatBody = OpenAI.Chat.ChatCompletionCreateParams;
type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;
type ChatPart = OpenAI.Chat.ChatCompletionContentPart;

/** Throws ProviderError 'invalid_request' with status 400. */
export function parseChatBody(text: string): ChatBody {
  const body = parseJson(text) as Partial<ChatBody> | null;
  if (typeof body === 'object' && typeof body?.model === 'string' && Array.isArray(body.messages)) {
    return body as ChatBody;
  }
  throw new ProviderError('Expected a JSON object with "model" and "messages".', 'invalid_request', 400);
}

export function fromChatBody(body: ChatBody): ProviderRequest {
  const names = toolNamesById(body.messages);
  const request = {
    model: body.model,
    messages: body.messages.map((message) => fromChatMessage(message, names)),
    tools: body.tools?.flatMap(fromChatTool),
    toolChoice: fromToolChoice(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? undefined),
    responseFormat: body.response_format,
    user: body.user,
    providerOptions: unknownFields(body),
  };
  return request;
}

const KNOWN_FIELDS = new Set(
  (
    'model messages tools tool_choice parallel_tool_calls max_completion_tokens max_tokens temperature top_p stop ' +
    'response_format user stream stream_options'
  ).split(' '),
);

/** Fields that `openaiCompatible` copied from `providerOptions`, and fields without a counterpart in the request. */
function unknownFields(body: ChatBody): Record<string, unknown> | undefined {
  const fields = Object.entries(body).filter(([name]) => !KNOWN_FIELDS.has(name));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function fromChatMessage(message: ChatMessage, names: ReadonlyMap<string, string>): ProviderMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOf(message.content) };
    case 'user':
      return { role: 'user', content: fromUserContent(message.content) };
    case 'assistant':
      return fromAssistantMessage(message);
    case 'tool': {
      const { tool_call_id: toolCallId, content } = message;
      return { role: 'tool', toolCallId, toolName: names.get(toolCallId) ?? '', content: textOf(content) };
    }
    default:
      throw new ProviderError(`Unknown message role "${message.role}".`, 'invalid_request', 400);
  }
}

function fromAssistantMessage(message: OpenAI.Chat.ChatCompletionAssistantMessageParam): ProviderMessage {
  const toolCalls = functionCalls(message).map((call) =>
    parseToolCall(call.id, call.function.name, call.function.arguments),
  );
  return {
    role: 'assistant',
    content: message.content == null ? null : textOf(message.content),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
}

/** Tool messages have only the id of their call; the name is in the message that made the call. */
function toolNamesById(messages: readonly ChatMessage[]): ReadonlyMap<string, string> {
  const made = messages.flatMap((message) => (message.role === 'assistant' ? functionCalls(message) : []));
  return new Map(made.map((call) => [call.id, call.function.name]));
}

function functionCalls(message: OpenAI.Chat.ChatCompletionAssistantMessageParam) {
  return (message.tool_calls ?? []).flatMap((call) => (call.type === 'function' ? [call] : []));
}

function fromUserContent(content: string | readonly ChatPart[]): string | ContentPart[] {
  return typeof content === 'string' ? content : content.map(fromChatPart);
}

function fromChatPart(part: ChatPart): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image_url': {
      const { url, detail } = part.image_url;
      const inline = fromDataUrl(url);
      if (inline === undefined) return { type: 'image_url', image_url: { url } };
      return { type: 'image', ...inline, ...(detail === undefined ? {} : { detail }) };
    }
    case 'file': {
      const inline = fromDataUrl(part.file.file_data ?? '') ?? { data: '', mediaType: '' };
      return { type: 'file', ...inline, filename: part.file.filename };
    }
    case 'input_audio':
      return { type: 'file', data: part.input_audio.data, mediaType: `audio/${part.input_audio.format}` };
  }
}

function fromDataUrl(url: string): { data: string; mediaType: string } | undefined {
  const head = /^data:([^;,]{0,200});base64,/.exec(url);
  return head === null ? undefined : { mediaType: head[1] ?? '', data: url.slice(head[0].length) };
}

function fromChatTool(tool: OpenAI.Chat.ChatCompletionTool): ProviderTool[] {
  if (tool.type !== 'function') return [];
  const { name, description = '', parameters = {} } = tool.function;
  return [{ type: 'function', function: { name, description, parameters } }];
}

function fromToolChoice(choice: ChatBody['tool_choice']): ProviderRequest['toolChoice'] {
  if (choice === undefined || typeof choice === 'string') return choice;
  return choice.type === 'function' ? { name: choice.function.name } : undefined;
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
