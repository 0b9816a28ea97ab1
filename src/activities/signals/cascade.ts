/**
 * Extends the stop or termination of a thread to its descendants, from within activities (runtime §10).
 * `author/state/descendants.ts` selects them.
 * - The cascade runs after the thread's own commit, even if a repeated commit finds the thread already ended. So a
 *   worker that dies in between leaves no descendant running.
 * - Descendants of a cancelled execution are cancelled with its reason, and stopped: none of them goes on by itself.
 */

import { stopDescendants, terminateDescendants } from '../../author/state/descendants.ts';
import type { CommitStatusInput } from '../../core/thread/step.ts';
import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals, type ThreadSignals } from './thread-signals.ts';

/** Called within the activity `commitStatus`, after its commit. */
export async function cascade(
  store: ThreadStore,
  { threadId, status, stops }: Pick<CommitStatusInput, 'threadId' | 'status' | 'stops'>,
  canceled?: { readonly reason: string | null },
): Promise<void> {
  if (status === 'terminated') await endDescendants(store, openThreadSignals(store), threadId);
  // Only for a new stop: a thread stopped earlier may commit its rest again, after a child was allowed to go on.
  if (canceled) await cancelDescendants(store, threadId, canceled.reason ?? undefined);
  else if (status === 'stopped' && stops)
    await stopDescendants(store, threadId, openThreadSignals(store).stop);
}

/** Cancelled and stopped. */
function cancelDescendants(store: ThreadStore, threadId: string, reason: string | undefined): Promise<void> {
  const { stop } = openThreadSignals(store);
  return stopDescendants(store, threadId, async (descendant, why) => {
    // If the descendant has not begun, only the stop holds it back.
    await store.executions.cancel({ threadId: descendant, reason });
    await stop(descendant, why);
  });
}

/** Terminates a thread whose own code has asked for it: its workflow learns of it from the activity's result. */
export async function terminateSelf(
  store: ThreadStore,
  threadId: string,
  {
    reason,
    by,
  }: { readonly reason: string; readonly by?: { readonly step: number; readonly index: number } },
): Promise<void> {
  await store.threads.terminate(threadId, reason, by);
  await endDescendants(store, openThreadSignals(store), threadId);
}

/**
 * Terminates a relative of the thread. Its workflow is signalled first, so that it has a report to deliver even if this
 * process dies; then the store is updated, so that the caller sees the end at once.
 */
export async function terminateRelative(
  store: ThreadStore,
  signals: ThreadSignals,
  { threadId, reason }: { readonly threadId: string; readonly reason: string },
): Promise<void> {
  await signals.terminate(threadId, reason);
  await store.threads.terminate(threadId, reason);
  await endDescendants(store, signals, threadId);
}

function endDescendants(store: ThreadStore, signals: ThreadSignals, threadId: string): Promise<void> {
  return terminateDescendants(store, threadId, signals.end);
}
