/** ThreadState's lifecycle (definitions §14.3): terminates the thread, and returns when it was terminated. */
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { CallerContext } from './caller-context.ts';

export interface Lifecycle extends Pick<ThreadState, 'terminate'> {
  /** Time of the termination, as known when the state was opened or after its own `terminate()`; null if none. */
  terminatedAt(): number | null;
}

export function createLifecycle(
  store: ThreadStore,
  { thread, work }: Pick<CallerContext, 'thread' | 'work'>,
): Lifecycle {
  let { terminatedAt } = thread;
  return {
    terminatedAt: () => terminatedAt,
    async terminate() {
      await work.terminate();
      terminatedAt = (await store.threads.get(thread.id))?.terminatedAt ?? terminatedAt;
    },
  };
}
