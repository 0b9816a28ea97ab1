/**
 * Runs author code within a time limit. A later outcome is ignored: code that has begun cannot be ended from outside.
 */

import { defer } from '../../core/value/deferred.ts';
import { LIMITS } from '../../core/value/limit.ts';

export interface WithinTimeOptions {
  /** Default LIMITS.hookMs. */
  readonly timeoutMs?: number;
  /** Ends the waiting immediately. */
  readonly signal?: AbortSignal;
  readonly late?: (timeoutMs: number) => Error;
  readonly aborted?: (signal: AbortSignal) => unknown;
}

/**
 * Settles as the work does, or rejects at its time limit or when the signal fires. An aborted signal prevents the work.
 */
export async function withinTime<T>(work: () => T | Promise<T>, given: WithinTimeOptions = {}): Promise<T> {
  const { timeoutMs = LIMITS.hookMs, signal, late = tooLate, aborted = reasonOf } = given;
  if (signal?.aborted) throw aborted(signal);
  const cut = defer<never>();
  const onAbort = () => signal && cut.reject(aborted(signal));
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => cut.reject(late(timeoutMs)), timeoutMs);
  try {
    return await Promise.race([cut.promise, work()]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function tooLate(timeoutMs: number): Error {
  return new Error(`it did not answer within ${timeoutMs} ms`);
}

function reasonOf(signal: AbortSignal): unknown {
  return signal.reason;
}
