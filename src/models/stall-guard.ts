/** Waits for a backend with a deadline, and lets go at once when the caller aborts. */
import { ProviderError } from '../core/provider.ts';

export interface StallGuard {
  /**
   * The promise's own outcome; or ProviderError 'timeout' after `ms`; or, on abort, the signal's reason. The promise is
   * left behind in the latter two cases: whoever made it has to be told through a signal of its own.
   */
  race<T>(promise: Promise<T>, ms: number, awaited: string): Promise<T>;
  /** True once a deadline has passed. */
  readonly stalled: boolean;
}

export function createStallGuard(signal: AbortSignal): StallGuard {
  let stalled = false;

  function race<T>(promise: Promise<T>, ms: number, awaited: string): Promise<T> {
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
        stalled = true;
        release();
        reject(new ProviderError(`The model stalled: no ${awaited} within ${ms} ms.`, 'timeout'));
      }, ms);
      signal.addEventListener('abort', onAbort);
      promise.then(resolve, reject).finally(release);
      if (signal.aborted) onAbort();
    });
  }

  return {
    race,
    get stalled() {
      return stalled;
    },
  };
}
