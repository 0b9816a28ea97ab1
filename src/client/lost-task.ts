/**
 * Ends tasks whose adapter was lost with its process, when they are read: there may be no worker left that checks for
 * them. Their workflows are ended by code that has a Temporal client (adapter-presence.ts).
 */

import type { ThreadStore } from '../store/store.ts';
import type { TaskRecord } from '../store/task/task-record.ts';

/** Null if there is no such task. */
export async function readTask(store: ThreadStore, id: string): Promise<TaskRecord | null> {
  const found = await store.tasks.get(id);
  if (!found || found.endedAt !== null || !(await isAdapterLost(store, found.threadId))) return found;
  await store.producers.closeLost();
  return store.tasks.get(id);
}

async function isAdapterLost({ producers }: ThreadStore, threadId: string): Promise<boolean> {
  return (await producers.find(threadId, threadId))?.overdue === true;
}

const CHECK_INTERVAL_MS = 2000;

/**
 * Checks for the loss of the adapter while a task is followed; returns a function that stops the checks. Costs a single
 * check if the adapter belongs to a worker.
 */
export async function watchForLoss(store: ThreadStore, threadId: string): Promise<() => void> {
  const found = await store.producers.find(threadId, threadId);
  if (found?.state !== 'open') return () => undefined;
  const look = async () => {
    if (await isAdapterLost(store, threadId)) await store.producers.closeLost();
  };
  // If the store is unreachable, the next check tries again.
  const lookAgain = () => void look().catch(() => undefined);
  lookAgain();
  const timer = setInterval(lookAgain, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}
