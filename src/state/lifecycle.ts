/** ThreadState's lifecycle (definitions §14.3): the end of the thread, and when it was. */
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { CallerContext } from './caller-context.ts';

export interface Lifecycle extends Pick<ThreadState, 'terminate'> {
  /** As of when the state was opened, or of its own `terminate()`. */
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
