/** `defineEffect` (definitions §10): takes positional arguments, as in the contract, or one object (§22 item 37). */

import { z } from 'zod';
import type { EffectDefinition } from '../core/author/effect.ts';
import type { AnyThreadState, ThreadState } from '../core/author/thread-state.ts';
import { checkFields, type FieldTable, isFields } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { custom, objectSchema, text } from './field.ts';
import type { ParsedArguments, ToolArguments } from './tool-input.ts';

const effect = z.strictObject({
  description: text,
  args: objectSchema.optional(),
  execute: custom<EffectDefinition['execute']>(
    (value) => typeof value === 'function',
    'must be a function: (state, args) => …',
  ),
});

const EFFECT: FieldTable<typeof effect, EffectInput<ToolArguments>> = {
  what: 'defineEffect',
  fields: effect,
  rules: [],
  warnings: [],
  hints: {
    name: "an effect's name is the name of its file",
    argsSchema: 'write args: z.object({ … })',
    schema: 'write args: z.object({ … })',
    handler: 'write execute',
    delay: 'pass the delay to state.scheduleEffect',
  },
};

/**
 * Defines an effect; the default export of a file in `agents/effects/`, whose name is the effect's name. Threads schedule it
 * with `state.scheduleEffect`. The type of `args` in the handler follows from the schema.
 * Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineEffect('Reminds the user.', z.object({ text: z.string() }), async (state, { text }) => {
 *   await state.queueMessage({ role: 'user', content: `Remind me now: ${text}` });
 * });
 * ```
 */
export function defineEffect<State extends AnyThreadState = ThreadState>(
  description: string,
  handler: ExecuteEffect<undefined, State>,
): EffectDefinition;
export function defineEffect<
  Args extends ToolArguments | undefined,
  State extends AnyThreadState = ThreadState,
>(description: string, argsSchema: Args, handler: ExecuteEffect<Args, State>): EffectDefinition;
export function defineEffect<
  Args extends ToolArguments | undefined = undefined,
  State extends AnyThreadState = ThreadState,
>(input: EffectInput<Args, State>): EffectDefinition;
export function defineEffect(...given: readonly unknown[]): EffectDefinition {
  const { fields, warnings } = checkFields(EFFECT, toInput(given));
  // Discovery names it after its file: `nameDefinition`.
  return markDefinition<EffectDefinition>({ ...fields, kind: 'effect', name: '' }, warnings);
}

/** Converts positional arguments to the object form, so that problems can name fields. */
function toInput([first, second, third]: readonly unknown[]): unknown {
  if (isFields(first)) return first;
  if (third === undefined && typeof second === 'function') return { description: first, execute: second };
  return { description: first, args: second, execute: third };
}

/**
 * Handler that runs when the effect is due; `args` are parsed, with defaults filled in.
 */
export type ExecuteEffect<
  Args extends ToolArguments | undefined,
  State extends AnyThreadState = ThreadState,
> = [Args] extends [ToolArguments]
  ? (state: State, args: ParsedArguments<Args>) => Promise<void> | void
  : (state: State, noArguments: undefined) => Promise<void> | void;

/** The object form of `defineEffect`. */
export interface EffectInput<
  Args extends ToolArguments | undefined = undefined,
  State extends AnyThreadState = ThreadState,
> {
  /** A description for people. */
  description: string;
  /** A `z.object(…)`; without it the effect takes no arguments. Checked when the effect runs. */
  args?: Args;
  /** Runs at least once for each time it is scheduled, so a second run should do no harm. */
  execute: ExecuteEffect<Args, State>;
}
