/**
 * Decides what follows a failed attempt at a model call (definitions §4): a retry of the same model after a pause, an
 * immediate plain (not streamed) call of it, the next fallback, or the end. Pure; `call-model.ts` carries it out.
 * P1. A broken stream is followed by one plain call of the same model, at most once per model: a proxy may block
 *     streams.
 * P4. All attempts at one model for one answer, pauses included, end within `totalMs` plus `generateMs`. While the
 *     provider accepts requests of others, that time begins anew (admission.ts).
 * - A request that is refused for its length is sent again smaller, at most `MAX_SMALLER` times per model, before any
 *   fallback.
 */

import type { ProviderError } from '../core/message/provider.ts';
import { type ModelTimeouts, modelTimeouts } from '../core/value/limit.ts';
import { isRetryable } from './classify.ts';
import { planAfterRefusal } from './refusal-plan.ts';

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
  /** From the request to the whole answer, if it is not streamed. */
  readonly generateMs: number;
  /** From the request until readers are notified that no answer has begun. */
  readonly feedbackMs: number;
}

export const DEFAULT_ATTEMPT_LIMITS: AttemptLimits = {
  retryDelaysMs: [1000, 2000],
  maxRetryAfterMs: 60_000,
  ...toMilliseconds(modelTimeouts()),
};

/** The defaults, overridden by the timeouts of the model's definition. */
export function limitsOf(timeouts: ModelTimeouts = {}): AttemptLimits {
  return { ...DEFAULT_ATTEMPT_LIMITS, ...toMilliseconds(modelTimeouts(timeouts)) };
}

function toMilliseconds({
  firstChunkSeconds,
  idleSeconds,
  totalSeconds,
  plainSeconds,
  feedbackSeconds,
}: Required<ModelTimeouts>) {
  return {
    firstChunkMs: firstChunkSeconds * 1000,
    betweenChunksMs: idleSeconds * 1000,
    totalMs: totalSeconds * 1000,
    generateMs: plainSeconds * 1000,
    feedbackMs: feedbackSeconds * 1000,
  };
}

/** P4: time for all attempts at one model, in milliseconds. */
export function patienceMs({ totalMs, generateMs }: AttemptLimits): number {
  return totalMs + generateMs;
}

/**
 * Request timeout for the provider, in milliseconds: longer than our own deadlines, so that ours fire first and name
 * what was awaited.
 */
export function requestTimeoutMs(limits: AttemptLimits): number {
  const { firstChunkMs, betweenChunksMs, totalMs, generateMs } = limits;
  return Math.max(firstChunkMs, betweenChunksMs, totalMs, generateMs) + REQUEST_MARGIN_MS;
}

const REQUEST_MARGIN_MS = 15_000;

/** How often a request is made smaller for one model. */
export const MAX_SMALLER = 3;

export interface FailedAttempt {
  readonly error: ProviderError;
  /** True if one of our own deadlines ended this attempt or an earlier one at this model. */
  readonly stalled: boolean;
  /** True if the attempt was streamed and either stalled or broke after the stream had been opened. */
  readonly brokeStream: boolean;
  /** True if a plain call of this model has already been made in place of a stream. */
  readonly wentPlain: boolean;
  /** P4: milliseconds left for this model. */
  readonly leftMs: number;
  /** Attempts made with this model, this one included. */
  readonly tries: number;
  /** Models not tried yet. */
  readonly modelsLeft: number;
  /** Set if the provider is busy: how often it was, for this answer, and until when. */
  readonly refused?: { readonly refusals: number; readonly waitMs: number };
  /** True if the request was refused for its length and can be made smaller. */
  readonly shrinks?: boolean;
}

export type NextMove =
  | { readonly next: 'smaller' }
  | {
      readonly next: 'retry';
      readonly willRetryInMs: number;
      readonly withoutMetadata?: true;
      readonly withoutTool?: string;
      readonly withoutFormat?: true;
    }
  | { readonly next: 'plain' }
  | { readonly next: 'fallback' }
  | { readonly next: 'give_up' };

export function planAfterFailure(failed: FailedAttempt, limits: AttemptLimits): NextMove {
  const { error, leftMs, refused } = failed;
  // Neither waiting nor a plain call heals it, and another model costs more than fewer messages.
  if (error.tooLong) {
    if (failed.shrinks && leftMs > 0) return { next: 'smaller' };
    return { next: failed.modelsLeft > 0 ? 'fallback' : 'give_up' };
  }
  // A request that is made once is not repeated for that either.
  const repeats = limits.retryDelaysMs.length > 0;
  if (refused && repeats && isRetryable(error)) return planAfterRefusal({ ...failed, ...refused });
  const delay = limits.retryDelaysMs[failed.tries - 1];
  if (failed.brokeStream && !failed.wentPlain && leftMs > 0 && isStreamFault(error)) return { next: 'plain' };
  // A stall has cost minutes already, and so might a retry: another model is more likely to answer.
  if (delay !== undefined && !failed.stalled && isRetryable(error)) {
    const willRetryInMs = retryDelayMs(error, delay, limits.maxRetryAfterMs);
    if (willRetryInMs < leftMs) return { next: 'retry', willRetryInMs };
  }
  return { next: failed.modelsLeft > 0 ? 'fallback' : 'give_up' };
}

/**
 * P1: true if a plain call may succeed. An HTTP status or a rate limit comes from the provider itself and would affect
 * a plain call too.
 */
function isStreamFault(error: ProviderError): boolean {
  return isRetryable(error) && error.code !== 'rate_limit' && error.statusCode === undefined;
}

function retryDelayMs(error: ProviderError, delay: number, longest: number): number {
  return error.retryAfter === undefined ? delay : Math.min(Math.ceil(error.retryAfter * 1000), longest);
}
