/** Builds what a model is asked (runtime §4) from the project's definitions and the thread's messages. */
import { assembleMessages } from '../core/context.ts';
import type {
  AgentDefinition,
  ModelDefinition,
  PromptDefinition,
  Registry,
  SideDefinition,
} from '../core/definition.ts';
import { renderPrompt } from '../core/prompt-text.ts';
import type { ProviderRequest, ProviderTool } from '../core/provider.ts';
import type { StoredError } from '../core/step.ts';
import type { StopRules } from '../core/stop.ts';
import type { StepContext } from '../store/port.ts';

export interface ActiveSide {
  readonly agent: AgentDefinition;
  readonly side: SideDefinition;
  readonly prompt: PromptDefinition;
}

/** The side that acts, or undefined when this worker does not know the agent. */
export function findActiveSide(registry: Registry, agentName: string): ActiveSide | undefined {
  const agent = registry.agents.get(agentName);
  const prompt = agent && registry.prompts.get(agent.sideA.prompt);
  return agent && prompt ? { agent, side: agent.sideA, prompt } : undefined;
}

export function agentNotFound(agent: string, threadId: string): StoredError {
  return {
    code: 'AgentNotFound',
    message:
      `Agent "${agent}" of thread "${threadId}" is not defined in this worker's project. ` +
      'Add it under agents/agents and send another message.',
  };
}

export function toStopRules({ side }: ActiveSide): StopRules {
  return {
    stopOnResponse: side.stopOnResponse,
    stopTool: side.stopTool,
    sessionStop: side.sessionStop?.name,
    sessionFail: side.sessionFail?.name,
    maxSteps: side.maxSteps,
  };
}

/** The model and its fallbacks, in the order in which they are asked. */
export function findModels(registry: Registry, { prompt }: ActiveSide): ModelDefinition[] {
  const primary = registry.models.get(prompt.model);
  if (!primary) return [];
  return [
    primary,
    ...primary.fallbacks.map((name) => registry.models.get(name)).filter((model) => model !== undefined),
  ];
}

export function buildRequest(
  registry: Registry,
  { prompt }: ActiveSide,
  model: ModelDefinition,
  context: StepContext,
  env: (name: string) => string,
): ProviderRequest {
  const { thread, executionId, messages } = context;
  const system = renderPrompt({ prompt, prompts: registry.prompts, variables: thread.arguments, env });
  const tools = model.capabilities.supportsToolCalls === false ? [] : findTools(registry, prompt);
  return {
    model: model.model,
    messages: assembleMessages({
      system,
      messages,
      executionId,
      includeChat: prompt.includeChat,
      includePastTools: prompt.includePastTools,
    }),
    ...(tools.length > 0
      ? { tools, toolChoice: prompt.toolChoice, parallelToolCalls: prompt.parallelToolCalls }
      : {}),
    ...(prompt.reasoning ? { reasoning: toReasoning(prompt) } : {}),
    providerOptions: { ...model.providerOptions, ...prompt.providerOptions },
    user: thread.id,
  };
}

const EFFORT_LEVEL = { low: 33, medium: 66, high: 100 } as const;

function toReasoning({ reasoning }: PromptDefinition): ProviderRequest['reasoning'] {
  const { effort, maxTokens, exclude } = reasoning ?? {};
  return { ...(effort ? { level: EFFORT_LEVEL[effort] } : {}), maxTokens, exclude };
}

function findTools(registry: Registry, prompt: PromptDefinition): ProviderTool[] {
  return prompt.tools.flatMap(({ name }) => {
    const tool = registry.tools.get(name);
    if (!tool) return [];
    return [
      { type: 'function', function: { name, description: tool.description, parameters: tool.parameters } },
    ];
  });
}
