/**
 * Turns the agents elsewhere that prompts list into tool definitions, so that they are dispatched, judged, approved,
 * paid for and logged like all tools. Models see the description that the author wrote, not that of the agent's card.
 */
import { z } from 'zod';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { ToolDefinition } from '../core/author/definition.ts';
import { a2aCapability } from '../core/project/a2a-agent.ts';
import { LIMITS } from '../core/value/limit.ts';
import { markDefinition } from './definition-mark.ts';
import { toParameters } from './tool-schema.ts';

const ARGUMENTS = z.object({
  message: z
    .string()
    .min(1)
    .describe('The request, in words: the agent knows nothing else about this conversation.'),
  files: z.array(z.string()).optional().describe('Paths of files of this thread to send with the request.'),
});

export function toA2aTool(name: string, agent: A2aAgentDefinition): ToolDefinition {
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
