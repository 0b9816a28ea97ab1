/**
 * Tasks whose adapter was lost with its process, for those who read them: a read ends such a task, since there need be no worker left that looks for it.
 * Its workflow is seen to by whoever has a Temporal client (adapter-presence.ts).
 */
import type { TaskRecord } from '../store/port/task.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';

/** Null where there is none. */
export async function readTask(store: ThreadStore, id: string): Promise<TaskRecord | null> {
  const found = await store.tasks.get(id);
  if (!found || found.endedAt !== null || !(await isLost(store, found.threadId))) return found;
  await store.producers.closeLost();
  return store.tasks.get(id);
}

async function isLost({ producers }: ThreadStore, threadId: string): Promise<boolean> {
  return (await producers.find(threadId, threadId))?.overdue === true;
}

const LOOK_MS = 2000;

/** As long as somebody follows it; answers how that ends. One look is all that it costs where the adapter is that of a worker. */
export async function watchForLoss(store: ThreadStore, threadId: string): Promise<() => void> {
  const found = await store.producers.find(threadId, threadId);
  if (found?.state !== 'open') return () => undefined;
  const look = async () => {
    if (await isLost(store, threadId)) await store.producers.closeLost();
  };
  // A store that is away is asked again.
  const lookAgain = () => void look().catch(() => undefined);
  lookAgain();
  const timer = setInterval(lookAgain, LOOK_MS);
  return () => clearInterval(timer);
}
