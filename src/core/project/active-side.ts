/** Finds the acting side of an agent, with its prompt. Pure. */
import type { AgentDefinition, PromptDefinition, SideDefinition } from '../author/definition.ts';
import type { Registry } from '../author/registry.ts';
import type { Side } from '../author/thread-execution.ts';

export interface ActiveSide {
  readonly agent: AgentDefinition;
  readonly side: SideDefinition;
  readonly prompt: PromptDefinition;
}

/** Undefined if this worker does not know the agent or its prompt. With one AI side, `which` is ignored. */
export function findActiveSide(
  registry: Registry,
  agentName: string,
  which: Side = 'a',
): ActiveSide | undefined {
  const agent = registry.agents.get(agentName);
  const side = agent && (which === 'b' && hasTwoSides(agent) ? agent.sideB : agent.sideA);
  const prompt = side && registry.prompts.get(side.prompt);
  return side && prompt ? { agent, side, prompt } : undefined;
}

export function hasTwoSides(
  agent: AgentDefinition | undefined,
): agent is AgentDefinition & { readonly sideB: SideDefinition } {
  return agent?.type === 'dual_ai' && agent.sideB !== undefined;
}

export interface ActingPlace {
  readonly side: Side;
  readonly subprompt: { readonly prompt: string } | null;
}

/** Returns the side that runs a step. In a step of a sub-prompt, the sub-prompt replaces the side's prompt. */
export function findStepSide(
  registry: Registry,
  agentName: string,
  { side, subprompt }: ActingPlace,
): ActiveSide | undefined {
  const active = findActiveSide(registry, agentName, side);
  const prompt = subprompt ? registry.prompts.get(subprompt.prompt) : active?.prompt;
  return active && prompt ? { ...active, prompt } : undefined;
}

/** Returns the prompt that makes the calls of a step: the sub-prompt if there is one, else that of the side. */
export function findActivePrompt(
  registry: Registry,
  agentName: string,
  { side, subprompt }: ActingPlace,
): PromptDefinition | undefined {
  if (subprompt) return registry.prompts.get(subprompt.prompt);
  return findActiveSide(registry, agentName, side)?.prompt;
}
