/** `defineAgent` (definitions §7): the fields of an agent, with their defaults and checks. */

import { z } from 'zod';
import type { AgentDefinition } from '../core/author/definition.ts';
import { BUDGET_LIMITS } from '../core/governance/budget-line.ts';
import { WARN_AT } from '../core/governance/run-limit.ts';
import type { AgentInput, AgentInputFields, SideInput } from './agent-input.ts';
import { checkFields, type FieldTable, isFields, type RawFields, type Rule } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import {
  count,
  env,
  flag,
  isGiven,
  joinVariables,
  names,
  objectSchema,
  TENVS_WARNING,
  tenvs,
  text,
  variables,
} from './field.ts';
import { agentGuards } from './guards-field.ts';
import { policy } from './policy-field.ts';
import { checkArguments } from './tool-schema.ts';

const binding = z.preprocess(
  (value) => (typeof value === 'string' ? { name: value } : value),
  z.strictObject({ name: text, messageProperty: text.optional(), attachmentsProperty: text.optional() }),
);

const side = z
  .strictObject({
    prompt: text,
    label: text.optional(),
    stopOnResponse: flag.default(true),
    stopTool: text.optional(),
    stopToolResponseProperty: text.optional(),
    maxSteps: count.optional(),
    output: objectSchema.optional(),
    sessionStop: binding.optional(),
    sessionFail: binding.optional(),
    sessionStatus: binding.optional(),
    endSessionTool: binding.optional(),
    failSessionTool: binding.optional(),
    statusTool: binding.optional(),
  })
  .transform(({ endSessionTool, failSessionTool, statusTool, ...fields }) => ({
    ...fields,
    sessionStop: fields.sessionStop ?? endSessionTool,
    sessionFail: fields.sessionFail ?? failSessionTool,
    sessionStatus: fields.sessionStatus ?? statusTool,
  }));

const packaging = {
  packageName: text.optional(),
  version: text.optional(),
  author: text.optional(),
  license: text.optional(),
  tags: names.optional(),
};

const whole = z.int().nonnegative().optional();

/** Field `budget` of an agent: its limits, and the share of a limit at which a warning is logged. */
const budget = z
  .strictObject({
    maxSteps: whole,
    maxLlmCalls: whole,
    maxToolCalls: whole,
    maxInputTokens: whole,
    maxOutputTokens: whole,
    maxRuntimeSeconds: z.number().nonnegative().optional(),
    maxCost: z.number().nonnegative().optional(),
    evaluate: text.optional(),
    warnAt: z.number().min(0).max(1, { error: 'must be 1 or less' }).default(WARN_AT),
  })
  .check((context) => {
    if (BUDGET_LIMITS.some((limit) => context.value[limit] !== undefined)) return;
    context.issues.push({
      code: 'custom',
      input: context.value,
      path: [],
      message: `limits nothing: set one of ${BUDGET_LIMITS.join(', ')}, or leave it out`,
    });
  });

const agent = z.strictObject({
  name: text,
  type: z.enum(['ai_human', 'dual_ai']).default('ai_human'),
  sideA: side,
  sideB: side.optional(),
  maxSessionTurns: count.optional(),
  budget: budget.optional(),
  exposeAsTool: flag.default(false),
  toolDescription: text.optional(),
  title: text.optional(),
  description: z.string().optional(),
  icon: text.optional(),
  env: env.default({}),
  variables: variables.default([]),
  tenvs: tenvs.optional(),
  hooks: names.default([]),
  policy: policy.optional(),
  guards: agentGuards.optional(),
  supersede: z.strictObject({ note: z.boolean().optional() }).optional(),
  ...packaging,
});

/** Session bindings with their names before 0.1.0. */
const ALIASES = [
  ['sessionStop', 'endSessionTool'],
  ['sessionFail', 'failSessionTool'],
  ['sessionStatus', 'statusTool'],
] as const;

const sideOf = (input: RawFields, name: string): RawFields => {
  const value = input[name];
  return isFields(value) ? value : {};
};

const isDual = (input: RawFields) => input.type === 'dual_ai';

const sideRules = (name: string): Rule[] => [
  {
    field: `${name}.stopToolResponseProperty`,
    message: 'names an argument of stopTool, which is not set',
    holds: (input) =>
      isGiven(sideOf(input, name).stopToolResponseProperty) && !isGiven(sideOf(input, name).stopTool),
  },
  {
    field: `${name}.output`,
    message:
      'has no effect in a dual_ai agent: the arguments of its sessionStop tool are the type of its result',
    holds: (input) => isDual(input) && isGiven(sideOf(input, name).output),
  },
  ...ALIASES.map(([field, old]) => ({
    field: `${name}.${old}`,
    message: `is the deprecated name of ${field}, which is also set: keep ${field}`,
    holds: (input: RawFields) => isGiven(sideOf(input, name)[old]) && isGiven(sideOf(input, name)[field]),
  })),
];

const aliasWarnings = (name: string): Rule[] =>
  ALIASES.map(([field, old]) => ({
    field: `${name}.${old}`,
    message: `is deprecated: use ${field}`,
    holds: (input) => isGiven(sideOf(input, name)[old]),
  }));

/** Both types of agents in one; a rule below requires `sideB` where its type does. */
interface WrittenAgent extends AgentInputFields {
  type?: AgentInput['type'];
  sideB?: SideInput;
}

const AGENT: FieldTable<typeof agent, WrittenAgent> = {
  what: 'defineAgent',
  fields: agent,
  rules: [
    {
      field: 'sideB',
      message: 'is required for a dual_ai agent: the second AI',
      holds: (input) => isDual(input) && !isGiven(input.sideB),
    },
    {
      field: 'toolDescription',
      message: 'is required with exposeAsTool: models read it to choose the tool',
      holds: (input) => input.exposeAsTool === true && !isGiven(input.toolDescription),
    },
    ...sideRules('sideA'),
    ...sideRules('sideB'),
  ],
  warnings: [
    {
      field: 'maxSessionTurns',
      message: 'is not set: only its session tools end a dual_ai agent',
      holds: (input) => isDual(input) && !isGiven(input.maxSessionTurns),
    },
    {
      field: 'maxSessionTurns',
      message: 'has no effect: only dual_ai agents have session turns',
      holds: (input) => !isDual(input) && isGiven(input.maxSessionTurns),
    },
    {
      field: 'sideB',
      message: 'has no effect: side B of an ai_human agent is a person',
      holds: (input) => !isDual(input) && isGiven(input.sideB),
    },
    ...aliasWarnings('sideA'),
    ...aliasWarnings('sideB'),
    TENVS_WARNING,
  ],
  more: (fields) => checkArguments(sideOf(fields, 'sideA').output, 'sideA.output'),
  hints: {
    defaultPrompt: 'write prompt',
    defaultModel: 'the model is a field of the prompt',
    tools: 'tools are a field of the prompt',
    model: 'the model is a field of the prompt',
  },
};

/**
 * Defines an agent; the default export of a file in `agents/agents/`.
 * Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineAgent({
 *   name: 'assistant',
 *   sideA: { prompt: 'talk' },
 * });
 * ```
 */
export function defineAgent(input: AgentInput): AgentDefinition {
  const { fields, warnings } = checkFields(AGENT, input);
  const { tenvs: old, ...kept } = fields;
  const definition: AgentDefinition = {
    ...kept,
    kind: 'agent',
    env: { ...old?.env, ...kept.env },
    variables: joinVariables(kept.variables, old),
  };
  // Normalised here too: `asWritten` merges the written form over the normal one, which a short form would not fit.
  const written = {
    ...input,
    ...(definition.policy && { policy: definition.policy }),
    ...(definition.guards && { guards: definition.guards }),
  };
  return markDefinition(definition, warnings, written);
}
