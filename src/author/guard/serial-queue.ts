/** Runs acts one after another, in the order in which they were added, even if their callers do not wait. */
export interface SerialQueue {
  add<T>(act: () => Promise<T>): Promise<T>;
  /** Adds an act that cannot be awaited; its failure is kept. */
  addUnawaited(act: () => Promise<unknown>): void;
  /** Waits until all acts that were added are done. */
  reached(): Promise<void>;
  keepFailure(error: unknown): void;
  /** Throws the first failure that was kept since the last call of this function. */
  throwFailure(): void;
}

export function openSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  let failures: unknown[] = [];
  const keepFailure = (error: unknown): void => void failures.push(error);
  const add = <T>(act: () => Promise<T>): Promise<T> => {
    const done = last.then(act);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    add,
    addUnawaited: (act) => void add(act).catch(keepFailure),
    async reached() {
      await last;
    },
    keepFailure,
    throwFailure() {
      const [first] = failures;
      failures = [];
      if (first !== undefined) throw first;
    },
  };
}
