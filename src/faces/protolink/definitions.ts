/**
 * The project of an agent: its own definitions, and those of the agents that it may delegate to. These are its
 * subagents: their runs are children of its own, in its process, and within its permissions and limits.
 */
import { z } from 'zod';
import { RuntimeError } from '../../core/value/error.ts';
import {
  defineAgent,
  defineHook,
  defineModel,
  definePrompt,
  type ModelInput,
  registryFrom,
  type ToolEntryInput,
} from '../../definitions/index.ts';
import { withToolResultAnswers } from '../../models/own-answer.ts';
import type { toTool } from './agent-tool.ts';
import { type BudgetPolicy, toBudget } from './budget-policy.ts';
import { type Policy, toPolicies } from './policy.ts';

export type LlmDefinition = Omit<ModelInput, 'name' | 'fallbacks'>;

export interface AgentParts {
  readonly name: string;
  readonly description: string;
  readonly llm: LlmDefinition | undefined;
  readonly tools: Readonly<Record<string, ReturnType<typeof toTool>>>;
  readonly policy: Policy;
  readonly budgetPolicy: BudgetPolicy | undefined;
  /** Whether somebody can be asked for approvals. */
  readonly asks: boolean;
}

/** Ends the run of a delegate with its answer. */
const ANSWERED = 'end_with_answer';
const endWithAnswer = defineHook({
  hook: 'before_create_message',
  id: ANSWERED,
  execute(state, { role, tool_calls: calls }) {
    if (role === 'assistant' && !calls) state.execution?.stop();
  },
});

/** Throws `InvalidDefinitions`, and `InvalidValue` if two agents have tools of the same name. */
export function registryOf(own: AgentParts, delegates: readonly AgentParts[]) {
  const parts = [own, ...delegates].map((one) => define(one, one === own ? delegates : undefined));
  const tools = [own, ...delegates].flatMap((each) => Object.entries(each.tools));
  const twice = tools.find(([name], index) => tools.findIndex(([first]) => first === name) < index);
  if (twice)
    throw new RuntimeError(
      'InvalidValue',
      `Two agents of "${own.name}" have a tool "${twice[0]}": give one of them another name.`,
    );
  return registryFrom({
    agents: parts.map(({ agent }) => agent),
    prompts: parts.map(({ prompt }) => prompt),
    models: parts.map(({ model }) => model),
    hooks: delegates.length > 0 ? [endWithAnswer] : [],
    tools: Object.fromEntries(tools),
    policies: Object.assign({}, ...parts.map(({ policies }) => policies)),
  });
}

/** `targets`: absent for a delegate. */
function define(
  { name, description, llm, tools, policy, budgetPolicy, asks }: AgentParts,
  targets: readonly AgentParts[] | undefined,
) {
  const prefix = targets ? '' : `${name}_`;
  const { says, policies } = toPolicies(policy, `${prefix}own`);
  const { budget, policies: spending } = toBudget(budgetPolicy, `${prefix}spending`);
  // A denial ends the run, as in Protolink.
  const judged = { ...says, approvals: asks ? 'wait' : 'refuse', onDenied: 'fail' };
  const entries = (targets ?? []).map((each) => ({ name: each.name, initUserMessageProperty: 'prompt' }));
  const sideA = { prompt: `${prefix}task` };
  const agent = { name, sideA, policy: judged as object, ...budget };
  const asTool = {
    type: 'dual_ai',
    exposeAsTool: true,
    toolDescription: description,
    hooks: [ANSWERED],
  } as const;
  return {
    agent: targets ? defineAgent(agent) : defineAgent({ ...agent, ...asTool, sideB: sideA }),
    prompt: definePrompt({
      name: sideA.prompt,
      toolDescription: description,
      prompt: description,
      model: `${prefix}llm`,
      includeChat: true,
      includePastTools: true,
      ...(targets ? {} : { requiredSchema: z.object({ prompt: z.string() }) }),
      tools: [...Object.keys(tools), ...entries] as ToolEntryInput[],
    }),
    model: defineModel({
      model: 'result',
      ...llm,
      name: `${prefix}llm`,
      provider: withToolResultAnswers(llm?.provider),
    }),
    policies: { ...policies, ...spending },
  };
}
