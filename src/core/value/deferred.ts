/** `Promise.withResolvers`, which Node lacks before version 22: clients and servers run on older versions too. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason?: unknown) => void;
}

export function defer<T>(): Deferred<T> {
  let ends: Omit<Deferred<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject };
  });
  // The executor of a promise runs synchronously.
  return { promise, ...(ends as Omit<Deferred<T>, 'promise'>) };
}
