/** The subagents of a runtime, as agents of the engine (docs/subagents.md), and the meta tools of their manager. */
import { z } from 'zod';
import { STATUS_QUERY } from '../../core/guard/status-query.ts';
import {
  defineAgent,
  definePrompt,
  defineTool,
  type TeamGuardInput,
  type ToolEntryInput,
} from '../../definitions/index.ts';
import type { RegistryInput } from '../../definitions/registry-from.ts';
import { FINISH_TOOL_NAME } from './event-log.ts';

export interface RuntimeSubagent {
  /** Description by which the model chooses the role. */
  readonly description: string;
  readonly systemPrompt: string;
  /** Names of tools of the runtime. None unless given. */
  readonly tools?: readonly string[];
  /** Rounds after which it is paused. Default 30. */
  readonly maxToolRounds?: number;
}

export interface RuntimeTeam {
  /** By role. */
  readonly subagents: Readonly<Record<string, RuntimeSubagent>>;
  /** `guards.team` of the runtime's agent; unless given AgenticX's limits, and what `AGX_STATUS_QUERY_…` say. */
  readonly limits?: TeamGuardInput;
}

/**
 * Tools of the model that manages the team: `subagent_create` and `subagent_message`, which the engine offers in place
 * of the roles, and `query_subagent_status`.
 */
export function metaTools(team: RuntimeTeam | undefined): readonly ToolEntryInput[] {
  const roles = Object.keys(team?.subagents ?? {});
  if (roles.length === 0) return [];
  const resumable = { receives_messages: 'side_a' } as const;
  return [...roles.map((name) => ({ name, blocking: false, resumable })), { name: STATUS_QUERY }];
}

export function teamProject(
  team: RuntimeTeam | undefined,
): Required<Pick<RegistryInput, 'agents' | 'prompts' | 'tools'>> {
  const roles = Object.entries(team?.subagents ?? {});
  if (roles.length === 0) return { agents: [], prompts: [], tools: {} };
  return {
    agents: roles.map(([name, { description, maxToolRounds }]) =>
      defineAgent({
        name,
        type: 'dual_ai',
        exposeAsTool: true,
        toolDescription: description,
        sideA: {
          prompt: name,
          stopOnResponse: false,
          stopTool: FINISH_TOOL_NAME,
          sessionStop: { name: FINISH_TOOL_NAME, messageProperty: 'result' },
        },
        // It never acts: its first side ends with the result, or is paused.
        sideB: { prompt: name },
        guards: { rounds: maxToolRounds === undefined ? {} : { max: maxToolRounds } },
      }),
    ),
    prompts: roles.map(([name, { description, systemPrompt, tools = [] }]) =>
      definePrompt({
        name,
        toolDescription: description,
        prompt: systemPrompt,
        model: 'llm',
        includeChat: true,
        includePastTools: true,
        tools: [...tools, FINISH_TOOL_NAME],
      }),
    ),
    tools: { [FINISH_TOOL_NAME]: FINISH_TOOL },
  };
}

/** Ends a task, or the work of a subagent, with its result. */
export const FINISH_TOOL = defineTool({
  description: 'Ends the task with its result.',
  args: z.object({ result: z.string(), reasoning: z.string().optional() }),
  quick: true,
  execute: () => ({ status: 'success', result: 'The task is finished.' }),
});
