/** ThreadState's lifecycle (definitions §14.3): terminates the thread, and returns when it was terminated. */
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { CallerContext } from './caller-context.ts';

export interface Lifecycle extends Pick<ThreadState, 'terminate'> {
  /** Time of the termination, as known when the state was opened or after its own `terminate()`; null if none. */
  terminatedAt(): number | null;
}

export function createLifecycle(
  store: ThreadStore,
  { thread, work, life, key, execution, reachedFrom }: CallerContext,
): Lifecycle {
  let { terminatedAt } = thread;
  return {
    terminatedAt: () => terminatedAt,
    async terminate() {
      await work.terminate(execution && reachedFrom === undefined ? callOf(thread.id, key) : undefined);
      life.end();
      terminatedAt = (await store.threads.get(thread.id))?.terminatedAt ?? terminatedAt;
    },
  };
}

/** The call that the key of the work names; undefined for other work, such as a step's. */
function callOf(
  threadId: string,
  key: string,
): { readonly step: number; readonly index: number } | undefined {
  const [, step, index] =
    /^:(-?\d+):(\d+)/.exec(key.startsWith(threadId) ? key.slice(threadId.length) : '') ?? [];
  return step === undefined ? undefined : { step: Number(step), index: Number(index) };
}
