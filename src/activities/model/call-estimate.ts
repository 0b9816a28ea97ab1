/** Estimates what a request to a model may cost before it is sent. */
import type { ModelDefinition } from '../../core/author/definition.ts';
import { type ContextManifest, prepareManifest } from '../../core/context/context-manifest.ts';
import type { CallEstimate } from '../../core/governance/reservation.ts';
import type { RunContext } from '../../core/governance/run-context.ts';
import { pricesFor } from '../../core/message/model-price.ts';
import type { ProviderRequest } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import { modelTimeouts } from '../../core/value/limit.ts';
import { pricesOf } from '../../definitions/known-price.ts';
import { windowOf } from '../../models/learned-facts.ts';

/** Seconds allowed between the last output of a request and the storing of its end. */
const MARGIN_SECONDS = 60;

export function estimateCall(
  model: ModelDefinition,
  request: ProviderRequest,
  /** Characters per token; by the script of each text if absent. */
  ratio?: number,
): CallEstimate & { readonly leaseMs: number } {
  const { totalSeconds, plainSeconds } = modelTimeouts(model.timeouts);
  const { maxOutputTokens } = request;
  const inputTokens = prepareManifest(request, null, ratio).totalEstimatedTokens;
  const { inputPrice, outputPrice } = pricesFor(pricesOf(model) ?? {}, inputTokens);
  return {
    inputTokens,
    maxOutputTokens,
    inputPrice,
    outputPrice,
    leaseMs: (Math.max(totalSeconds, plainSeconds) + MARGIN_SECONDS) * 1000,
  };
}

/** The manifest of a request, logged before the request is sent. */
export function manifestOf(
  model: ModelDefinition,
  request: ProviderRequest,
  ratio?: number,
): ContextManifest {
  return prepareManifest(request, windowOf(model) ?? null, ratio);
}

/**
 * True if the agent's requests are logged before they are sent. The store also logs them if a budget bounds the
 * execution.
 */
export function logsManifests(
  { agent }: Pick<ActiveSide, 'agent'>,
  { runContext }: { readonly runContext: RunContext | null },
): boolean {
  return agent.policy !== undefined || runContext !== null;
}
