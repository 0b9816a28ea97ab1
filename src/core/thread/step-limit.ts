/**
 * Safety limits (runtime §6.4, §15): whether a side may take one more step. Asked before a step begins, of the side that would take
 * it, and after a step, of the side that would act next: the same limits bind both, and steps of queued tools as those of a model.
 * L1. Steps count from the input from outside that began them. Work that a thread's own code queues goes on with the count of the
 *     execution that queued it, else each execution that such work begins would have limits of its own.
 * L2. Immediate subagents (runtime §7.3) are made once, before a side's first step: their steps do not count.
 */
import type { Side } from '../author/thread-execution.ts';
import { LIMITS } from '../value/limit.ts';
import type { SideSteps } from './session.ts';

/** As an agent defines them. */
export interface StepLimits {
  readonly maxSteps: Readonly<Partial<Record<Side, number>>>;
  /** Only of an agent with two AI sides. */
  readonly maxSessionTurns?: number;
}

/** How far a thread has come. */
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

/** With these an execution ends that was cut off: something else would have come next. */
const CUT_OFF: ReadonlySet<string> = new Set([
  'BudgetExceeded',
  'HelpRefused',
  'LoopDetected',
  'RoundsExhausted',
]);

/** An execution ended since a limit forbids what would come next: of steps, of its budget, of a guard. What its own code has queued waits for others. */
export function isUsedUp(rest: {
  readonly reason?: string;
  readonly error?: { readonly code: string } | undefined;
}): boolean {
  return isLimitReason(rest.reason) || (rest.error !== undefined && CUT_OFF.has(rest.error.code));
}

/** Why `side` may not take another step; undefined where it may. */
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
