/** Sums the usage of all answered model requests of an execution, with OpenAI's field names. */
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { CompletionUsage } from './completion-chunk.ts';

export function addUsage(sum: CompletionUsage, usage: ProviderUsage | null): CompletionUsage {
  if (!usage) return sum;
  const { promptTokens, completionTokens, totalTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  return {
    prompt_tokens: sum.prompt_tokens + promptTokens,
    completion_tokens: sum.completion_tokens + completionTokens,
    total_tokens: sum.total_tokens + totalTokens,
    prompt_tokens_details: { cached_tokens: sum.prompt_tokens_details.cached_tokens + cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: sum.completion_tokens_details.reasoning_tokens + reasoningTokens,
    },
  };
}
