/** Settings of the page's runtime: its defaults, its variables of the environment, and their bounds. */
import { toRoundGuard } from '../core/guard/round.ts';
import { type StatusGuard, toStatusGuard } from '../core/guard/status-query.ts';
import type { ModelTimeoutsInput } from '../definitions/model-input.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable, and the times that it sets. */
const TIMES: Readonly<Record<string, readonly (keyof ModelTimeoutsInput)[]>> = {
  AGX_LLM_INVOKE_TIMEOUT_SECONDS: ['firstChunkSeconds', 'plainSeconds'],
  AGX_LLM_HEARTBEAT_TIMEOUT_SECONDS: ['idleSeconds'],
  AGX_LLM_HARD_TIMEOUT_SECONDS: ['totalSeconds'],
  AGX_LLM_FIRST_FEEDBACK_SECONDS: ['feedbackSeconds'],
};

/** As on the page; the times that it does not name otherwise are the engine's. */
const PAGE: ModelTimeoutsInput = { plainSeconds: 120, totalSeconds: 300 };

/** The environment comes before what a model says, and that before the page. What is no number above 0 is ignored. */
export function toTimeouts(environment: Environment, given: ModelTimeoutsInput = {}): ModelTimeoutsInput {
  const set = Object.entries(TIMES).flatMap(([variable, names]) => {
    const seconds = Number(environment[variable]);
    return seconds > 0 && Number.isFinite(seconds) ? names.map((name) => [name, seconds]) : [];
  });
  return { ...PAGE, ...given, ...Object.fromEntries(set) };
}

/**
 * As the page's server reads `AGX_MAX_TOOL_ROUNDS`: 30 where it is unset or no number, within 10 and 120.
 * @example
 * ```ts
 * console.log(maxToolRoundsOf({ AGX_MAX_TOOL_ROUNDS: '500' })); // 120
 * ```
 */
export function maxToolRoundsOf(environment: Environment = process.env): number {
  const rounds = Number.parseInt(environment.AGX_MAX_TOOL_ROUNDS ?? '', 10);
  return toRoundGuard(Number.isNaN(rounds) ? {} : { max: rounds }).max;
}

/**
 * As the page's server reads `AGX_STATUS_QUERY_BUDGET_PER_TURN` and `AGX_STATUS_QUERY_COOLDOWN_SECONDS`, for `guards.team` of an agent: 2 and 8 where they are unset or no
 * number, a budget of 1 at least and no seconds below 0.
 * @example
 * ```ts
 * console.log(statusQueryLimitsOf({ AGX_STATUS_QUERY_BUDGET_PER_TURN: '5' })); // { statusBudget: 5, statusCooldownSeconds: 8 }
 * ```
 */
export function statusQueryLimitsOf(environment: Environment = process.env): StatusGuard {
  const budget = Number.parseInt(environment.AGX_STATUS_QUERY_BUDGET_PER_TURN ?? '', 10);
  const seconds = Number.parseFloat(environment.AGX_STATUS_QUERY_COOLDOWN_SECONDS ?? '');
  return toStatusGuard({
    ...(Number.isFinite(budget) ? { statusBudget: budget } : {}),
    ...(Number.isFinite(seconds) ? { statusCooldownSeconds: seconds } : {}),
  });
}
