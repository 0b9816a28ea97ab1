/** Builds the request to a model (runtime §4) from the project's definitions and the thread's messages. */

import { toSchemaFormat } from '../../core/answer/typed-answer.ts';
import type { ModelDefinition, PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { withoutImages } from '../../core/context/context-provider.ts';
import type { Permissions } from '../../core/governance/permissions.ts';
import type { ProviderMessage, ProviderRequest, ProviderTool } from '../../core/message/provider.ts';
import { type ActiveSide, hasTwoSides } from '../../core/project/active-side.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { StopRules } from '../../core/thread/stop.ts';
import { type AcceptedSchema, toAcceptedSchema } from '../../core/value/accepted-schema.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { cutMiddle } from '../../core/value/cut-middle.ts';
import { type JsonSchema, undescribed } from '../../core/value/json-schema.ts';

import type { McpOffer } from './mcp-offer.ts';
import { offeredTools } from './offered-tools.ts';
import { type AskedModel, findProviderTools, runsAtProvider } from './provider-tools.ts';
import type { SubagentOffer } from './subagent-tools.ts';

export function agentNotFound(agent: string, threadId: string): StoredError {
  return {
    code: 'AgentNotFound',
    message:
      `Agent "${agent}" of thread "${threadId}" is not defined in this worker's project. ` +
      'Add it under agents/agents and send another message.',
  };
}

export function toStopRules({ agent, side }: ActiveSide): StopRules {
  const other = hasTwoSides(agent) ? (side === agent.sideB ? agent.sideA : agent.sideB) : undefined;
  return {
    stopOnResponse: side.stopOnResponse,
    stopTool: side.stopTool,
    sessionStop: side.sessionStop?.name,
    sessionFail: side.sessionFail?.name,
    maxSteps: side.maxSteps,
    other: other && { maxSteps: other.maxSteps, maxSessionTurns: agent.maxSessionTurns },
  };
}

/** The model and its fallbacks, in the order in which they are asked. */
export function findModels(registry: Registry, { prompt }: Pick<ActiveSide, 'prompt'>): ModelDefinition[] {
  const primary = registry.models.get(prompt.model);
  if (!primary) return [];
  return [
    primary,
    ...primary.fallbacks.map((name) => registry.models.get(name)).filter((model) => model !== undefined),
  ];
}

/** What all requests of a step have in common. */
export interface AssembledStep {
  readonly threadId: string;
  readonly messages: readonly ProviderMessage[];
  readonly subagents: SubagentOffer;
  /** Tools of MCP servers; none if absent. */
  readonly mcp?: McpOffer;
  /** Permissions of the run's context. */
  readonly permissions?: Permissions;
  /** What the last answer must fit. */
  readonly output?: JsonSchema | undefined;
}

export function buildRequest(
  registry: Registry,
  active: ActiveSide,
  asked: AskedModel,
  { threadId, messages, subagents, mcp, permissions, output }: AssembledStep,
): ProviderRequest {
  const { prompt } = active;
  const { model } = asked;
  const { supportsImages, supportsToolCalls, supportsJsonMode, maxOutputTokens } = model.capabilities;
  const tools =
    supportsToolCalls === false ? [] : offerTools(registry, active, asked, { subagents, mcp, permissions });
  const { responseFormat: own, ...providerOptions } = { ...model.providerOptions, ...prompt.providerOptions };
  const responseFormat = output ? toSchemaFormat(active.agent.name, output) : own;
  return {
    model: model.model,
    // Stored messages keep their images: another model may be able to see them (runtime §4).
    messages: supportsImages === false ? withoutImages(messages) : messages,
    ...(tools.length > 0
      ? { tools, toolChoice: prompt.toolChoice, parallelToolCalls: prompt.parallelToolCalls }
      : {}),
    ...(prompt.reasoning ? { reasoning: toReasoning(prompt, model) } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(responseFormat === undefined || supportsJsonMode === false ? {} : { responseFormat }),
    ...(model.includedProviders.length > 0 ? { includedProviders: model.includedProviders } : {}),
    providerOptions,
    user: threadId,
  };
}

const EFFORT_LEVEL = { low: 33, medium: 66, high: 100 } as const;

function toReasoning({ reasoning }: PromptDefinition, model: ModelDefinition): ProviderRequest['reasoning'] {
  const { effort, maxTokens, exclude } = reasoning ?? {};
  if (effort === undefined) return { maxTokens, exclude };
  const level = EFFORT_LEVEL[effort];
  const word = nearestLevelName(model.capabilities.reasoningLevels, level);
  return { level, ...(word === undefined ? {} : { effort: word }), maxTokens, exclude };
}

/** The model's own word for the nearest level (definitions §5.6); undefined if it has none. */
function nearestLevelName(
  levels: Readonly<Record<number, string | null>> | undefined,
  level: number,
): string | null | undefined {
  const known = Object.keys(levels ?? {}).map(Number);
  const distance = (each: number) => Math.abs(each - level);
  const [nearest] = known.sort((a, b) => distance(a) - distance(b) || b - a);
  return nearest === undefined ? undefined : levels?.[nearest];
}

/** All tools that this model is offered; those that the provider runs are offered only as provider tools. */
export function offerTools(
  registry: Registry,
  active: ActiveSide,
  asked: AskedModel,
  { subagents, mcp, permissions }: Pick<AssembledStep, 'subagents' | 'mcp' | 'permissions'>,
): ProviderTool[] {
  const own = offeredTools(registry, active.prompt, subagents, mcp)
    .filter((tool) => !runsAtProvider(registry, tool.function.name))
    .flatMap((tool) => toAcceptedTool(tool) ?? []);
  return [...own, ...findProviderTools(registry, active, asked, permissions)];
}

/** Characters of an original schema that a description repeats. */
const MAX_ORIGINAL_CHARS = 2000;

/**
 * A tool in a form that every provider accepts, whoever has described it: an author, a client, or a server elsewhere.
 * Undefined if its arguments are no object.
 */
export function toAcceptedTool(tool: ProviderTool): ProviderTool | undefined {
  const { description, parameters } = tool.function;
  const accepted = acceptedOf(parameters);
  if (!accepted) return undefined;
  const { schema, saysLess } = accepted;
  const original = saysLess ? cutMiddle(canonicalJson(undescribed(parameters)), MAX_ORIGINAL_CHARS) : '';
  const told = saysLess ? `\n\nIts arguments must match this JSON schema: ${original}` : '';
  return {
    ...tool,
    function: { ...tool.function, description: `${description}${told}`, parameters: schema },
  };
}

/** Computed once per schema, since requests are made for every step. */
const acceptedSchemas = new WeakMap<JsonSchema, AcceptedSchema | undefined>();

function acceptedOf(parameters: JsonSchema): AcceptedSchema | undefined {
  if (!acceptedSchemas.has(parameters)) acceptedSchemas.set(parameters, toAcceptedSchema(parameters));
  return acceptedSchemas.get(parameters);
}
