/**
 * The decisions of a task's loop, without the loop: what an adapter's answers mean, when a task has passed, when it is stuck, when its budget is
 * used up. Pure.
 * C1. An eval that fails and says nothing of its severity is an error: nothing passes by silence.
 * C2. Nothing passes that has not been measured: without evals the adapter decides.
 */
import type { TaskLimits } from './spec.ts';

export const EVAL_SEVERITIES = ['info', 'warning', 'error', 'critical'] as const;

export interface ControlEval {
  readonly id: string;
  readonly passed: boolean;
  /** 0 to 1. */
  readonly score?: number;
  /** Of a failure; `error` unless given. */
  readonly severity?: (typeof EVAL_SEVERITIES)[number];
  readonly detail?: string;
  readonly evidence?: string;
  readonly objective?: string;
}

export type TaskDecision<Action = unknown> =
  | { readonly kind: 'act'; readonly action: Action; readonly reason?: string }
  | {
      readonly kind: 'ask';
      /** For a person, in words. */
      readonly question: string;
      /** JSON that is shown beside it. */
      readonly data?: unknown;
      /** Milliseconds; without them it waits until somebody answers. */
      readonly expiresInMs?: number;
    }
  | {
      /** Goes on once a thread is at rest; what came of it is the outcome of the step. */
      readonly kind: 'await';
      readonly threadId: string;
    }
  | {
      readonly kind: 'stop';
      readonly pass: boolean;
      readonly reason: string;
      /** 0 to 1. */
      readonly score?: number;
      /** JSON: what came of it. */
      readonly outcome?: unknown;
    };

export const TASK_STOPS = ['policy', 'stop-policy', 'budget', 'abort', 'runtime-error', 'readiness'] as const;
/**
 * `policy`: the adapter decided. `stop-policy`: its `shouldStop`, or the evals. `budget`: steps, time, cost, or it was stuck. `readiness`: what it must
 * know is missing.
 */
export type StoppedBy = (typeof TASK_STOPS)[number];

export const TASK_ENDS = ['completed', 'blocked', 'failed', 'aborted'] as const;
export type TaskEnd = (typeof TASK_ENDS)[number];

export const TASK_STATES = ['running', 'waiting', ...TASK_ENDS] as const;

export type TaskLimitName =
  | 'maxSteps'
  | 'maxWallMs'
  | 'maxCostUsd'
  | 'maxNoProgressSteps'
  | 'maxRepeatedActions';

/** Why a task ends, and with what. */
export interface TaskVerdict {
  readonly stoppedBy: StoppedBy;
  readonly pass: boolean;
  readonly reason: string;
  readonly score?: number;
  /** Of a budget: which limit. */
  readonly limit?: TaskLimitName;
  /**
   * Of a failure that has one: `WorkerCrashed`, of a phase that has taken its worker down again and again; `ProducerLost`, of an adapter whose process was
   * lost.
   */
  readonly code?: string;
  readonly outcome?: unknown;
}

/** By what ended it, never by the words of a reason. */
export function endOf({ stoppedBy, pass }: Pick<TaskVerdict, 'stoppedBy' | 'pass'>): TaskEnd {
  if (stoppedBy === 'abort') return 'aborted';
  if (stoppedBy === 'readiness') return 'blocked';
  return pass ? 'completed' : 'failed';
}

/** Three decimals; undefined where no eval has one. */
export function meanScore(evals: readonly ControlEval[]): number | undefined {
  const scores = evals.flatMap(({ score }) =>
    typeof score === 'number' && Number.isFinite(score) ? [score] : [],
  );
  if (scores.length === 0) return undefined;
  return Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 1000) / 1000;
}

function fails({ passed, severity = 'error' }: ControlEval): boolean {
  // C1: silence is an error.
  return !passed && (severity === 'error' || severity === 'critical');
}

/** What an adapter without `shouldStop` stops by; undefined where it goes on. */
export function judgeEvals(evals: readonly ControlEval[]): TaskVerdict | undefined {
  // C2: nothing measured.
  if (evals.length === 0 || evals.some(fails)) return undefined;
  return { stoppedBy: 'stop-policy', pass: true, reason: 'all evals pass', score: meanScore(evals) };
}

/** Where the loop stands, before it decides. */
export interface TaskStanding {
  /** Steps done. */
  readonly steps: number;
  readonly spentCostUsd: number;
}

export function judgeCost(
  { spentCostUsd }: TaskStanding,
  { maxCostUsd }: TaskLimits,
): TaskVerdict | undefined {
  if (maxCostUsd === null || spentCostUsd < maxCostUsd) return undefined;
  return usedUp('maxCostUsd', maxCostUsd);
}

export function judgeSteps({ steps }: TaskStanding, { maxSteps }: TaskLimits): TaskVerdict | undefined {
  return steps < maxSteps ? undefined : usedUp('maxSteps', maxSteps);
}

/** The budget says no more: it has neither passed nor been aborted. */
export function usedUp(limit: TaskLimitName, max: number): TaskVerdict {
  return { stoppedBy: 'budget', pass: false, reason: `budget exhausted: ${limit}=${max}`, limit };
}

/** Off unless a definition sets them. */
export interface StuckGuards {
  /** Steps in a row after which the state is as before, and the score as good as. */
  readonly maxNoProgressSteps?: number;
  /** How often in a row the same action may be chosen. */
  readonly maxRepeatedActions?: number;
}

/** A state as it was measured. */
export interface Measured {
  /** Of the observed state. */
  readonly fingerprint: string;
  readonly score: number | null;
}

const SAME_SCORE = 0.001;

/** `measured`: the newest last, one for each step and the present one. */
export function judgeProgress(
  measured: readonly Measured[],
  { maxNoProgressSteps: most }: StuckGuards,
): TaskVerdict | undefined {
  if (most === undefined || measured.length <= most) return undefined;
  const newest = measured.slice(-(most + 1));
  const [first] = newest;
  const stuck = newest.every(
    ({ fingerprint, score }) =>
      fingerprint === first?.fingerprint && Math.abs((score ?? 0) - (first?.score ?? 0)) < SAME_SCORE,
  );
  return stuck ? usedUp('maxNoProgressSteps', most) : undefined;
}

/** `actions`: fingerprints, the newest last, the one that was chosen now among them. */
export function judgeRepetition(
  actions: readonly (string | null)[],
  { maxRepeatedActions: most }: StuckGuards,
): TaskVerdict | undefined {
  if (most === undefined || actions.length < most) return undefined;
  const newest = actions.slice(-most);
  const stuck = newest[0] !== null && newest.every((each) => each === newest[0]);
  return stuck ? usedUp('maxRepeatedActions', most) : undefined;
}

/** Beside the adapter's own evals: whether what must be known is known. */
export function readinessEval(score: number, ready: boolean): ControlEval {
  return {
    id: 'knowledge-ready',
    passed: ready,
    score,
    severity: 'info',
    detail: ready ? 'knowledge is ready' : `knowledge readiness ${score}`,
  };
}
