/**
 * The usage of Chat Completions, and of the servers that speak them in their own way.
 * O1. Cached tokens are details of the prompt's; DeepSeek, Moonshot and routers to Anthropic name them beside it.
 * O2. A total above the sum of prompt and answer counts thoughts that neither details nor answer have (Gemini).
 * O3. A router that was given the author's own key claims only its fee as cost: what the model's provider takes is added, or the claim
 *     does not count.
 */
import type { ProviderUsage } from '../core/message/provider.ts';
import { leavesCacheOut, readUsage } from '../core/message/usage.ts';
import { sumUsd } from '../core/value/money.ts';
import { isRecord } from '../core/value/record.ts';

type Fields = Readonly<Record<string, unknown>>;

export function toUsage(usage: unknown): ProviderUsage {
  const fields = fieldsOf(usage);
  const prompt = fieldsOf(fields.prompt_tokens_details);
  const read = readUsage({
    promptTokens: fields.prompt_tokens,
    completionTokens: fields.completion_tokens,
    totalTokens: fields.total_tokens,
    reasoningTokens: fieldsOf(fields.completion_tokens_details).reasoning_tokens,
    // O1: the names of each.
    cachedTokens:
      prompt.cached_tokens ??
      fields.prompt_cache_hit_tokens ??
      fields.cache_read_input_tokens ??
      fields.cached_tokens,
    cacheWriteTokens:
      prompt.cache_write_tokens ?? prompt.cache_creation_tokens ?? fields.cache_creation_input_tokens,
    cost: costIn(fields),
  });
  // O2: thoughts that only the total has.
  const rest = read.totalTokens - read.promptTokens - read.completionTokens;
  const hasThoughts = rest > 0 && read.reasoningTokens === undefined && !leavesCacheOut(read);
  return hasThoughts && read.completionTokens > 0 ? { ...read, reasoningTokens: rest } : read;
}

/** O3: never the fee alone. */
function costIn({ cost, is_byok: hasOwnKey, cost_details: details }: Fields): unknown {
  if (hasOwnKey !== true) return cost;
  const { upstream_inference_cost: upstream } = fieldsOf(details);
  return typeof upstream === 'number' && typeof cost === 'number' ? sumUsd([upstream, cost]) : undefined;
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
