/** What authors pass to `definePolicy`. Types alone; `define-policy.ts` checks them. */
import type { PolicyDefinition } from '../core/author/policy.ts';

export interface PolicyDefinitionInput {
  /**
   * Judges what an action is prepared to do, beside the rules of the agent. It may be stricter than a rule, never milder; where no rule covers an
   * action it decides. Nothing leaves it as it is. It has 30 seconds, may run more than once for a call, and must have no effect; where it
   * throws, the action is denied.
   */
  evaluate?: PolicyDefinition['evaluate'];
  /**
   * Judges what is about to be spent, beside the limits of the `budget` of the agent that names it: before each request to a model, and before each call
   * begins. It is asked where no limit denies, and may be stricter than one, never milder. `warn` is told in the log, `ask` wants an
   * approval, `deny` ends the execution with `BudgetExceeded`. The rest holds as for `evaluate`; where it throws, it denies.
   */
  evaluateBudget?: PolicyDefinition['evaluateBudget'];
}
