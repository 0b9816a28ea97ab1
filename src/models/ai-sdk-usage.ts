/**
 * The usage of AI SDK language models, by each version's own rule.
 * - Versions v3 and later nest their counts, and their total includes the cached tokens.
 * - Version v2 is flat. For Anthropic's models its input has neither the tokens read from a cache nor those written to one, which
 *   stand in the provider's own metadata; for the other providers it has those that were read.
 * - The times for which tokens are kept in a cache are only in the raw usage of Anthropic.
 */
import type { ProviderUsage } from '../core/message/provider.ts';
import { readUsage } from '../core/message/usage.ts';
import { isRecord } from '../core/value/record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Also where no metadata is sent. */
const LEAVE_CACHE_OUT: readonly string[] = ['anthropic', 'amazon-bedrock'];

export interface AiSdkUsage {
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
}

/** `provider`: the key of the provider's own options and metadata. */
export function toUsage({ usage, providerMetadata }: AiSdkUsage, provider: string): ProviderUsage {
  const counts = fieldsOf(usage);
  const metadata = fieldsOf(providerMetadata);
  const own = fieldsOf(metadata.anthropic ?? metadata.bedrock ?? metadata[provider]);
  const raw = fieldsOf(counts.raw ?? own.usage);
  const kept = fieldsOf(raw.cache_creation);
  const shape = isRecord(counts.inputTokens)
    ? nestedCounts(counts)
    : flatCounts(counts, own, metadata, provider);
  return readUsage({
    ...shape,
    totalTokens: counts.totalTokens ?? raw.total_tokens,
    cacheWrite1hTokens: kept.ephemeral_1h_input_tokens,
  });
}

/** Totals include the cached tokens. */
function nestedCounts({ inputTokens, outputTokens }: Fields) {
  const [input, output] = [fieldsOf(inputTokens), fieldsOf(outputTokens)];
  return {
    promptTokens: input.total,
    completionTokens: output.total,
    reasoningTokens: output.reasoning,
    cachedTokens: input.cacheRead,
    cacheWriteTokens: input.cacheWrite,
  };
}

/** Flat counts. */
function flatCounts(counts: Fields, own: Fields, { anthropic, bedrock }: Fields, provider: string) {
  const { inputTokens, cachedInputTokens } = counts;
  const written = own.cacheCreationInputTokens ?? fieldsOf(own.usage).cacheWriteInputTokens;
  const isExclusive = isRecord(anthropic) || isRecord(bedrock) || LEAVE_CACHE_OUT.includes(provider);
  const promptTokens = isExclusive ? sumOf(inputTokens, cachedInputTokens, written) : inputTokens;
  return {
    promptTokens,
    completionTokens: counts.outputTokens,
    reasoningTokens: counts.reasoningTokens,
    cachedTokens: cachedInputTokens,
    cacheWriteTokens: written,
  };
}

/** The sum of those that are numbers. */
function sumOf(...values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'number' ? value : 0), 0);
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
