/**
 * A worker ends with its store: one whose files were removed or damaged could only take work that is lost. What runs gets its
 * grace period, and `run()` rejects with what became of the store.
 */
import type { ThreadStore } from '../store/port/thread-store.ts';

/** Answers what to call when the worker has ended: throws the store's `StoreLost` or `StoreCorrupt`. */
export function endWithStore({ ended }: ThreadStore, shutdown: () => void): () => void {
  ended?.addEventListener('abort', shutdown, { once: true });
  if (ended?.aborted) shutdown();
  return () => {
    ended?.removeEventListener('abort', shutdown);
    ended?.throwIfAborted();
  };
}
