/**
 * The store behind a client, for internal entry points that run author code on it (server). The package does not export
 * this: users of a client read and write through its methods.
 */
import type { ThreadStore } from '../store/port/thread-store.ts';

const STORES = new WeakMap<object, ThreadStore>();

export function registerStore(client: object, store: ThreadStore): void {
  STORES.set(client, store);
}

export function storeOf(client: object): ThreadStore {
  const store = STORES.get(client);
  if (store) return store;
  throw new TypeError('Not a RuntimeClient of this copy of everthread.');
}
