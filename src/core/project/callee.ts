/**
 * Resolves the name of a call (definitions §6.3): to a tool, else a prompt, else an agent. If an agent and a prompt
 * share a name, the agent is called only if it declares itself a tool (`exposeAsTool`): a prompt needs no such
 * declaration.
 */
import type { AgentDefinition, PromptDefinition } from '../author/definition.ts';
import type { Registry, ToolDefinition } from '../author/registry.ts';

export type Callee = ToolDefinition | PromptDefinition | AgentDefinition;

export function findCallee(
  { tools, prompts, agents }: Pick<Registry, 'tools' | 'prompts' | 'agents'>,
  name: string,
): Callee | undefined {
  const agent = agents.get(name);
  const prompt = prompts.get(name);
  return tools.get(name) ?? (agent?.exposeAsTool ? agent : (prompt ?? agent));
}
