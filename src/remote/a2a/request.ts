/** One request to an agent, with a time limit; its errors become failures with a code. */
import type { WallFault } from '../wall/index.ts';
import { A2aFailure, toFailure } from './failure.ts';

export interface Terms {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Rejects with an A2aFailure, or with the signal's reason. `work` receives a signal that fires when it is over. */
export async function withinTimeout<T>(
  { signal, timeoutMs }: Terms,
  work: (own: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const cut = Promise.withResolvers<never>();
  const abort = () => cut.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => cut.reject(new A2aFailure('A2aTimeout', `It did not answer within ${timeoutMs} ms.`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work(own.signal), cut.promise]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw toFailure(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    own.abort(new Error('The request has ended.'));
  }
}

export const toWallFault: WallFault = (kind, message) =>
  new A2aFailure(kind === 'redirect' ? 'A2aRedirect' : 'A2aTooLarge', message);
