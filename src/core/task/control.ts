/**
 * The decisions of a task's loop, without the loop: what an adapter's answers mean, when a task has passed, is stuck,
 * or has used up its budget. Pure.
 * - A failed eval without a severity counts as an error, so that nothing passes by omission.
 * - Nothing passes without having been measured: if there are no evals, the adapter decides.
 */
import { toPico } from '../value/money.ts';
import type { TaskLimits } from './spec.ts';

export const EVAL_SEVERITIES = ['info', 'warning', 'error', 'critical'] as const;

export interface ControlEval {
  readonly id: string;
  readonly passed: boolean;
  /** 0 to 1. */
  readonly score?: number;
  /** Severity of a failure. Default: `error`. */
  readonly severity?: (typeof EVAL_SEVERITIES)[number];
  readonly detail?: string;
  readonly evidence?: string;
  readonly objective?: string;
}

export type TaskDecision<Action = unknown> =
  | { readonly kind: 'act'; readonly action: Action; readonly reason?: string }
  | {
      readonly kind: 'ask';
      /** The question, worded for a person. */
      readonly question: string;
      /** JSON that is shown with the question. */
      readonly data?: unknown;
      /** Milliseconds until the question expires; absent: it waits for an answer without limit. */
      readonly expiresInMs?: number;
    }
  | {
      /** Waits until a thread is at rest; the thread's outcome is the outcome of the step. */
      readonly kind: 'await';
      readonly threadId: string;
    }
  | {
      readonly kind: 'stop';
      readonly pass: boolean;
      readonly reason: string;
      /** 0 to 1. */
      readonly score?: number;
      /** JSON: the outcome of the task. */
      readonly outcome?: unknown;
    };

export const TASK_STOPS = ['policy', 'stop-policy', 'budget', 'abort', 'runtime-error', 'readiness'] as const;
/**
 * `policy`: the adapter's `decide`. `stop-policy`: its `shouldStop`, or the evals. `budget`: steps, time or cost are
 * used up, or the task was stuck. `readiness`: required knowledge is missing.
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

/** Why a task ends, and its outcome. */
export interface TaskVerdict {
  readonly stoppedBy: StoppedBy;
  readonly pass: boolean;
  readonly reason: string;
  readonly score?: number;
  /** The limit that was reached, if `stoppedBy` is `budget`. */
  readonly limit?: TaskLimitName;
  /**
   * Error code, for failures that have one. `WorkerCrashed`: a phase has repeatedly taken its worker down.
   * `ProducerLost`: the process of the adapter was lost.
   */
  readonly code?: string;
  readonly outcome?: unknown;
}

/** Derives the end from `stoppedBy` and `pass`, never from the text of the reason. */
export function endOf({ stoppedBy, pass }: Pick<TaskVerdict, 'stoppedBy' | 'pass'>): TaskEnd {
  if (stoppedBy === 'abort') return 'aborted';
  if (stoppedBy === 'readiness') return 'blocked';
  return pass ? 'completed' : 'failed';
}

/** Rounded to three decimals; undefined if no eval has a score. */
export function meanScore(evals: readonly ControlEval[]): number | undefined {
  const scores = evals.flatMap(({ score }) =>
    typeof score === 'number' && Number.isFinite(score) ? [score] : [],
  );
  if (scores.length === 0) return undefined;
  return Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 1000) / 1000;
}

function isFailedEval({ passed, severity = 'error' }: ControlEval): boolean {
  // A missing severity is an error.
  return !passed && (severity === 'error' || severity === 'critical');
}

/** The verdict for an adapter without `shouldStop`; undefined if the task goes on. */
export function judgeEvals(evals: readonly ControlEval[]): TaskVerdict | undefined {
  if (evals.length === 0 || evals.some(isFailedEval)) return undefined;
  return { stoppedBy: 'stop-policy', pass: true, reason: 'all evals pass', score: meanScore(evals) };
}

/** Progress of the loop before it decides. */
export interface TaskProgress {
  /** Steps done. */
  readonly steps: number;
  readonly spentCostUsd: number;
}

export function judgeCost(
  { spentCostUsd }: TaskProgress,
  { maxCostUsd }: TaskLimits,
): TaskVerdict | undefined {
  if (maxCostUsd === null || toPico(spentCostUsd) < toPico(maxCostUsd)) return undefined;
  return toExhaustedVerdict('maxCostUsd', maxCostUsd);
}

export function judgeSteps({ steps }: TaskProgress, { maxSteps }: TaskLimits): TaskVerdict | undefined {
  return steps < maxSteps ? undefined : toExhaustedVerdict('maxSteps', maxSteps);
}

/** The verdict when a limit is reached: the task has not passed, and was not aborted. */
export function toExhaustedVerdict(limit: TaskLimitName, max: number): TaskVerdict {
  return { stoppedBy: 'budget', pass: false, reason: `budget exhausted: ${limit}=${max}`, limit };
}

/** Guards against a task that is stuck. Each is off unless the definition sets it. */
export interface StuckGuards {
  /** The task ends after this many consecutive steps without a change of state, or of score by 0.001 or more. */
  readonly maxNoProgressSteps?: number;
  /** The task ends when the same action is chosen this many times in a row. */
  readonly maxRepeatedActions?: number;
}

/** An observed state and its score. */
export interface Measured {
  /** Fingerprint of the observed state. */
  readonly fingerprint: string;
  readonly score: number | null;
}

const SAME_SCORE = 0.001;

/** `measured`: one entry for each step and one for the present state, newest last. */
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
  return stuck ? toExhaustedVerdict('maxNoProgressSteps', most) : undefined;
}

/** `actions`: fingerprints of the chosen actions, newest last, including the one just chosen. */
export function judgeRepetition(
  actions: readonly (string | null)[],
  { maxRepeatedActions: most }: StuckGuards,
): TaskVerdict | undefined {
  if (most === undefined || actions.length < most) return undefined;
  const newest = actions.slice(-most);
  const stuck = newest[0] !== null && newest.every((each) => each === newest[0]);
  return stuck ? toExhaustedVerdict('maxRepeatedActions', most) : undefined;
}

/** An eval in addition to the adapter's own: whether the required knowledge is known. */
export function readinessEval(score: number, ready: boolean): ControlEval {
  return {
    id: 'knowledge-ready',
    passed: ready,
    score,
    severity: 'info',
    detail: ready ? 'knowledge is ready' : `knowledge readiness ${score}`,
  };
}
