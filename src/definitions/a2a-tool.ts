/**
 * The agents elsewhere that prompts list, as definitions of tools like any: so they are dispatched, judged, approved, paid for and told as all tools are.
 * What models are shown of one are its author's words.
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
    .describe('What is asked of it, in words: it knows nothing else of this conversation.'),
  files: z.array(z.string()).optional().describe('Paths of files of this thread that it is given.'),
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
    // Whoever comes goes on with it: the store has its task, and whether it was sent.
    idempotent: true,
    quick: false,
    // Of one attempt, which looks for a while and is begun again: it ends by itself.
    timeoutMs: LIMITS.remoteHoldMs + 6 * requestTimeoutMs + 5000,
    capabilities: [a2aCapability(agent.name)],
    ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
    asks: true,
    a2a: agent,
  });
}
