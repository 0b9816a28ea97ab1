/**
 * Makes a provider's report on its answer plausible: its usage is normalised, a finish reason is one of the known words, an id is short.
 * The answer itself is kept.
 */

import { prepareManifest } from '../core/context/context-manifest.ts';
import { estimateMissing } from '../core/context/usage-estimate.ts';
import type { FinishReason, ProviderRequest, ProviderResponse } from '../core/message/provider.ts';
import { normaliseUsage } from '../core/message/usage.ts';
import { LIMITS } from '../core/value/limit.ts';
import { isWindowFull } from './length-refusal.ts';

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'error',
]);

export function toPlausible(response: ProviderResponse, request: ProviderRequest): ProviderResponse {
  const { finishReason, usage, responseId, toolCalls = [], ...rest } = response;
  const ended = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...rest,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: FINISH_REASONS.has(finishReason)
      ? finishReason
      : isWindowFull(finishReason)
        ? 'length'
        : ended,
    usage: estimateMissing(
      normaliseUsage(usage),
      response,
      () => prepareManifest(request).totalEstimatedTokens,
    ),
    ...(typeof responseId === 'string' ? { responseId: responseId.slice(0, LIMITS.responseIdChars) } : {}),
  };
}
