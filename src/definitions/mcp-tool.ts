/**
 * Turns the MCP tools that prompts list into tool definitions, so that they are dispatched, judged, approved, paid for
 * and logged like all tools. Models see the description and schema that the server lists when an execution first asks
 * for them (activities/model/mcp-offer.ts).
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
    // The server validates its arguments: its schema is untrusted, so it is shown to models but not evaluated here.
    args: z.looseObject({}),
    parameters: NO_PARAMETERS,
    execute: () => ({ status: 'error', error: `"${name}" is run by its MCP server.` }),
    variables,
    executionMode: 'local',
    idempotent: idempotent === true || idempotent.includes(ref.tool),
    quick: false,
    // Longer than the timeouts of the connection and the call, whose errors are more precise.
    timeoutMs: timeoutMs + connectTimeoutMs + 5000,
    capabilities: [mcpCapability(ref)],
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    asks: true,
    remote: { server, tool: ref.tool },
  });
}
