/** The project of an executor: one agent, whose side ends with `finish_task` or a text answer, and may ask a person. */
import { z } from 'zod';
import type { Registry } from '../../core/author/registry.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { defineAgent, defineModel, definePrompt, defineTool, registryFrom } from '../../definitions/index.ts';
import type { EngineOptions } from '../../worker/in-process.ts';
import { ENGINE_OPTIONS, type Names } from '../known-names.ts';
import { type AgentHook, toHooks } from './agent-hook.ts';
import type { Agent } from './agent-model.ts';
import type { AgentRuntimeOptions, LlmDefinition } from './agent-runtime.ts';
import type { ConfirmGate } from './confirm-gate.ts';
import { FINISH_TOOL_NAME, HUMAN_TOOL_NAME } from './event-log.ts';
import { toTimeouts } from './runtime-setting.ts';
import { toTools } from './runtime-tool.ts';
import { FINISH_TOOL } from './team-project.ts';

export interface ExecutorOptions extends EngineOptions {
  /** The model for agents without one of their own. */
  readonly llmProvider?: LlmDefinition;
  /** Most model steps of a task, 1 or more. Default 50, whatever its agent has. */
  readonly maxIterations?: number;
  /** See `AgentRuntimeOptions`. */
  readonly compactor?: AgentRuntimeOptions['compactor'];
  /** What runs around the rounds of its tasks: a `HookRegistry`, or a list. */
  readonly hooks?: Iterable<AgentHook>;
  /** Answers what tools want confirmed. Without a gate, a task that asks is `waiting_for_human`. */
  readonly confirmGate?: ConfirmGate;
}

export const EXECUTOR_OPTIONS: Names<ExecutorOptions> = {
  ...ENGINE_OPTIONS,
  llmProvider: true,
  maxIterations: true,
  compactor: true,
  confirmGate: true,
  hooks: true,
};

export function taskProject(
  agent: Agent,
  { llmProvider, maxIterations = 50, confirmGate, compactor = true, hooks = [] }: ExecutorOptions,
): Registry {
  const { name, version, goal, persona, toolNames } = agent;
  const llm = agent.llm ?? llmProvider;
  if (!llm)
    throw new RuntimeError(
      'InvalidValue',
      `The agent "${name}" has no model: give the agent an "llm", or the executor an "llmProvider".`,
    );
  const around = toHooks([...hooks, ...agent.llmHooks]);
  // Without a gate, tools still ask, and a person answers.
  const asks = confirmGate ?? { approvesAll: false };
  const guards = {
    rounds: { max: maxIterations },
    failures: { max: agent.maxRetryLimit + 1 },
    loops: true,
    compaction: compactor,
    ...(asks.approvesAll ? { confirm: 'auto' as const } : {}),
  };
  return registryFrom({
    agents: [
      defineAgent({
        name,
        version,
        guards,
        hooks: around.map(({ name: id }) => id),
        sideA: { prompt: 'task', stopTool: FINISH_TOOL_NAME, stopOnResponse: true },
      }),
    ],
    hooks: around,
    prompts: [
      definePrompt({
        name: 'task',
        toolDescription: goal,
        prompt: persona,
        model: 'llm',
        includeChat: true,
        includePastTools: true,
        parallelToolCalls: true,
        tools: [...toolNames, FINISH_TOOL_NAME, HUMAN_TOOL_NAME],
      }),
    ],
    models: [defineModel({ ...llm, name: 'llm', timeouts: toTimeouts(process.env, llm.timeouts) })],
    tools: { ...toTools(agent.tools, asks), [FINISH_TOOL_NAME]: FINISH_TOOL, [HUMAN_TOOL_NAME]: HUMAN_TOOL },
  });
}

const HUMAN_TOOL = defineTool({
  description: 'Asks a person a question, and returns the answer.',
  args: z.object({ question: z.string(), context: z.string().optional(), urgency: z.string().optional() }),
  asks: true,
  execute: async (state, { question, ...data }) => {
    const { value } = await state.ask({ key: HUMAN_TOOL_NAME, question: question.slice(0, 2000), data });
    return { status: 'success', result: typeof value === 'string' ? value : JSON.stringify(value) };
  },
});
