/**
 * `query_subagent_status`: a model queries the status of its subagents (docs/guards.md). The engine answers its calls.
 */
import { z } from 'zod';
import type { ToolDefinition } from '../core/author/definition.ts';
import { STATUS_QUERY } from '../core/guard/status-query.ts';
import { defineTool } from './define-tool.ts';
import { markDefinition, nameDefinition } from './definition-mark.ts';

const DESCRIPTION = [
  'How far the subagents are that you have begun: one of them, or all. Their reports come to you by themselves, so ask',
  'only where you need to know before that. The answer is {"subagents":[{"agent_id":…,"role":…,"name":…,"status":…}]}; status is',
  'running, waiting, paused, completed, failed, stopped, terminated or idle, and text is what it says of itself.',
].join(' ');

export const STATUS_QUERY_TOOL: ToolDefinition = markDefinition({
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
