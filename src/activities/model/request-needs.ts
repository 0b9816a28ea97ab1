/**
 * What a step's begin is asked to bring along for the request of the step.
 * N1. The first call begins with the step where nothing stands between the two that could end the step without it, or take its time: no
 *     hook on the request, no variable that may be missing, no manifest to be told before it, no summary to be made. Its row is there before the request is sent, as any call's.
 */
import type { Registry } from '../../core/author/definition.ts';
import { findStepSide } from '../../core/project/active-side.ts';
import { definesHook } from '../../state/hooks/listed.ts';
import type { RequestNeeds, StepContext, StepPlace } from '../../store/port/step.ts';
import { tellsManifests } from './call-estimate.ts';
import { dueCompaction } from './due-compaction.ts';
import { historyWindow } from './history-window.ts';
import { findModels } from './request.ts';
import { hasBegun, needsVariables } from './step-env.ts';

const REQUEST_HOOKS = ['after_system_message', 'filter_messages', 'prefilter_llm_history'] as const;

export function requestNeeds(registry: Registry): (place: StepPlace) => RequestNeeds {
  const window = historyWindow(registry);
  const hooked = definesHook(registry, ...REQUEST_HOOKS);
  return (place) => ({ window: window(place), ...(hooked ? {} : firstCall(registry, place)) });
}

/** N1: of the model that is asked first. */
function firstCall(registry: Registry, place: StepPlace): Pick<RequestNeeds, 'call' | 'delays'> {
  const active = findStepSide(registry, place.thread.agent, place);
  if (!active) return {};
  const { prompt } = active;
  // What is told of a request is known once it is assembled.
  if (tellsManifests(active, place)) return {};
  const [model] = findModels(registry, active);
  if (!model || needsVariables(registry, place.thread, { begun: hasBegun(place), prompt })) return {};
  // A summary comes before it.
  const delays = (context: StepContext) => dueCompaction(registry, active, context) !== undefined;
  return { call: { model: model.name, modelId: model.model }, delays };
}
