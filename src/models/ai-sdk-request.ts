/**
 * Translates a ProviderRequest into a call of an AI SDK language model (definitions §5.2). Pure.
 * `user` and `parallelToolCalls` have no common place there; who needs them sets the provider's own options.
 */
import type { ContentPart, ProviderMessage, ProviderRequest } from '../core/provider.ts';
import type { AiSdkCallOptions, AiSdkLanguageModel } from './ai-sdk-model.ts';
import { toReasoningEffort } from './reasoning-effort.ts';

export function toCallOptions(request: ProviderRequest, model: AiSdkLanguageModel): AiSdkCallOptions {
  const { maxOutputTokens, temperature, topP, topK, stopSequences, responseFormat, signal } = request;
  const tagged = model.specificationVersion === 'v4';
  const options: AiSdkCallOptions = {
    prompt: request.messages.map((message) => toPromptMessage(message, tagged)),
    ...toTools(request),
    maxOutputTokens,
    temperature,
    topP,
    topK,
    stopSequences: stopSequences && [...stopSequences],
    responseFormat: responseFormat as object | undefined,
    reasoning: tagged ? toReasoningEffort(request.reasoning?.level) : undefined,
    providerOptions: request.providerOptions && { [optionsKey(model)]: request.providerOptions },
    abortSignal: signal,
  };
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as unknown as AiSdkCallOptions;
}

function optionsKey({ provider }: AiSdkLanguageModel): string {
  return provider.split('.')[0] ?? provider;
}

/** Without tools nothing of this is sent: providers refuse a tool choice that has nothing to choose from. */
function toTools({ tools, toolChoice }: ProviderRequest): Pick<AiSdkCallOptions, 'tools' | 'toolChoice'> {
  if (tools === undefined || tools.length === 0) return {};
  return {
    tools: tools.map(({ type, function: { name, description, parameters } }) => ({
      type,
      name,
      description,
      inputSchema: parameters,
    })),
    toolChoice: toToolChoice(toolChoice),
  };
}

function toToolChoice(choice: ProviderRequest['toolChoice']): object | undefined {
  if (choice === undefined) return undefined;
  return typeof choice === 'object' ? { type: 'tool', toolName: choice.name } : { type: choice };
}

/** `tagged`: v4 says what file data are, v2 and v3 tell by the value. */
function toPromptMessage(message: ProviderMessage, tagged: boolean): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: toUserParts(message.content, tagged) };
    case 'assistant':
      return { role: 'assistant', content: toAssistantParts(message) };
    case 'tool': {
      const { toolCallId, toolName, content } = message;
      const output =
        typeof content === 'string'
          ? { type: 'text', value: content }
          : content.type === 'text'
            ? { type: 'text', value: content.text }
            : { type: 'error-text', value: content.error };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
  }
}

/** Reasoning is not sent back: providers that want it want their own signature with it. */
function toAssistantParts(message: Extract<ProviderMessage, { role: 'assistant' }>): object[] {
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.name,
    input: call.arguments,
  }));
  if (message.content === null && calls.length > 0) return calls;
  return [{ type: 'text', text: message.content ?? '' }, ...calls];
}

function toUserParts(content: string | readonly ContentPart[], tagged: boolean): object[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.map((part) => toPromptPart(part, tagged));
}

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
