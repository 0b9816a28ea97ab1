/**
 * Stop and termination of a thread, as activities carry them to its descendants (runtime §10): `state/descendants.ts` says whom.
 * C1. After the thread's own commit, also where it comes again and finds the thread ended already: so a worker that dies in
 *     between leaves nobody running.
 * C2. Those below a cancelled execution are cancelled with its reason, and stopped: nothing of them goes on by itself.
 */
import type { CommitStatusInput } from '../../core/thread/step.ts';
import { stopDescendants, terminateDescendants } from '../../state/descendants.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openThreadSignals, type ThreadSignals } from './thread-signals.ts';

/** C1. Within the activity `commitStatus`. */
export async function cascade(
  store: ThreadStore,
  { threadId, status, stops }: Pick<CommitStatusInput, 'threadId' | 'status' | 'stops'>,
  canceled?: { readonly reason: string | null },
): Promise<void> {
  if (status === 'terminated') await endDescendants(store, openThreadSignals(store), threadId);
  // A thread that was stopped before may commit its rest again; somebody may have let a child go on since.
  if (canceled) await cancelDescendants(store, threadId, canceled.reason ?? undefined);
  else if (status === 'stopped' && stops)
    await stopDescendants(store, threadId, openThreadSignals(store).stop);
}

/** C2: cancelled and stopped. */
function cancelDescendants(store: ThreadStore, threadId: string, reason: string | undefined): Promise<void> {
  const { stop } = openThreadSignals(store);
  return stopDescendants(store, threadId, async (descendant, why) => {
    // One that has not begun is held back by the stop alone.
    await store.executions.cancel({ threadId: descendant, reason });
    await stop(descendant, why);
  });
}

/** Code of the thread itself has asked for it: its workflow hears by the activity's answer. */
export async function terminateSelf(store: ThreadStore, threadId: string, reason: string): Promise<void> {
  await store.threads.terminate(threadId, reason);
  await endDescendants(store, openThreadSignals(store), threadId);
}

/**
 * A relative of the thread. Its workflow is told first, so that it has a report to deliver whatever becomes of this process;
 * then the store, so that whoever asked sees it at once.
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
