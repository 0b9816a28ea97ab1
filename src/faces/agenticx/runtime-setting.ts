/** Settings of AgenticX's runtime: its defaults, its environment variables, and their bounds. */
import { type StatusGuard, toStatusGuard } from '../../core/guard/status-query.ts';
import type { ModelTimeoutsInput } from '../../definitions/model-input.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The times that each variable sets. */
const TIMEOUT_VARIABLES: Readonly<Record<string, readonly (keyof ModelTimeoutsInput)[]>> = {
  AGX_LLM_INVOKE_TIMEOUT_SECONDS: ['firstChunkSeconds', 'plainSeconds'],
  AGX_LLM_HEARTBEAT_TIMEOUT_SECONDS: ['idleSeconds'],
  AGX_LLM_HARD_TIMEOUT_SECONDS: ['totalSeconds'],
  AGX_LLM_FIRST_FEEDBACK_SECONDS: ['feedbackSeconds'],
};

/** AgenticX's defaults; all other times have the engine's defaults. */
const DEFAULT_TIMEOUTS: ModelTimeoutsInput = { plainSeconds: 120, totalSeconds: 300 };

/**
 * The environment takes precedence over a model's own times, and those over AgenticX's defaults. Values that are not
 * numbers above 0 are ignored.
 */
export function toTimeouts(environment: Environment, given: ModelTimeoutsInput = {}): ModelTimeoutsInput {
  const set = Object.entries(TIMEOUT_VARIABLES).flatMap(([variable, names]) => {
    const seconds = Number(environment[variable]);
    return seconds > 0 && Number.isFinite(seconds) ? names.map((name) => [name, seconds]) : [];
  });
  return { ...DEFAULT_TIMEOUTS, ...given, ...Object.fromEntries(set) };
}

/**
 * Reads `AGX_MAX_TOOL_ROUNDS` as AgenticX's server does: 30 if it is unset or not a number, clamped to between 10 and
 * 120.
 * @example
 * ```ts
 * console.log(maxToolRoundsOf({ AGX_MAX_TOOL_ROUNDS: '500' })); // 120
 * ```
 */
export function maxToolRoundsOf(environment: Environment = process.env): number {
  const rounds = Number.parseInt(environment.AGX_MAX_TOOL_ROUNDS ?? '', 10);
  return Number.isNaN(rounds) ? 30 : Math.min(Math.max(rounds, 10), 120);
}

/**
 * Reads `AGX_STATUS_QUERY_BUDGET_PER_TURN` and `AGX_STATUS_QUERY_COOLDOWN_SECONDS` as AgenticX's server does, for
 * `guards.team` of an agent: 2 and 8 if they are unset or not numbers, a budget of at least 1, and no negative seconds.
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
