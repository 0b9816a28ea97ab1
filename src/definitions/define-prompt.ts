/** `definePrompt` (definitions §6): the fields of a prompt, with their defaults and checks. */
import { z } from 'zod';
import type { PromptDefinition, PromptPart } from '../core/author/definition.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import {
  count,
  env,
  flag,
  isGiven,
  joinVariables,
  names,
  objectSchema,
  options,
  TENVS_WARNING,
  tenvs,
  text,
  variables,
} from './field.ts';
import { guards } from './guards-field.ts';
import type { PromptInput } from './prompt-input.ts';
import { toolEntry } from './tool-entry.ts';
import { checkArguments } from './tool-schema.ts';

/** The first three types are those of the contract; the others belong to older versions and are converted. */
const part = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text'), content: z.string() }),
    z.strictObject({ type: z.literal('include'), prompt: text }),
    z.strictObject({ type: z.literal('env'), property: text }),
    z.strictObject({ type: z.literal('string'), value: z.string() }),
    z.strictObject({ type: z.literal('prompt'), id: text, label: z.string().optional() }),
    z.strictObject({ type: z.literal('variable'), value: text }),
  ])
  .transform((given): PromptPart => {
    if (given.type === 'string') return { type: 'text', content: given.value };
    if (given.type === 'prompt') return { type: 'include', prompt: given.id };
    if (given.type === 'variable') return { type: 'text', content: `{{${given.value}}}` };
    return given;
  });

const parts = z.preprocess(
  (value) => (typeof value === 'string' ? [{ type: 'text', content: value }] : value),
  z.array(part),
);

const reasoning = z.strictObject({
  effort: z.enum(['low', 'medium', 'high']).optional(),
  maxTokens: count.optional(),
  exclude: flag.optional(),
  include: flag.optional(),
});

const prompt = z.strictObject({
  name: text,
  toolDescription: text,
  prompt: parts,
  model: text,
  includeChat: flag.default(false),
  includePastTools: flag.default(false),
  parallelToolCalls: flag.default(false),
  toolChoice: z.enum(['auto', 'none', 'required']).default('auto'),
  requiredSchema: objectSchema.optional(),
  output: objectSchema.optional(),
  tools: z.array(toolEntry).default([]),
  variables: variables.default([]),
  env: env.default({}),
  tenvs: tenvs.optional(),
  reasoning: reasoning.optional(),
  recentImageThreshold: z.int().nonnegative().default(10),
  providerOptions: options.default({}),
  hooks: names.default([]),
  guards: guards.optional(),
  exposeAsTool: flag.optional(),
});

const PROMPT: FieldTable<typeof prompt, PromptInput> = {
  what: 'definePrompt',
  fields: prompt,
  rules: [],
  warnings: [
    {
      field: 'exposeAsTool',
      message: 'is deprecated and ignored: every prompt can be called',
      holds: (input) => isGiven(input.exposeAsTool),
    },
    TENVS_WARNING,
  ],
  hints: {
    system: 'write prompt, the system text',
    instructions: 'write prompt, the system text',
    description: 'write toolDescription',
    args: 'write requiredSchema',
  },
  more: ({ requiredSchema, output }) => [
    ...checkArguments(requiredSchema, 'requiredSchema'),
    ...checkArguments(output, 'output'),
  ],
};

/**
 * Defines a prompt; the default export of a file in `agents/prompts/`.
 * Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default definePrompt({
 *   name: 'talk',
 *   toolDescription: 'Talks with a person.',
 *   prompt: 'You help {{name}} with their orders.',
 *   model: 'main',
 *   includeChat: true,
 *   tools: ['refund'],
 * });
 * ```
 */
export function definePrompt(input: PromptInput): PromptDefinition {
  const { fields, warnings } = checkFields(PROMPT, input);
  const { tenvs: old, exposeAsTool: _ignored, ...kept } = fields;
  const definition: PromptDefinition = {
    ...kept,
    kind: 'prompt',
    env: { ...old?.env, ...kept.env },
    variables: joinVariables(kept.variables, old),
  };
  const written = definition.guards ? { ...input, guards: definition.guards } : input;
  return markDefinition(definition, warnings, written);
}
