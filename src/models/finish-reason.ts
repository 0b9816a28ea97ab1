/** Why an answer has ended, in the contract's words. Pure. */
import type { FinishReason } from '../core/message/provider.ts';
import { isWindowFull } from './length-refusal.ts';

/** The words of Gemini, Mistral, DeepSeek, Zhipu and others, where their own words come through. */
const WORDS: readonly (readonly [RegExp, FinishReason])[] = [
  [/^(length|max_tokens|max_output_tokens|model_length)$/i, 'length'],
  [
    /^(content.filter(ed)?|safety|recitation|blocklist|prohibited_content|spii|sensitive|language)$/i,
    'content_filter',
  ],
  [
    /^(error|abort|interrupted|network_error|insufficient_system_resource)$|malformed_function_call/i,
    'error',
  ],
];

/**
 * `given`: the words for one reason; the first that means something decides. Some servers report "stop" after tool calls,
 * and some use words of their own: then the content of the answer decides.
 */
export function toFinishReason(given: readonly unknown[], hasToolCalls: boolean): FinishReason {
  const texts = given.filter((word) => typeof word === 'string');
  for (const text of texts) {
    const [, word] = WORDS.find(([pattern]) => pattern.test(text)) ?? [];
    if (word || isWindowFull(text)) return word ?? 'length';
  }
  return hasToolCalls ? 'tool_calls' : 'stop';
}
