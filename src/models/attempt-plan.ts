/**
 * Decides what follows a failed attempt at a model call (definitions §4): the same model again after a pause, the next
 * fallback, or the end. Pure; `call-model.ts` carries it out.
 */

import type { ProviderError } from '../core/message/provider.ts';
import { MODEL_TIMEOUTS, type ModelTimeouts } from '../core/value/limit.ts';
import { isRetryable } from './classify.ts';

/** All times in milliseconds. */
export interface AttemptLimits {
  /** Pauses before the retries of one model; their number is the number of retries. */
  readonly retryDelaysMs: readonly number[];
  /** The longest pause that a provider's retry-after may impose. */
  readonly maxRetryAfterMs: number;
  /** From the request to the first chunk of its stream. */
  readonly firstChunkMs: number;
  /** Between two chunks. */
  readonly betweenChunksMs: number;
  /** From the request to the end of its stream. */
  readonly totalMs: number;
  /** A whole answer that is not streamed. */
  readonly generateMs: number;
}

export const DEFAULT_ATTEMPT_LIMITS: AttemptLimits = {
  retryDelaysMs: [1000, 2000],
  maxRetryAfterMs: 60_000,
  ...toMilliseconds(MODEL_TIMEOUTS),
};

/** The defaults, overridden by the timeouts of the model's definition. */
export function limitsOf(timeouts: ModelTimeouts = {}): AttemptLimits {
  return { ...DEFAULT_ATTEMPT_LIMITS, ...toMilliseconds({ ...MODEL_TIMEOUTS, ...timeouts }) };
}

function toMilliseconds({
  firstChunkSeconds,
  idleSeconds,
  totalSeconds,
  plainSeconds,
}: Required<ModelTimeouts>) {
  return {
    firstChunkMs: firstChunkSeconds * 1000,
    betweenChunksMs: idleSeconds * 1000,
    totalMs: totalSeconds * 1000,
    generateMs: plainSeconds * 1000,
  };
}

export interface FailedAttempt {
  readonly error: ProviderError;
  /** One of our own deadlines ended it. */
  readonly stalled: boolean;
  /** Attempts made with this model, this one included. */
  readonly tries: number;
  /** Models not tried yet. */
  readonly modelsLeft: number;
}

export type NextMove =
  | { readonly next: 'retry'; readonly willRetryInMs: number }
  | { readonly next: 'fallback' }
  | { readonly next: 'give_up' };

export function planAfterFailure(failed: FailedAttempt, limits: AttemptLimits): NextMove {
  const delay = limits.retryDelaysMs[failed.tries - 1];
  // A stall has cost minutes already, and so might a retry: another model is more likely to answer.
  if (delay !== undefined && !failed.stalled && isRetryable(failed.error)) {
    return { next: 'retry', willRetryInMs: waitFor(failed.error, delay, limits.maxRetryAfterMs) };
  }
  return { next: failed.modelsLeft > 0 ? 'fallback' : 'give_up' };
}

function waitFor(error: ProviderError, delay: number, longest: number): number {
  return error.retryAfter === undefined ? delay : Math.min(Math.ceil(error.retryAfter * 1000), longest);
}
