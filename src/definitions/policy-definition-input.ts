/** What authors pass to `definePolicy`. Types alone; `define-policy.ts` checks them. */
import type { PolicyDefinition } from '../core/author/policy.ts';

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
