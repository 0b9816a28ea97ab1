/**
 * Makes a provider's report on its answer plausible: counts are whole numbers that sums and databases can hold, a finish reason is one
 * of the known words, an id is short. An impossible number counts as not reported; the answer itself is kept.
 */

import type { FinishReason, ProviderResponse, ProviderUsage } from '../core/message/provider.ts';
import { LIMITS } from '../core/value/limit.ts';

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'error',
]);

export function toPlausible(response: ProviderResponse): ProviderResponse {
  const { finishReason, usage, responseId, toolCalls = [], ...rest } = response;
  const ended = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...rest,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: FINISH_REASONS.has(finishReason) ? finishReason : ended,
    usage: toUsage(usage),
    ...(typeof responseId === 'string' ? { responseId: responseId.slice(0, LIMITS.responseIdChars) } : {}),
  };
}

function toUsage(reported: ProviderUsage | undefined): ProviderUsage {
  const promptTokens = toCount(reported?.promptTokens) ?? 0;
  const completionTokens = toCount(reported?.completionTokens) ?? 0;
  const reasoningTokens = toCount(reported?.reasoningTokens);
  const cachedTokens = toCount(reported?.cachedTokens);
  const cost = reported?.cost;
  return {
    promptTokens,
    completionTokens,
    totalTokens: toCount(reported?.totalTokens) ?? promptTokens + completionTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(isWithin(cost, LIMITS.claimedCost) ? { cost } : {}),
  };
}

function toCount(value: unknown): number | undefined {
  return isWithin(value, LIMITS.claimedTokens) ? Math.round(value) : undefined;
}

/** Also false for a value that is not a number. */
function isWithin(value: unknown, limit: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= limit;
}
