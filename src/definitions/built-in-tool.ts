/**
 * Built-in tools of every project. Prompts list them by name like the project's own tools; their names are reserved.
 */
import { z } from 'zod';
import type { Registry, ToolDefinition } from '../core/author/registry.ts';
import { STATUS_QUERY } from '../core/guard/status-query.ts';
import { defineTool } from './define-tool.ts';
import { markDefinition, nameDefinition } from './definition-mark.ts';
import { RUN_CODE } from './run-code-tool.ts';

const DESCRIPTION = [
  'Returns the status of the subagents that you have started: one of them, or all. Their reports are delivered to you',
  'automatically, so ask only if you need the status earlier. The result is {"subagents":[{"agent_id":…,"role":…,"name":…,"status":…}]}; status is',
  'running, waiting, paused, completed, failed, stopped, terminated or idle, and text is the status text that it has set.',
].join(' ');

/**
 * `query_subagent_status`: a model queries the status of its subagents (docs/guards.md). The engine answers its calls.
 */
const STATUS_QUERY_TOOL: ToolDefinition = markDefinition({
  ...nameDefinition(
    defineTool({
      description: DESCRIPTION,
      args: z.object({ agent_id: z.string().optional().describe('The reference of one subagent.') }),
      quick: true,
      // Only code reaches this (`invokeTool`): the engine answers calls of models itself.
      execute: () => ({
        status: 'error',
        error: `${STATUS_QUERY} is for models: code reads state.children.`,
      }),
    }),
    STATUS_QUERY,
  ),
  queriesTeam: true,
});

export const BUILT_IN_TOOLS: ReadonlyMap<string, ToolDefinition> = new Map(
  [RUN_CODE, STATUS_QUERY_TOOL].map((tool) => [tool.name, tool]),
);

/** Returns the names of the tools that the project defines itself. */
export function ownToolNames({ tools }: Registry): string[] {
  return [...tools.values()].flatMap(({ name, remote, a2a, startsTask }) =>
    remote || a2a || startsTask !== undefined || BUILT_IN_TOOLS.has(name) ? [] : [name],
  );
}
