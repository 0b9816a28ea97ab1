/** Generated tools: each represents an MCP tool, an agent elsewhere or a task that a model may call. */

import { z } from 'zod';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { PromptToolEntry } from '../core/author/definition.ts';
import type { McpServerDefinition } from '../core/author/mcp-server.ts';
import type { Registry, ToolDefinition } from '../core/author/registry.ts';
import type { TaskDefinition } from '../core/author/task.ts';
import { a2aCapability } from '../core/project/a2a-agent.ts';
import { mcpCapability } from '../core/project/mcp-tool.ts';
import { TASK_CAPABILITY, taskToolName } from '../core/project/task-tool.ts';
import { LIMITS } from '../core/value/limit.ts';
import { isRecord } from '../core/value/record.ts';
import { markDefinition } from './definition-mark.ts';
import { type JsonSchema, NO_PARAMETERS, toParameters } from './tool-schema.ts';

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

const ARGUMENTS = z.object({
  message: z
    .string()
    .min(1)
    .describe('The request, in words: the agent knows nothing else about this conversation.'),
  files: z.array(z.string()).optional().describe('Paths of files of this thread to send with the request.'),
});

/**
 * Turns the agents elsewhere that prompts list into tool definitions, so that they are dispatched, judged, approved,
 * paid for and logged like all tools. Models see the description that the author wrote, not that of the agent's card.
 */
function toA2aTool(name: string, agent: A2aAgentDefinition): ToolDefinition {
  const { description, requestTimeoutMs, approvalTimeoutMs, variables } = agent;
  return markDefinition<ToolDefinition>({
    kind: 'tool',
    name,
    description,
    args: ARGUMENTS,
    parameters: toParameters(ARGUMENTS),
    execute: () => ({ status: 'error', error: `"${name}" is run by its agent.` }),
    variables,
    executionMode: 'local',
    // Any attempt can continue the call: the store has its task, and whether the message may have been sent.
    idempotent: true,
    quick: false,
    // Limits one attempt only. An attempt polls the task for a while and ends by itself; the call is retried later.
    timeoutMs: LIMITS.remoteHoldMs + 6 * requestTimeoutMs + 5000,
    capabilities: [a2aCapability(agent.name)],
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    asks: true,
    a2a: agent,
  });
}

/** Passes arguments on as they are: a loose object of zod leaves out a field named `__proto__`. */
const ANY_ARGUMENTS = z.custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object');

/**
 * Turns the MCP tools that prompts list into tool definitions, so that they are dispatched, judged, approved, paid for
 * and logged like all tools. Models see the description and schema that the server lists when an execution first asks
 * for them (activities/model/mcp-offer.ts).
 */
function toMcpTool(
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
    args: ANY_ARGUMENTS,
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

/**
 * Turns the tasks of a project into tool definitions, so that they are offered, dispatched and logged like all tools.
 * The engine runs the task that a call starts.
 */
function toTaskTool({ name, toolDescription, requiredSchema }: TaskDefinition): ToolDefinition {
  return markDefinition<ToolDefinition>({
    kind: 'tool',
    name: taskToolName(name),
    description: toolDescription ?? `Runs the task ${name} and returns how it ended.`,
    // Validated as the task's inputs (activities/subagent/task-call.ts).
    args: requiredSchema ?? ANY_ARGUMENTS,
    parameters: requiredSchema ? toParameters(requiredSchema) : ANY_INPUTS,
    execute: () => ({ status: 'error', error: `"${name}" is run as a task.` }),
    variables: [],
    executionMode: 'local',
    idempotent: true,
    quick: false,
    timeoutMs: 1000,
    capabilities: [TASK_CAPABILITY],
    startsTask: name,
  });
}

/** Parameters of a task without `requiredSchema`. */
const ANY_INPUTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: true };
