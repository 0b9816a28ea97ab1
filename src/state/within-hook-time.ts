/** The time that code of a project has which only says something. */
import { LIMITS } from '../core/value/limit.ts';

/** Within the time of a hook and until the work is aborted. */
export async function withinHookTime<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const cut = Promise.withResolvers<never>();
  const onAbort = () => cut.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(
    () => cut.reject(new Error(`it did not answer within ${LIMITS.hookMs} ms`)),
    LIMITS.hookMs,
  );
  try {
    return await Promise.race([cut.promise, work()]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
