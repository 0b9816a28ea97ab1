/** `defineHook` (definitions §9): the fields of a hook, with their checks. */

import { z } from 'zod';
import { HOOK_NAMES, type HookDefinition, type HookName, type HookSignatures } from '../core/author/hook.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { custom, text } from './field.ts';

const hook = z.strictObject({
  hook: z.enum(HOOK_NAMES),
  id: text,
  priority: z.number().optional(),
  execute: custom<HookDefinition['execute']>(
    (value) => typeof value === 'function',
    'must be a function: (state, …) => what the hook may return',
  ),
});

const SNAKE_CASE = /^[a-z][a-z0-9_]*$/;

const HOOK: FieldTable<typeof hook, HookInput<HookName>> = {
  what: 'defineHook',
  fields: hook,
  rules: [],
  warnings: [
    {
      field: 'id',
      message: 'should be snake_case: lower-case letters, digits and _, starting with a letter',
      holds: ({ id }) => typeof id === 'string' && !SNAKE_CASE.test(id),
    },
  ],
  hints: {
    name: 'write id',
    type: 'write hook, the point of the thread at which it runs',
    handler: 'write execute',
    run: 'write execute',
  },
  identity: 'id',
};

/**
 * Defines a hook; the default export of a file in `agents/hooks/`. It runs for prompts and agents that list its id.
 * The types of `execute` follow from `hook`.
 * Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineHook({
 *   hook: 'filter_messages',
 *   id: 'newest_fifty',
 *   execute: (_state, messages) => messages.slice(-50),
 * });
 * ```
 */
export function defineHook<Name extends HookName>(input: HookInput<Name>): HookDefinition<Name> {
  const { fields, warnings } = checkFields(HOOK, input);
  // The table has one type for all hooks; the input has the type of this one.
  const { hook: point, priority, execute } = fields as HookInput<Name>;
  const definition: HookDefinition<Name> = {
    kind: 'hook',
    name: fields.id,
    hook: point,
    ...(priority === undefined ? {} : { priority }),
    execute,
  };
  return markDefinition(definition, warnings);
}

/** What authors pass to `defineHook` (definitions §9). */
export interface HookInput<Name extends HookName> {
  /** The point of a thread's life at which it runs. */
  hook: Name;
  /** Its identity: it runs only for prompts and agents that list it under `hooks`. snake_case advised. */
  id: string;
  /** Hooks with a higher priority run first; those with equal priority run in the order of the list. Default 0. */
  priority?: number;
  /**
   * Its arguments and result depend on `hook`. An error that it throws is logged, and the chain continues;
   * docs/hooks.md lists the exceptions.
   */
  execute: HookSignatures[Name];
}
