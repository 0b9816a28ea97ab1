/** `Promise.withResolvers`, which Node has from 22 on: clients and servers run on older ones too. */
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
  // The function that a promise is made with has run by now.
  return { promise, ...(ends as Omit<Deferred<T>, 'promise'>) };
}
