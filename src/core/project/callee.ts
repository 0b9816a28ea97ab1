/**
 * What a call of a name means (definitions §6.3): a tool, else a prompt, else an agent. An agent and a prompt may share a name: the agent
 * is meant where it declares itself a tool (`exposeAsTool`), since every prompt can be called without a word.
 */
import type { AgentDefinition, PromptDefinition, Registry, ToolDefinition } from '../author/definition.ts';

export type Callee = ToolDefinition | PromptDefinition | AgentDefinition;

export function findCallee(
  { tools, prompts, agents }: Pick<Registry, 'tools' | 'prompts' | 'agents'>,
  name: string,
): Callee | undefined {
  const agent = agents.get(name);
  const prompt = prompts.get(name);
  return tools.get(name) ?? (agent?.exposeAsTool ? agent : (prompt ?? agent));
}
