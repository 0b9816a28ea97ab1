/** A semaphore: at most a fixed number of callers run at once, admitted in order of arrival. */
export interface Turnstile {
  /** Runs `work` once admitted. Rejects with the signal's reason if it aborts before that. */
  pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createTurnstile(places: number): Turnstile {
  let free = places;
  const waiting = new Set<() => void>();
  const leave = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };
  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      signal.addEventListener('abort', () => waiting.delete(resolve) && reject(signal.reason), {
        once: true,
      });
    });
  };
  return {
    async pass(signal, work) {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
