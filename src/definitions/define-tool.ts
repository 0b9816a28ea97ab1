/** `defineTool` (definitions §8): the fields of a tool, with their defaults and checks. */
import { z } from 'zod';
import type { ToolDefinition } from '../core/author/registry.ts';
import type { AnyThreadState, ThreadState } from '../core/author/thread-state.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import {
  count,
  custom,
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
import { capabilities } from './policy-field.ts';
import type { DefinedTool, ToolArguments, ToolInput } from './tool-input.ts';
import { checkArguments, toParameters } from './tool-schema.ts';

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

const tool = z.strictObject({
  description: text,
  version: text.optional(),
  args: objectSchema.optional(),
  execute: custom<ToolDefinition['execute']>(
    (value) => typeof value === 'function',
    'must be a function: (state, args) => result',
  ),
  variables: variables.default([]),
  tenvs: tenvs.optional(),
  uses: names.optional(),
  executionMode: z.enum(['local', 'provider']).default('local'),
  executionProvider: text.optional(),
  idempotent: flag.optional(),
  quick: flag.default(false),
  parallel: flag.default(false),
  activity: z.literal('own', "must be 'own'").optional(),
  asks: flag.default(false),
  timeoutMs: count.default(DEFAULT_TIMEOUT_MS),
  capabilities: capabilities.optional(),
  grantable: z.literal(false, 'must be false, or absent').optional(),
  approvalTimeoutMs: count.optional(),
  confirm: custom<NonNullable<ToolDefinition['confirm']>>(
    (value) => value === true || typeof value === 'function',
    'must be true, or a function: (args) => the text to confirm, or null',
  ).optional(),
  prepareAction: custom<NonNullable<ToolDefinition['prepareAction']>>(
    (value) => typeof value === 'function',
    'must be a function: (args, context) => what the call would do',
  ).optional(),
});

const TOOL: FieldTable<typeof tool, ToolInput<ToolArguments>> = {
  what: 'defineTool',
  fields: tool,
  rules: [
    {
      field: 'parallel',
      message:
        'is true, but a tool whose calls run beside each other must be idempotent and only read: set idempotent: true if it may run again after a lost worker, and leave out parallel if it changes anything',
      holds: ({ parallel, idempotent, quick }) => parallel === true && !(idempotent ?? quick === true),
    },
    {
      field: 'parallel',
      message: 'is true, but a tool that asks people cannot run beside others',
      holds: ({ parallel, asks }) => parallel === true && asks === true,
    },
    {
      field: 'parallel',
      message: 'has no effect on a tool that a provider runs',
      holds: ({ parallel, executionMode }) => parallel === true && executionMode === 'provider',
    },
    {
      field: 'asks',
      message: 'is true, but a quick tool cannot wait for a person',
      holds: ({ asks, quick }) => asks === true && quick === true,
    },
    {
      field: 'activity',
      message: "is 'own', but a quick tool runs within the step that calls it",
      holds: ({ activity, quick }) => activity === 'own' && quick === true,
    },
    {
      field: 'asks',
      message: 'has no effect on a tool that a provider runs',
      holds: ({ asks, executionMode }) => asks === true && executionMode === 'provider',
    },
    {
      field: 'executionProvider',
      message: "has no effect without executionMode: 'provider'",
      holds: (input) => isGiven(input.executionProvider) && input.executionMode !== 'provider',
    },
  ],
  warnings: [TENVS_WARNING],
  hints: {
    name: "a tool's name is the name of its file",
    parameters: 'write args: z.object({ … })',
    inputSchema: 'write args: z.object({ … })',
    schema: 'write args: z.object({ … })',
    handler: 'write execute',
    run: 'write execute',
  },
  more: ({ args }) => checkArguments(args, 'args'),
};

/**
 * Defines a tool; the default export of a file in `agents/tools/`, whose name is the tool's name.
 * The type of `args` in `execute` follows from the schema.
 * Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineTool({
 *   description: 'Finds an order.',
 *   args: z.object({ id: z.string() }),
 *   idempotent: true,
 *   execute: async (state, { id }) => ({ status: 'success', result: `order ${id} of ${state.userId}` }),
 * });
 * ```
 */
export function defineTool<
  Args extends ToolArguments | undefined = undefined,
  State extends AnyThreadState = ThreadState,
>(input: ToolInput<Args, State>): DefinedTool<Args, State> {
  const { fields, warnings } = checkFields(TOOL, input);
  const { tenvs: old, asks, parallel, ...kept } = fields;
  const definition: ToolDefinition = {
    ...kept,
    kind: 'tool',
    // Discovery names it after its file: `nameDefinition`.
    name: '',
    parameters: toParameters(kept.args),
    variables: joinVariables(kept.variables, old),
    idempotent: kept.idempotent ?? kept.quick,
    ...(asks ? { asks } : {}),
    ...(parallel ? { parallel } : {}),
  };
  return markDefinition(definition, warnings) as DefinedTool<Args, State>;
}

export const TOOL_NAME = /^[a-z][a-z0-9_]*[a-z0-9]$/;
