/**
 * What a step's begin must return for the request of the step.
 * N1. The first model call begins with the step if nothing in between could end the step or take time. That means: no
 *     hook on the request, no variable that may be missing, no manifest to log first, no summary to make. The call's
 *     row exists before the request is sent, as for any call.
 */
import type { Registry } from '../../core/author/registry.ts';
import { findStepSide } from '../../core/project/active-side.ts';
import type { RateLimiter } from '../../models/rate-limiter.ts';
import { definesHook } from '../../state/hooks/listed.ts';
import type { StepContext, StepPlace } from '../../store/step/step-place-record.ts';
import type { RequestNeeds } from '../../store/step/step-record.ts';
import { logsManifests } from './call-estimate.ts';
import { dueCompaction } from './due-compaction.ts';
import { historyWindow } from './history-window.ts';
import { findModels } from './request.ts';
import { hasBegun, needsVariables } from './step-env.ts';

const REQUEST_HOOKS = ['after_system_message', 'filter_messages', 'prefilter_llm_history'] as const;

export function requestNeeds(
  registry: Registry,
  limiter?: Pick<RateLimiter, 'mayHold'>,
): (place: StepPlace) => RequestNeeds {
  const window = historyWindow(registry);
  const hooked = definesHook(registry, ...REQUEST_HOOKS);
  return (place) => ({ window: window(place), ...(hooked ? {} : firstCall(registry, place, limiter)) });
}

/** N1: the call of the first model. */
function firstCall(
  registry: Registry,
  place: StepPlace,
  limiter: Pick<RateLimiter, 'mayHold'> | undefined,
): Pick<RequestNeeds, 'call' | 'delays'> {
  const active = findStepSide(registry, place.thread.agent, place);
  if (!active) return {};
  const { prompt } = active;
  // A manifest is known only once the request is assembled.
  if (logsManifests(active, place)) return {};
  const [model] = findModels(registry, active);
  // A request that may have to wait is recorded when it is sent.
  if (model?.concurrency !== undefined || (model && limiter?.mayHold(model.name))) return {};
  if (!model || needsVariables(registry, place.thread, { begun: hasBegun(place), prompt })) return {};
  // A summary is made before the first call.
  const delays = (context: StepContext) => dueCompaction(registry, active, context) !== undefined;
  return { call: { model: model.name, modelId: model.model }, delays };
}
