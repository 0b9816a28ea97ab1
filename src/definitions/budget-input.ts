/** What authors write as the `budget` of an agent. Types alone; `define-agent.ts` checks them. */

/** Each limit is 0 or more; an absent limit means unlimited. */
export interface BudgetInput {
  /** Number of steps: of a model, of queued tools, and of sub-prompts. */
  maxSteps?: number;
  /** Number of requests to models; each retry and each fallback counts. */
  maxLlmCalls?: number;
  /** Number of calls of tools, prompts and agents that have begun. */
  maxToolCalls?: number;
  /** Input tokens of requests to models, as counted by their providers. */
  maxInputTokens?: number;
  /** Output tokens of models. No request may produce more than what remains. */
  maxOutputTokens?: number;
  /**
   * Seconds during which the agent or one of its subagents works; waiting for people does not count. When they are used
   * up, a running request or tool is cut off.
   */
  maxRuntimeSeconds?: number;
  /** US dollars. Every model that the agent may use must have the prices `inputPrice` and `outputPrice`. */
  maxCost?: number;
  /**
   * Name of a policy of `agents/policies` whose `evaluateBudget` judges what threads of this agent spend, in addition
   * to the limits; see `definePolicy`.
   */
  evaluate?: string;
  /** The share of a limit at which `budget.warning` is logged, from 0 to 1; 0 never warns; default 0.8. */
  warnAt?: number;
}
