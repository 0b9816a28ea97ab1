/** Waits for a backend with a deadline, and stops waiting at once when the caller aborts. */
import { ProviderError } from '../core/provider.ts';

export type Race = <T>(promise: Promise<T>, ms: number, awaited: string) => Promise<T>;

export interface StallGuard {
  /**
   * The promise's own outcome; or ProviderError 'timeout' after `ms`; or, on abort, the signal's reason. In the latter two cases
   * the promise is abandoned: its owner has to be cancelled through a signal of its own.
   */
  race: Race;
  /** The same, also bounded by one deadline for everything awaited from now on. */
  until(ms: number, awaited: string): { readonly race: Race };
  /** True after a deadline has passed. */
  readonly stalled: boolean;
}

export function createStallGuard(signal: AbortSignal): StallGuard {
  let stalled = false;

  function race<T>(promise: Promise<T>, ms: number, awaited: string, told = ms): Promise<T> {
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
        reject(new ProviderError(`The model stalled: no ${awaited} within ${told} ms.`, 'timeout'));
      }, ms);
      signal.addEventListener('abort', onAbort);
      promise.then(resolve, reject).finally(release);
      if (signal.aborted) onAbort();
    });
  }

  function until(total: number, awaited: string) {
    const end = performance.now() + total;
    const bounded: Race = (promise, ms, each) => {
      const left = Math.max(0, end - performance.now());
      return left < ms ? race(promise, left, awaited, total) : race(promise, ms, each);
    };
    return { race: bounded };
  }

  return {
    race,
    until,
    get stalled() {
      return stalled;
    },
  };
}
