/** `definePolicy` (docs/governance.md): code that judges in addition to the rules or the budget limits of an agent. */
import { z } from 'zod';
import type { PolicyDefinition } from '../core/author/policy.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { custom } from './field.ts';

const judge = <Judge>(what: string) =>
  custom<Judge>(
    (value) => typeof value === 'function',
    `must be a function: (${what}, decision, context) => an effect, or nothing`,
  ).optional();

const policy = z
  .strictObject({
    evaluate: judge<NonNullable<PolicyDefinition['evaluate']>>('action'),
    evaluateBudget: judge<NonNullable<PolicyDefinition['evaluateBudget']>>('spending'),
  })
  .check((context) => {
    const { evaluate, evaluateBudget } = context.value;
    if (evaluate ?? evaluateBudget) return;
    const message = 'must be a function, unless evaluateBudget is one';
    context.issues.push({ code: 'custom', input: evaluate, path: ['evaluate'], message });
  });

const POLICY: FieldTable<typeof policy, PolicyDefinitionInput> = {
  what: 'definePolicy',
  fields: policy,
  rules: [],
  warnings: [],
  hints: {
    name: "a policy's name is the name of its file",
    rules: 'rules belong in the policy of an agent',
    execute: 'write evaluate',
    handler: 'write evaluate',
  },
};

/**
 * Defines a policy; the default export of a file in `agents/policies/`, whose name is the policy's name. Agents name it
 * as `policy: { evaluate: '…' }` or `budget: { evaluate: '…' }`. Throws an `InvalidDefinitions` error that lists every
 * problem.
 * @example
 * ```ts
 * export default definePolicy({
 *   evaluate: ({ artifacts = [] }) => (artifacts.length > 10 ? 'require_approval' : undefined),
 * });
 * ```
 */
export function definePolicy(input: PolicyDefinitionInput): PolicyDefinition {
  const { fields, warnings } = checkFields(POLICY, input);
  // Discovery names it after its file: `nameDefinition`.
  return markDefinition<PolicyDefinition>({ ...fields, kind: 'policy', name: '' }, warnings);
}

/** What authors pass to `definePolicy`. */
export interface PolicyDefinitionInput {
  /**
   * Judges a prepared action in addition to the rules of the agent. It can be stricter than a rule, never milder; if no
   * rule covers the action, it decides. If it returns nothing, the decision of the rules stands. It has 30 seconds, may
   * run more than once for a call, and must have no effect. If it throws, the action is denied.
   */
  evaluate?: PolicyDefinition['evaluate'];
  /**
   * Judges what is about to be spent, in addition to the limits of the `budget` that names it: before each request to a
   * model, and before each call begins. It runs only if no limit denies, and can be stricter than a limit, never
   * milder. `warn` logs a warning, `compact` summarises the history first, `ask` requires an approval, `deny` ends the
   * execution with `BudgetExceeded`. Otherwise the same applies as for `evaluate`; if it throws, it denies.
   */
  evaluateBudget?: PolicyDefinition['evaluateBudget'];
}
