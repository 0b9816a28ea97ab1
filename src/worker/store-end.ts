/**
 * Shuts a worker down when its store is lost: once its files are removed or damaged, all further work would be lost.
 * Running work has its grace period, and `run()` rejects with the store's error.
 */
import type { ThreadStore } from '../store/store.ts';

/** Returns a function to call after the worker's end: throws `StoreLost` or `StoreCorrupt` if the store has ended. */
export function endWithStore({ ended }: ThreadStore, shutdown: () => void): () => void {
  ended?.addEventListener('abort', shutdown, { once: true });
  if (ended?.aborted) shutdown();
  return () => {
    ended?.removeEventListener('abort', shutdown);
    ended?.throwIfAborted();
  };
}
