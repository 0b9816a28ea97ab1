/**
 * Anthropic accepts a tool loop with thinking only if the turn begins with its own thinking, unmodified. A turn that
 * another model began, or whose first answer has changed, is continued without thinking.
 */
import type { ProviderMessage } from '../core/message/provider.ts';
import { isRecord } from '../core/value/record.ts';
import { type AskedAiSdk, ownParts } from './ai-sdk-assistant.ts';
import type { AiSdkCallOptions } from './ai-sdk-model.ts';
import { turnStart } from './running-turn.ts';

type Thinking = Pick<AiSdkCallOptions, 'reasoning' | 'providerOptions'>;

/** Returns undefined if the request can be sent as it is. */
export function turnOffThinking(
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
