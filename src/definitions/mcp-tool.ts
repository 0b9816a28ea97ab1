/**
 * The tools of MCP servers that prompts list, as definitions like any: so they are dispatched, judged, approved, paid for and told as all
 * tools are. What models are shown of one is what its server tells when an execution first asks for it (activities/model/mcp-offer.ts).
 */
import { z } from 'zod';
import type { PromptToolEntry, ToolDefinition } from '../core/author/definition.ts';
import type { McpServerDefinition } from '../core/author/mcp-server.ts';
import { mcpCapability } from '../core/project/mcp-tool.ts';
import { markDefinition } from './definition-mark.ts';
import { NO_PARAMETERS } from './tool-schema.ts';

export function toMcpTool(
  name: string,
  server: McpServerDefinition,
  ref: NonNullable<PromptToolEntry['mcp']>,
): ToolDefinition {
  const { idempotent, timeoutMs, connectTimeoutMs, approvalTimeoutMs, variables } = server;
  return markDefinition<ToolDefinition>({
    kind: 'tool',
    name,
    description: `${ref.tool} of the MCP server ${ref.server}`,
    // Its server checks them: a schema of a stranger is shown to models, and not run.
    args: z.looseObject({}),
    parameters: NO_PARAMETERS,
    execute: () => ({ status: 'error', error: `"${name}" is run by its MCP server.` }),
    variables,
    executionMode: 'local',
    idempotent: idempotent === true || idempotent.includes(ref.tool),
    quick: false,
    // It ends by its own times, which say which of them it was.
    timeoutMs: timeoutMs + connectTimeoutMs + 5000,
    capabilities: [mcpCapability(ref)],
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    asks: true,
    remote: { server, tool: ref.tool },
  });
}
