/** Waits for a backend with a deadline, and stops waiting at once when the caller aborts. */
import { ProviderError } from '../core/message/provider.ts';

export type Race = <T>(promise: Promise<T>, ms: number, awaited: string) => Promise<T>;

export interface StallGuard {
  /**
   * Settles like the promise; rejects with ProviderError 'timeout' after `ms`, or with the signal's reason on abort. In
   * the latter two cases the promise is abandoned: its owner has to be cancelled through a separate signal.
   */
  race: Race;
  /** Returns a `race` that is also bounded by one overall deadline, `ms` from now; `awaited` names what it is for. */
  until(ms: number, awaited: string): { readonly race: Race };
  /** True after a deadline has passed. */
  readonly stalled: boolean;
}

/** `who`: the subject of the error message about a missed deadline. */
export function createStallGuard(signal: AbortSignal, who = 'The model'): StallGuard {
  let stalled = false;
  const race = <T>(promise: Promise<T>, ms: number, awaited: string, reportedMs = ms): Promise<T> =>
    raceDeadline(promise, signal, ms, () => {
      stalled = true;
      return new ProviderError(
        `${who} stalled: no ${awaited} within ${Math.round(reportedMs)} ms.`,
        'timeout',
      );
    });
  return {
    race: (promise, ms, awaited) => race(promise, ms, awaited),
    until(total, awaited) {
      const end = performance.now() + total;
      return {
        race(promise, ms, each) {
          const left = Math.max(0, end - performance.now());
          return left < ms ? race(promise, left, awaited, total) : race(promise, ms, each);
        },
      };
    },
    get stalled() {
      return stalled;
    },
  };
}

/** Settles like the promise; rejects with the signal's reason, or after `ms` with the error from `onDeadline`. */
function raceDeadline<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  ms: number,
  onDeadline: () => Error,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      release();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      release();
      reject(onDeadline());
    }, ms);
    signal.addEventListener('abort', onAbort);
    promise.then(resolve, reject).finally(release);
    if (signal.aborted) onAbort();
  });
}
