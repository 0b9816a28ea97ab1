/**
 * Translates an assistant message for an AI SDK language model, with the parts of the answer where they are its own.
 * - Parts go back to the model that they came from, as long as they are what the message says. Reasoning that nothing
 *   follows is left out: it has no answer to belong to.
 * T2. OpenAI: no item is referred to. The id of a reasoning item goes back only with the item itself, and only where the
 *     SDK needs it: version 2 ignores reasoning without one, and parts of one item are joined by it. Calls of OpenAI's
 *     own tools can be sent again for web searches alone; an answer with others goes back without its parts.
 * - Gemini 3 refuses a turn whose first call has no signature: calls of other models get the documented placeholder.
 */
import { type AnswerPart, type AnswerParts, isReadingOf } from '../core/message/answer-parts.ts';
import type { ProviderMessage } from '../core/message/provider.ts';
import type { ProviderToolCall } from '../core/message/provider-terms.ts';
import { isRecord, parseRecord } from '../core/value/record.ts';
import type { AiSdkLanguageModel } from './ai-sdk-model.ts';
import { originOf } from './ai-sdk-parts.ts';
import { sentArguments } from './tool-arguments.ts';

export type AssistantMessage = Extract<ProviderMessage, { role: 'assistant' }>;

/** `keepsItems`: the provider stores items of its answers, and the SDK refers to them by their ids. */
export interface AskedAiSdk {
  readonly model: AiSdkLanguageModel;
  readonly keepsItems: boolean;
}

export function toAssistantParts(message: AssistantMessage, asked: AskedAiSdk): object[] {
  const own = ownParts(message, asked);
  const parts = own ? toPromptParts(own, message.toolCalls ?? [], asked) : toPlainParts(message);
  return isGemini3(asked.model) ? withSignature(parts as PromptPart[]) : parts;
}

/** The answer's parts if they may go back to this model. */
export function ownParts(
  message: AssistantMessage,
  { model, keepsItems }: AskedAiSdk,
): AnswerParts | undefined {
  const { parts } = message;
  if (!parts || parts.origin !== originOf(model) || !isReadingOf(parts, message)) return undefined;
  if (!isResponses(model)) return parts;
  // T2: what can be sent again without a reference.
  const isSendable = (part: AnswerPart) =>
    part.type !== 'other' ||
    !String(part.value.type).startsWith('tool-') ||
    (!keepsItems && model.specificationVersion !== 'v2' && /^web_search/.test(String(part.value.toolName)));
  return parts.list.every(isSendable) ? parts : undefined;
}

/** True for OpenAI's Responses API, which keeps items of its answers unless it is told not to. */
export function isResponses({ provider }: AiSdkLanguageModel): boolean {
  return provider === 'openai.responses' || provider === 'azure.responses';
}

/** Includes reasoning if the prompt requests it; a provider that requires its own signature on reasoning ignores it. */
function toPlainParts({ content, reasoning, toolCalls = [] }: AssistantMessage): object[] {
  const thoughts = reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }];
  const calls = toolCalls.map((call) => toCallPart(call));
  if (content === null && calls.length > 0) return [...thoughts, ...calls];
  return [...thoughts, { type: 'text', text: content ?? '' }, ...calls];
}

interface PromptPart {
  readonly type: string;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function toCallPart(
  { id: toolCallId, name: toolName, ...given }: ProviderToolCall,
  providerOptions?: AnswerPart['metadata'],
): object {
  const input = sentArguments(given);
  return { type: 'tool-call', toolCallId, toolName, input, ...(providerOptions && { providerOptions }) };
}

function toPromptParts(
  { list }: AnswerParts,
  calls: readonly ProviderToolCall[],
  asked: AskedAiSdk,
): object[] {
  const ids = list.flatMap(itemIds);
  const isShared = (part: AnswerPart) => itemIds(part).some((id) => ids.indexOf(id) !== ids.lastIndexOf(id));
  const parts = list.flatMap((part): object[] => {
    const metadata = toMetadata(part, isShared(part), asked);
    const options = metadata && { providerOptions: metadata };
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return part.text.trim() === '' && !metadata ? [] : [{ type: part.type, text: part.text, ...options }];
      case 'call':
        return calls.filter(({ id }) => id === part.id).map((call) => toCallPart(call, metadata));
      default:
        return toOther(part.value, asked.model).map((other) => ({ ...other, ...options }));
    }
  });
  const end = parts.findLastIndex((part) => (part as PromptPart).type !== 'reasoning');
  return parts.slice(0, end + 1);
}

const itemIds = ({ metadata = {} }: AnswerPart): unknown[] =>
  Object.values(metadata).flatMap((own) => (isRecord(own) && own.itemId != null ? [own.itemId] : []));

/** T2: with or without ids of items. Parts that are not joined without one are left without their metadata. */
function toMetadata(
  part: AnswerPart,
  isShared: boolean,
  { model, keepsItems }: AskedAiSdk,
): AnswerPart['metadata'] {
  const { metadata } = part;
  if (!metadata || itemIds(part).length === 0) return metadata;
  const needsId = part.type !== 'reasoning' || isShared || model.specificationVersion === 'v2';
  if (needsId) return keepsItems ? undefined : metadata;
  const bare = ([key, { itemId: _, ...own }]: [string, Record<string, unknown>]) => [key, own] as const;
  return Object.fromEntries(Object.entries(metadata as Record<string, Record<string, unknown>>).map(bare));
}

/** Translates a part of the SDK's own; sources are for readers alone. */
function toOther(
  value: Readonly<Record<string, unknown>>,
  { specificationVersion }: AiSdkLanguageModel,
): object[] {
  const { type, toolCallId, toolName, input, result, isError, data } = value;
  switch (type) {
    case 'source':
      return [];
    case 'tool-call': {
      const parsed = typeof input === 'string' ? (parseRecord(input) ?? {}) : input;
      return [{ type, toolCallId, toolName, input: parsed, providerExecuted: true }];
    }
    case 'tool-result':
      return [
        { type, toolCallId, toolName, output: { type: isError ? 'error-json' : 'json', value: result } },
      ];
    default: {
      const tagged = specificationVersion === 'v4' && typeof data === 'string';
      return [tagged ? { ...value, data: { type: 'data', data } } : value];
    }
  }
}

const ANY_SIGNATURE = 'skip_thought_signature_validator';

function isGemini3({ provider, modelId }: AiSdkLanguageModel): boolean {
  return /^(google|vertex)/.test(provider) && /(^|\/)gemini-3/.test(modelId);
}

/** One signature is enough for calls that are made together. */
function withSignature(parts: readonly PromptPart[]): object[] {
  const isSigned = ({ type, providerOptions = {} }: PromptPart) =>
    type === 'tool-call' && Object.values(providerOptions).some((own) => own.thoughtSignature != null);
  const first = parts.findIndex(({ type }) => type === 'tool-call');
  if (first < 0 || parts.some(isSigned)) return [...parts];
  const signed = { google: { ...parts[first]?.providerOptions?.google, thoughtSignature: ANY_SIGNATURE } };
  return parts.map((part, index) =>
    index === first ? { ...part, providerOptions: { ...part.providerOptions, ...signed } } : part,
  );
}
