/**
 * Safety limits (runtime §6.4, §15): whether a side may take one more step. Checked before a step begins, for the side
 * that would take it, and after a step, for the side that would act next, with the same limits. Steps of queued tools
 * are limited like those of a model.
 * L1. Steps are counted from the outside input that began them. Work that a thread's own code queues continues the
 *     count of the execution that queued it; otherwise each execution that such work begins would have its own limits.
 * - Immediate subagents (runtime §7.3) are made once, before a side's first step: their steps do not count.
 */
import type { Side } from '../author/thread-execution.ts';
import { LIMITS } from '../value/limit.ts';
import type { SideSteps } from './session.ts';

/** The limits that an agent defines. */
export interface StepLimits {
  readonly maxSteps: Readonly<Partial<Record<Side, number>>>;
  /** Only for an agent with two AI sides. */
  readonly maxSessionTurns?: number;
}

/** The counts that limits are compared with. */
export interface Progress {
  /** L1. Steps of each side. */
  readonly sideSteps: SideSteps;
  /** Completed turns of both sides of the session. */
  readonly turns: number;
}

export type LimitReason = 'max_session_turns' | 'max_side_steps' | 'max_total_steps';

const REASONS: ReadonlySet<string> = new Set<LimitReason>([
  'max_session_turns',
  'max_side_steps',
  'max_total_steps',
]);

export function isLimitReason(reason: string | undefined): reason is LimitReason {
  return reason !== undefined && REASONS.has(reason);
}

/** Error codes of executions that were cut off: otherwise another step would have followed. */
const CUT_OFF_CODES: ReadonlySet<string> = new Set([
  'BudgetExceeded',
  'HelpRefused',
  'LoopDetected',
  'RoundsExhausted',
]);

/**
 * True if an execution ended because a limit forbids what would come next: a limit of steps, of its budget, or of a
 * guard. Items that its own code has queued are then shelved.
 */
export function isUsedUp(rest: {
  readonly reason?: string;
  readonly error?: { readonly code: string } | undefined;
}): boolean {
  return isLimitReason(rest.reason) || (rest.error !== undefined && CUT_OFF_CODES.has(rest.error.code));
}

/** Returns why `side` may not take another step; undefined if it may. */
export function findLimit(
  { maxSteps, maxSessionTurns = Number.POSITIVE_INFINITY }: StepLimits,
  { sideSteps, turns }: Progress,
  side: Side,
): LimitReason | undefined {
  if (turns >= maxSessionTurns) return 'max_session_turns';
  if (sideSteps[side] >= (maxSteps[side] ?? Number.POSITIVE_INFINITY)) return 'max_side_steps';
  const cap = Math.max(LIMITS.stepsPerExecution, maxSteps.a ?? 0, maxSteps.b ?? 0);
  return sideSteps.a + sideSteps.b >= cap ? 'max_total_steps' : undefined;
}
