/**
 * The tokens of a model request by section, estimated before it is sent. Pure, and the same for every provider: the
 * provider's own count is in `model.answered`.
 * - The sections add up to the total, which is what budgets reserve of input.
 */
import type { ProviderMessage, ProviderRequest } from '../message/provider.ts';
import { estimateOffered, estimateProviderMessage } from './context-estimate.ts';

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
  /** Size of the model's context window in tokens, if it is known; a refusal may have named a smaller one. */
  readonly contextWindow: number | null;
  /** In the order of the fields above, without empty sections. */
  readonly contextItems: readonly ContextItem[];
}

export function prepareManifest(
  { messages, tools = [], responseFormat }: Pick<ProviderRequest, 'messages' | 'tools' | 'responseFormat'>,
  contextWindow: number | null = null,
  /** Characters per token; by the script of each text if absent. */
  ratio?: number,
): ContextManifest {
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  const sectionOf = ({ role }: ProviderMessage, index: number): ContextSection =>
    role === 'system' ? 'system' : index === newest ? 'user' : 'history';
  const itemOf = (kind: ContextSection): ContextItem => {
    const own = messages.filter((message, index) => sectionOf(message, index) === kind);
    return {
      kind,
      tokens: own.reduce((sum, each) => sum + estimateProviderMessage(each, ratio), 0),
      count: own.length,
    };
  };
  const offered = estimateOffered({ tools, responseFormat }, ratio);
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
    totalEstimatedTokens: system + toolPrompt + history + user,
    contextWindow,
    contextItems: items.filter(({ tokens }) => tokens > 0),
  };
}
