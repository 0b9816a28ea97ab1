/**
 * Runs code of a project with a time limit, until it is aborted. Code that is cut off is notified by its own signal and
 * not awaited: its later result is ignored.
 */
import { defer } from '../../core/value/deferred.ts';
export interface TimeLimit<Late> {
  /** Aborts the work from outside. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Controller of the work's own signal; aborted when its time is up. */
  readonly own: AbortController;
  /** Returns the result that replaces the work's when its time is up. */
  readonly late: () => Late;
}

export async function runUntilCut<Result, Late>(
  { signal, timeoutMs, own, late }: TimeLimit<Late>,
  work: () => Promise<Result>,
): Promise<Result | Late | 'aborted'> {
  const cut = defer<Late | 'aborted'>();
  const onAbort = () => cut.resolve('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => {
    cut.resolve(late());
    own.abort(new Error('timed out'));
  }, timeoutMs);
  try {
    // The work comes first in the race: a result counts even if it arrives at the moment of an abort.
    return await Promise.race([work(), cut.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
