/**
 * Determines how much of a thread's history fits into a step's request (runtime §4), before the history is read.
 * W1. The smallest window among the models that may be asked counts: a fallback must be able to take over.
 * W2. The size is an estimate. Three things are not known yet: what the step's hooks add, which subagents are enabled,
 *     and the window that a provider reports for a model before this process has asked it once.
 * W3. If none of the models declares its window, the messages get the room of a usual window.
 * W4. If older messages are replaced by a summary, twice as much is read. The next summary is made of what does not
 *     fit.
 */

import type { ModelDefinition, Registry } from '../../core/author/definition.ts';
import { estimateText } from '../../core/context/context-estimate.ts';
import { findGuards } from '../../core/guard/guards.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import { type ActiveSide, findStepSide, hasTwoSides } from '../../core/project/active-side.ts';
import { renderPrompt } from '../../core/project/prompt-text.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { capabilitiesOf } from '../../models/open-provider.ts';
import type { HistoryWindow, StepPlace } from '../../store/port/step.ts';
import type { SummaryKey } from '../../store/port/summary.ts';
import { fullSubagentOffer } from './offered-tools.ts';
import { promptVariables } from './prompt-variables.ts';
import { findModels, offerTools } from './request.ts';

/** A step whose agent or prompt this worker does not know fails, so as little as possible is read. */
const NOTHING: HistoryWindow = { includeChat: false, includePastTools: false, recentImages: 0 };

export function historyWindow(registry: Registry): (place: StepPlace) => HistoryWindow {
  return (place) => {
    const active = findStepSide(registry, place.thread.agent, place);
    if (!active) return NOTHING;
    const { includeChat, includePastTools, recentImageThreshold: recentImages } = active.prompt;
    const twoSides = hasTwoSides(active.agent);
    const window = { includeChat, includePastTools, recentImages, ...(twoSides ? { twoSides } : {}) };
    const tokens = roomForMessages(registry, active, place);
    const summaries = summaryKey(active, place);
    // W4: twice as much.
    return summaries ? { ...window, tokens: 2 * tokens, summaries } : { ...window, tokens };
  };
}

/** Tokens that the messages of a step's request may take. */
export function roomForMessages(registry: Registry, active: ActiveSide, place: StepPlace): number {
  const { prompt } = active;
  const subagents = fullSubagentOffer(registry, place.thread, prompt);
  const rooms = findModels(registry, active).flatMap((model) =>
    roomOf(model, () => offerTools(registry, active, { model, tools: {} }, { subagents })),
  );
  // W3: what a step reads is bounded.
  if (rooms.length === 0) return LIMITS.unboundTokens;
  const prompts = registry.prompts;
  const system = renderPrompt({ prompt, prompts, variables: promptVariables(place), env: () => '' });
  return Math.max(0, Math.min(...rooms) - estimateText(system));
}

/** Undefined if the prompt has no compaction. */
export function summaryKey(
  { agent, prompt }: ActiveSide,
  { executionId }: Pick<StepPlace, 'executionId'>,
): SummaryKey | undefined {
  if (!findGuards(agent, prompt).compaction) return undefined;
  return { prompt: prompt.name, scope: prompt.includeChat ? '' : executionId };
}

/** The tokens that a model's window leaves besides its answer and its tools; empty if the model declares no window. */
function roomOf(model: ModelDefinition, offer: () => readonly ProviderTool[]): number[] {
  const { maxContextTokens, maxOutputTokens = 0, supportsToolCalls } = capabilitiesOf(model);
  if (maxContextTokens === undefined) return [];
  const tools = supportsToolCalls === false ? [] : offer();
  const offered = tools.length > 0 ? estimateText(JSON.stringify(tools)) : 0;
  return [maxContextTokens - maxOutputTokens - offered];
}
