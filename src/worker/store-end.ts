/**
 * A worker ends with its store: with files removed or damaged, all further work would be lost. Running work has its
 * grace period, and `run()` rejects with the store's error.
 */
import type { ThreadStore } from '../store/port/thread-store.ts';

/** Answers a function for the worker's end: it throws the store's `StoreLost` or `StoreCorrupt`. */
export function endWithStore({ ended }: ThreadStore, shutdown: () => void): () => void {
  ended?.addEventListener('abort', shutdown, { once: true });
  if (ended?.aborted) shutdown();
  return () => {
    ended?.removeEventListener('abort', shutdown);
    ended?.throwIfAborted();
  };
}
