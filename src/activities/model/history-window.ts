/**
 * Determines how much of a thread's history fits into a step's request (runtime §4), before the history is read.
 * - The smallest window among the models that may be asked counts, in characters as each of them counts: a fallback
 *   must be able to take over.
 * - The size is an estimate. Three things are not known yet: what the step's hooks add, which subagents are enabled,
 *   and the window that a provider reports for a model before this process has asked it once.
 * - If none of the models declares its window, the messages get the room of a usual window.
 * - If older messages are replaced by a summary, twice as much is read. The next summary is made of what does not
 *   fit.
 */

import { toPublic } from '../../author/hooks/assembly-hooks.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import {
  estimateOffered,
  estimateText,
  MESSAGE_TOKENS,
  type Scale,
} from '../../core/context/context-estimate.ts';
import { inputRoom } from '../../core/context/context-room.ts';
import type { ModelCounts } from '../../core/context/model-count.ts';
import { findGuards } from '../../core/guard/guards.ts';
import type { Message } from '../../core/message/message.ts';
import type { ProviderTool } from '../../core/message/provider.ts';
import { type ActiveSide, findStepSide, hasTwoSides } from '../../core/project/active-side.ts';
import { renderPrompt } from '../../core/project/prompt-text.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { learnedRatio, windowOf } from '../../models/learned-facts.ts';
import { capabilitiesOf } from '../../models/open-provider.ts';
import type { HistoryWindow, StepPlace, SummaryKey } from '../../store/step/step-place-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { fullSubagentOffer } from './offered-tools.ts';
import { findModels, offerTools } from './request.ts';
import { promptVariables } from './step-env.ts';

/** A step whose agent or prompt this worker does not know fails, so as little as possible is read. */
const NOTHING: HistoryWindow = { includeChat: false, includePastTools: false, recentImages: 0 };

export function historyWindow(registry: Registry): (place: StepPlace) => HistoryWindow {
  return (place) => {
    const active = findStepSide(registry, place.thread.agent, place);
    if (!active) return NOTHING;
    const { includeChat, includePastTools, recentImageThreshold: recentImages } = active.prompt;
    const twoSides = hasTwoSides(active.agent);
    const window = { includeChat, includePastTools, recentImages, twoSides };
    const { tokens, scale, assumed } = roomForMessages(registry, active, place);
    const summaries = summaryKey(active, place);
    const read = { ...window, scale, assumed, tokens };
    return summaries ? { ...read, tokens: 2 * tokens, summaries } : read;
  };
}

export interface MessageRoom {
  readonly tokens: number;
  /** True if no model declares its window. */
  readonly assumed?: true;
  /** How they are estimated. */
  readonly scale: Scale;
}

/** What the messages of a step's request may take, those of a summary among them. */
export function roomForMessages(registry: Registry, active: ActiveSide, place: StepPlace): MessageRoom {
  const { prompt } = active;
  const subagents = fullSubagentOffer(registry, place.thread, prompt);
  const prompts = registry.prompts;
  const system = renderPrompt({ prompt, prompts, variables: promptVariables(place), env: () => '' });
  const rooms = findModels(registry, active).flatMap((model) => {
    const offer = () => offerTools(registry, active, { model, tools: {} }, { subagents });
    return roomOf(model, { counts: place.counts, system, offer });
  });
  // What a step reads is bounded.
  if (rooms.length === 0) {
    const scale = scaleOf(findModels(registry, active)[0], place.counts);
    return { tokens: LIMITS.unboundTokens, assumed: true, scale };
  }
  return rooms.reduce((one, other) => (charsOf(other) < charsOf(one) ? other : one));
}

/** Characters of prose in a token, to compare models that have reported nothing. */
const USUAL_RATIO = 4;
const charsOf = ({ tokens, scale: { ratio = USUAL_RATIO } }: MessageRoom) => tokens * ratio;

function scaleOf(model: ModelDefinition | undefined, counts: ModelCounts = {}): Scale {
  const { ratio = model && learnedRatio(model), longest } = counts[model?.name ?? ''] ?? {};
  return { ratio, longest };
}

/** Undefined if the prompt has no compaction. */
export function summaryKey(
  { agent, prompt }: ActiveSide,
  { executionId }: Pick<StepPlace, 'executionId'>,
): SummaryKey | undefined {
  if (!findGuards(agent, prompt).compaction) return undefined;
  return { prompt: prompt.name, scope: prompt.includeChat ? '' : executionId };
}

interface RoomTerms {
  readonly counts: ModelCounts | undefined;
  readonly system: string;
  readonly offer: () => readonly ProviderTool[];
}

/** What a model's window leaves besides its answer, the system text and its tools; empty if no window is known. */
function roomOf(model: ModelDefinition, { counts, system, offer }: RoomTerms): MessageRoom[] {
  const { maxOutputTokens = 0, supportsToolCalls } = capabilitiesOf(model);
  const window = windowOf(model);
  if (window === undefined) return [];
  const scale = scaleOf(model, counts);
  const tools = supportsToolCalls === false ? [] : offer();
  const offered = estimateOffered({ tools }, scale.ratio);
  const taken = offered + estimateText(system, scale.ratio) + MESSAGE_TOKENS;
  const tokens = Math.max(0, inputRoom(window, maxOutputTokens) - taken);
  return [{ tokens, scale: { ...scale, room: tokens } }];
}

/**
 * `state.execution.messageHistory` when no request is being assembled (definitions §14.1): the stored conversation that
 * the code belongs to. `subprompt`: the step of the sub-prompt that the code runs in, whose own conversation that is;
 * otherwise the newest messages of the thread. Queued items are not part of it.
 */
export async function readMessageHistory(
  { store, registry }: Pick<ActivityDependencies, 'store' | 'registry'>,
  threadId: string,
  subprompt?: number,
): Promise<readonly Message[]> {
  if (subprompt !== undefined) {
    const { messages } = await store.steps.readContext(threadId, subprompt, historyWindow(registry()));
    return messages.map(toPublic);
  }
  return store.messages.recent(threadId);
}
