/** ThreadState's key-value store (runtime §14), over the store: it copies values strictly as JSON (core/value/json-value.ts). */
import type { ThreadValues } from '../core/author/thread-value.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

export function createThreadValues(store: ThreadStore, threadId: string): ThreadValues {
  return {
    // What a key holds is the author's knowledge.
    getValue: async <T>(key: string) => (await store.values.get(threadId, key)) as T | null,
    setValue: (key, value) => store.values.set(threadId, key, value),
  };
}
