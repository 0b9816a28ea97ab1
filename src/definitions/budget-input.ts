/** What authors write as the `budget` of an agent. Types alone; `budget-field.ts` checks them. */

/** Each limit is a number from 0 up; one that is absent limits nothing. */
export interface BudgetInput {
  /** Steps: of a model, of queued tools, and of sub-prompts. */
  maxSteps?: number;
  /** Requests to models: each try and each fallback is one. */
  maxLlmCalls?: number;
  /** Calls of tools, prompts and agents that have begun. */
  maxToolCalls?: number;
  /** Tokens that requests to models take, as their providers count them. */
  maxInputTokens?: number;
  /** Tokens that models answer with: no request may bring more than what remains. */
  maxOutputTokens?: number;
  /** Seconds during which it works, or a subagent of it does: not while it waits for people. A request or a tool that runs then is cut off. */
  maxRuntimeSeconds?: number;
  /** US dollars, by the prices of the models: each that the agent may ask must have `inputPrice` and `outputPrice`. */
  maxCost?: number;
  /** A policy of `agents/policies` by its name, whose `evaluateBudget` judges beside the limits what threads of this agent spend; see `definePolicy`. */
  evaluate?: string;
  /** The part of a limit at which `budget.warning` is told, from 0 to 1; 0 never warns; default 0.8. */
  warnAt?: number;
}
