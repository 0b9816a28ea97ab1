/**
 * The tokens of a model request by section, estimated before it is sent. Pure, and the same for every provider: the
 * provider's own count is in `model.answered`.
 * M1. The sections add up to the total, which is what budgets reserve of input.
 */
import type { AnswerParts } from '../message/answer-parts.ts';
import type { ProviderMessage, ProviderRequest } from '../message/provider.ts';
import { estimateText } from './context-estimate.ts';

/** Estimated tokens of an image or a file, close to what providers count. */
const PART_TOKENS = 1000;
/** Estimated tokens of a message's role and separators. */
const MESSAGE_TOKENS = 4;

export type ContextSection = 'system' | 'tool_prompt' | 'history' | 'user';

/** `count`: number of messages, or of tools. */
export interface ContextItem {
  readonly kind: ContextSection;
  readonly tokens: number;
  readonly count: number;
}

export interface ContextManifest {
  readonly systemTokens: number;
  /** Tools, agents, and the response format if there is one. */
  readonly toolPromptTokens: number;
  /** All messages except system messages and the user's newest one. */
  readonly historyTokens: number;
  readonly userTokens: number;
  readonly totalEstimatedTokens: number;
  /** Size of the model's context window in tokens, if its definition states it. */
  readonly contextWindow: number | null;
  /** In the order of the fields above, without empty sections. */
  readonly contextItems: readonly ContextItem[];
}

export function prepareManifest(
  { messages, tools = [], responseFormat }: Pick<ProviderRequest, 'messages' | 'tools' | 'responseFormat'>,
  contextWindow: number | null = null,
): ContextManifest {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  const sectionOf = ({ role }: ProviderMessage, index: number): ContextSection =>
    role === 'system' ? 'system' : index === newest ? 'user' : 'history';
  const itemOf = (kind: ContextSection): ContextItem => {
    const own = messages.filter((message, index) => sectionOf(message, index) === kind);
    return { kind, tokens: own.reduce((sum, each) => sum + estimateMessage(each), 0), count: own.length };
  };
  const offered = (tools.length > 0 ? estimateJson(tools) : 0) + estimateJson(responseFormat);
  const items: ContextItem[] = [
    itemOf('system'),
    { kind: 'tool_prompt', tokens: offered, count: tools.length },
    itemOf('history'),
    itemOf('user'),
  ];
  const [system, toolPrompt, history, user] = items.map(({ tokens }) => tokens) as [
    number,
    number,
    number,
    number,
  ];
  return {
    systemTokens: system,
    toolPromptTokens: toolPrompt,
    historyTokens: history,
    userTokens: user,
    // M1: the sections add up.
    totalEstimatedTokens: system + toolPrompt + history + user,
    contextWindow,
    contextItems: items.filter(({ tokens }) => tokens > 0),
  };
}

function estimateMessage(message: ProviderMessage): number {
  const { content } = message;
  const own = Array.isArray(content)
    ? content.reduce((sum, part) => sum + (part.type === 'text' ? estimateText(part.text) : PART_TOKENS), 0)
    : typeof content === 'string'
      ? estimateText(content)
      : estimateJson(content);
  const calls =
    message.role === 'assistant' ? estimateJson(message.toolCalls) + estimateParts(message.parts) : 0;
  const files = message.role === 'tool' ? (message.attachments?.length ?? 0) * PART_TOKENS : 0;
  return MESSAGE_TOKENS + own + calls + files;
}

/** What goes back to a provider besides text and calls. */
function estimateParts(parts: AnswerParts | undefined): number {
  return (parts?.list ?? []).reduce((sum, part) => {
    const own = part.type === 'reasoning' ? part.text : part.type === 'other' ? part.value : null;
    return sum + estimateJson(part.metadata) + estimateJson(own);
  }, 0);
}

function estimateJson(value: unknown): number {
  return value === undefined || value === null ? 0 : estimateText(JSON.stringify(value));
}
