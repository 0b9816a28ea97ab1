/**
 * Code of a project, within its time and until somebody aborts it. What is cut off is told so by its own signal and is not
 * waited for: its later result is ignored.
 */
import { defer } from '../../core/value/deferred.ts';
export interface TimeLimit<Late> {
  /** Aborts the work from outside. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Fires the work's own signal when its time is up. */
  readonly own: AbortController;
  /** The answer in place of the work's when its time is up. */
  readonly late: () => Late;
}

export async function withinTime<Result, Late>(
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
    // The work first: what has ended counts, also when it ends at the moment of an abort.
    return await Promise.race([work(), cut.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
