/**
 * Translates a ProviderRequest into a call of an AI SDK language model (definitions §5.2). Pure.
 * `user` has no counterpart; `parallelToolCalls` goes into the options of those providers that support it.
 */

import type { SchemaFormat } from '../core/answer/typed-answer.ts';
import { toolText } from '../core/message/llm-message.ts';
import type {
  ContentPart,
  ProviderMessage,
  ProviderRequest,
  ProviderTool,
} from '../core/message/provider.ts';
import { definedFields, isRecord } from '../core/value/record.ts';
import { type AskedAiSdk, isResponses, ownParts, toAssistantParts } from './ai-sdk-assistant.ts';
import type { AiSdkCallOptions, AiSdkLanguageModel } from './ai-sdk-model.ts';
import { toReasoningEffort } from './reasoning-effort.ts';
import { turnStart } from './running-turn.ts';
import { imagesBehindTools } from './tool-images.ts';

export function toCallOptions(request: ProviderRequest, model: AiSdkLanguageModel): AiSdkCallOptions {
  const { maxOutputTokens, temperature, topP, topK, stopSequences, responseFormat, signal } = request;
  const tagged = model.specificationVersion === 'v4';
  // Chat-completion models of the SDK would send images in tool results as JSON text, image bytes included.
  const messages = model.provider.endsWith('.chat') ? imagesBehindTools(request.messages) : request.messages;
  const options: Omit<AiSdkCallOptions, 'prompt'> = {
    ...toTools(request, model),
    maxOutputTokens,
    temperature,
    topP,
    topK,
    stopSequences: stopSequences && [...stopSequences],
    responseFormat: toResponseFormat(responseFormat),
    reasoning: tagged ? toEffort(request.reasoning) : undefined,
    providerOptions: toProviderOptions(request, model),
    abortSignal: signal,
  };
  const asked = { model, keepsItems: isResponses(model) && ownOptions(options, model)?.store !== false };
  const unthinking = turnOffThinking(messages, asked, options);
  const sent = unthinking ? messages.map(withoutParts) : messages;
  const prompt = sent.map((message) => toPromptMessage(message, asked));
  return definedFields({ ...options, ...unthinking, prompt });
}

/** The SDK's own form of a schema; whatever else an author has written is passed on. */
function toResponseFormat(format: unknown): object | undefined {
  const { type, json_schema: given } = (format ?? {}) as Partial<SchemaFormat>;
  if (type !== 'json_schema' || !given) return format as object | undefined;
  return { type: 'json', name: given.name, schema: given.schema };
}

/** The provider's name, which is the key of its options: `anthropic` for the provider `anthropic.messages`. */
export function optionsKey({ provider }: AiSdkLanguageModel): string {
  return provider.split('.')[0] ?? provider;
}

function toEffort(reasoning: ProviderRequest['reasoning']): string | undefined {
  if (reasoning?.effort !== undefined) return reasoning.effort ?? 'none';
  return toReasoningEffort(reasoning?.level);
}

/** Each provider's option for one tool call at a time; providers that are not listed have no known option. */
const ONE_CALL_AT_A_TIME: Readonly<Record<string, object>> = {
  openai: { parallelToolCalls: false },
  azure: { parallelToolCalls: false },
  groq: { parallelToolCalls: false },
  mistral: { parallelToolCalls: false },
  anthropic: { disableParallelToolUse: true },
};

function toProviderOptions(
  { providerOptions, parallelToolCalls, tools = [] }: ProviderRequest,
  model: AiSdkLanguageModel,
): AiSdkCallOptions['providerOptions'] {
  const key = optionsKey(model);
  const option = parallelToolCalls === false && tools.length > 0 ? ONE_CALL_AT_A_TIME[key] : undefined;
  const defaults = isResponses(model) ? STATELESS : undefined;
  // The author's own options win.
  return option || defaults || providerOptions
    ? { [key]: { ...defaults, ...option, ...providerOptions } }
    : undefined;
}

/**
 * OpenAI's Responses API keeps nothing, and its reasoning comes encrypted: the SDK asks for that where the model reasons.
 * Else the SDK would refer to what the provider keeps, and a changed or redacted answer would reach the model as it was.
 */
const STATELESS = { store: false };

function ownOptions(
  { providerOptions }: Pick<AiSdkCallOptions, 'providerOptions'>,
  model: AiSdkLanguageModel,
): Readonly<Record<string, unknown>> | undefined {
  return providerOptions?.[optionsKey(model)] as Readonly<Record<string, unknown>> | undefined;
}

function withoutParts(message: ProviderMessage): ProviderMessage {
  if (message.role !== 'assistant') return message;
  const { parts: _, ...bare } = message;
  return bare;
}

/** Empty if there are no tools: providers reject a tool choice without tools. */
function toTools(
  { tools = [], toolChoice }: ProviderRequest,
  model: AiSdkLanguageModel,
): Pick<AiSdkCallOptions, 'tools' | 'toolChoice'> {
  const key = optionsKey(model);
  const known = tools.filter(({ executionProvider = key }) => executionProvider === key);
  if (known.length === 0) return {};
  return {
    tools: known.map((tool) =>
      tool.executionMode === 'provider' ? toOwnTool(tool, model) : toFunctionTool(tool),
    ),
    toolChoice: toToolChoice(toolChoice),
  };
}

function toFunctionTool({ type, function: { name, description, parameters } }: ProviderTool): object {
  return { type, name, description, inputSchema: parameters };
}

/** A tool that the provider runs has an id such as `anthropic.web_search_20250305`, and no schema. */
function toOwnTool({ function: { name }, options = {} }: ProviderTool, model: AiSdkLanguageModel): object {
  const id = name.includes('.') ? name : `${optionsKey(model)}.${name}`;
  const type = model.specificationVersion === 'v2' ? 'provider-defined' : 'provider';
  return { type, id, name: name.slice(name.lastIndexOf('.') + 1), args: options };
}

function toToolChoice(choice: ProviderRequest['toolChoice']): object | undefined {
  if (choice === undefined) return undefined;
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

function toPromptMessage(message: ProviderMessage, asked: AskedAiSdk): object {
  const { specificationVersion: version } = asked.model;
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toUserParts(message.content, version === 'v4') };
    case 'assistant':
      return { role: 'assistant', content: toAssistantParts(message, asked) };
    case 'tool': {
      const { toolCallId, toolName } = message;
      const output = toOutput(message, version);
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
  }
}

function toOutput(
  { content, attachments = [] }: Extract<ProviderMessage, { role: 'tool' }>,
  version: string,
): object {
  const images = attachments.flatMap((part) => (part.type === 'image' || part.type === 'file' ? [part] : []));
  if (images.length > 0) {
    const media = images.map((part) => toMedia(part, version));
    return { type: 'content', value: [{ type: 'text', text: toolText(content) }, ...media] };
  }
  if (typeof content === 'string') return { type: 'text', value: content };
  return content.type === 'text'
    ? { type: 'text', value: content.text }
    : { type: 'error-text', value: content.error };
}

/** Converts a file in a tool result, which each version of the interface writes differently. */
function toMedia(part: Extract<ContentPart, { type: 'image' | 'file' }>, version: string): object {
  const { data, mediaType } = part;
  if (version === 'v2') return { type: 'media', data, mediaType };
  if (version === 'v3') return { type: part.type === 'image' ? 'image-data' : 'file-data', data, mediaType };
  return { type: 'file', data: { type: 'data', data }, mediaType };
}

function toUserParts(content: string | readonly ContentPart[], tagged: boolean): object[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.map((part) => toPromptPart(part, tagged));
}

/** `tagged`: v4 marks the kind of file data, v2 and v3 infer it from the value. */
function toPromptPart(part: ContentPart, tagged: boolean): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image_url': {
      const url = new URL(part.image_url.url);
      return { type: 'file', mediaType: 'image/*', data: tagged ? { type: 'url', url } : url };
    }
    case 'image':
    case 'file': {
      const { data, mediaType } = part;
      const named = part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {};
      return { type: 'file', mediaType, data: tagged ? { type: 'data', data } : data, ...named };
    }
  }
}

type Thinking = Pick<AiSdkCallOptions, 'reasoning' | 'providerOptions'>;

/**
 * Anthropic accepts a tool loop with thinking only if the turn begins with its own thinking, unmodified. A turn that
 * another model began, or whose first answer has changed, is continued without thinking. Returns undefined if the
 * request can be sent as it is.
 */
function turnOffThinking(
  messages: readonly ProviderMessage[],
  asked: AskedAiSdk,
  { reasoning, providerOptions = {} }: Thinking,
): Thinking | undefined {
  if (!asked.model.provider.includes('anthropic')) return undefined;
  const own = isRecord(providerOptions.anthropic) ? providerOptions.anthropic : {};
  const { type } = isRecord(own.thinking) ? own.thinking : {};
  const isThinking =
    type === undefined ? reasoning !== undefined && reasoning !== 'none' : type === 'enabled';
  if (!isThinking || beginsWithThinking(messages, asked)) return undefined;
  return {
    reasoning: undefined,
    providerOptions: { ...providerOptions, anthropic: { ...own, thinking: { type: 'disabled' } } },
  };
}

/** Also true if the turn has no answer yet. */
function beginsWithThinking(messages: readonly ProviderMessage[], asked: AskedAiSdk): boolean {
  const first = messages.slice(turnStart(messages)).find((message) => message.role === 'assistant');
  if (!first) return true;
  const part = ownParts(first, asked)?.list.find(({ type }) => type !== 'other');
  return part?.type === 'reasoning' && part.metadata !== undefined;
}
