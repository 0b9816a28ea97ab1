/**
 * ThreadState's key-value store (runtime §14), backed by the store, which copies values strictly as JSON
 * (core/value/json-value.ts). A thread's values are for its own code: access through the state of a relative is
 * refused, and so is access by a tool that is invoked through that state.
 */
import type { ThreadValues } from '../../core/author/thread-value.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CallerContext } from './caller-context.ts';

export function createThreadValues(
  store: ThreadStore,
  { thread: { id }, reachedFrom = id }: Pick<CallerContext, 'thread' | 'reachedFrom'>,
): ThreadValues {
  const requireOwn = (method: string): void => {
    if (reachedFrom !== id) throw notShared(method, id, reachedFrom);
  };
  return {
    async getValue<T>(key: string) {
      requireOwn('getValue');
      // Only the author knows the type of a key's value.
      return (await store.values.get(id, key)) as T | null;
    },
    async setValue(key, value) {
      requireOwn('setValue');
      await store.values.set(id, key, value);
    },
  };
}

function notShared(method: string, id: string, from: string): RuntimeError {
  return new RuntimeError(
    'ValuesNotShared',
    `${method}: values of thread "${id}" are accessible only to its own code, not to that of thread "${from}". ` +
      'Queue a message or a tool to it, or pass the data as a file.',
  );
}
