/** Generated tools: each represents an MCP tool, an agent elsewhere or a task that a model may call. */
import type { Registry } from '../core/author/definition.ts';
import { toA2aTool } from './a2a-tool.ts';
import { toMcpTool } from './mcp-tool.ts';
import { toTaskTool } from './task-tool.ts';

/**
 * Returns the registry with a tool for each MCP tool and each agent elsewhere that a prompt lists, and for each task,
 * under the names that models call.
 */
export function withMadeTools(registry: Registry): Registry {
  const tools = new Map(registry.tools);
  for (const { name, mcp, a2a } of [...registry.prompts.values()].flatMap((prompt) => prompt.tools)) {
    if (tools.has(name)) continue;
    const server = mcp && registry.mcpServers.get(mcp.server);
    if (server) tools.set(name, toMcpTool(name, server, mcp));
    const agent = a2a === undefined ? undefined : registry.a2aAgents.get(a2a);
    if (agent) tools.set(name, toA2aTool(name, agent));
  }
  for (const task of registry.tasks.values()) {
    const tool = toTaskTool(task);
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  }
  return { ...registry, tools };
}
