/** Acts one after another in the order in which they are asked for, also where the code that asks does not wait. */
export interface WorkLine {
  add<T>(act: () => Promise<T>): Promise<T>;
  /** For an act that cannot be awaited: its failure is kept. */
  addUnawaited(act: () => Promise<unknown>): void;
  /** Waits for what was added. */
  reached(): Promise<void>;
  keepFailure(error: unknown): void;
  /** Throws the first failure that was kept since this was called last. */
  throwFailure(): void;
}

export function openWorkLine(): WorkLine {
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
