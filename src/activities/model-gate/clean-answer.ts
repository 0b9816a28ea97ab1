/** Stage: turns the calls of an answer into calls that can be stored and begun (`core/answer/clean-calls.ts`). */

import { go } from '../../author/policy/gate.ts';
import { type CleanedCalls, cleanCalls } from '../../core/answer/clean-calls.ts';
import type { ModelDefinition } from '../../core/author/definition.ts';
import type { ProviderResponse } from '../../core/message/provider.ts';
import type { ActiveSide } from '../../core/project/active-side.ts';
import type { StepRef } from '../../store/transaction/from-run.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { McpOffer } from '../model/mcp-offer.ts';
import { offerTools } from '../model/request.ts';
import type { SubagentOffer } from '../model/subagent-tools.ts';

interface GivenAnswer {
  readonly ref: StepRef;
  readonly active: ActiveSide;
  readonly subagents: SubagentOffer;
  readonly mcp?: McpOffer;
  readonly model: ModelDefinition;
  readonly response: ProviderResponse;
}

export interface CleanedAnswer {
  /** The response, with its calls as they are stored. */
  readonly response: ProviderResponse;
  readonly cleaned: CleanedCalls;
}

export function cleanAnswer(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { ref, active, subagents, mcp, model, response }: GivenAnswer,
) {
  const offered = () => offeredNames({ registry, active, subagents, mcp, model });
  const cleaned = cleanCalls(response, { step: ref.step, offered });
  const { toolCalls: _, finishReason, ...answer } = response;
  const toolCalls = cleaned.calls.map(({ call }) => call);
  if (toolCalls.length === 0) return go({ response: { ...answer, finishReason }, cleaned });
  const ended = finishReason === 'stop' ? 'tool_calls' : finishReason;
  return go({ response: { ...answer, finishReason: ended, toolCalls }, cleaned });
}

/** Names that a call written as text may use: the functions that this model was offered. */
function offeredNames({
  registry,
  active,
  subagents,
  mcp,
  model,
}: Pick<GivenAnswer, 'active' | 'subagents' | 'mcp' | 'model'> & Pick<ActivityDependencies, 'registry'>) {
  const { supportsToolCalls } = model.capabilities;
  if (supportsToolCalls === false || active.prompt.toolChoice === 'none') return new Set<string>();
  const functions = offerTools(registry(), active, { model, tools: {} }, { subagents, mcp });
  return new Set(
    functions.filter(({ executionMode }) => executionMode !== 'provider').map((tool) => tool.function.name),
  );
}
