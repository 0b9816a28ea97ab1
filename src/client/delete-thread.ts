/**
 * Deletes a thread with all that descend from it.
 * D1. It is ended first, and the others with it, each parent before its children: then nobody makes more of them, and nothing writes.
 * D2. Children go before their parents, the root last: while it can be read, all can be deleted again.
 * D3. The histories of the Temporal server hold what was sent to the thread: they go before the root does.
 */
import type { Client } from '@temporalio/client';
import { WORKFLOW_ID_PREFIX } from '../core/thread/start-input.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { requireThread } from './known-thread.ts';
import { isGone, toRuntimeError } from './workflow-error.ts';

interface Deleting {
  readonly store: ThreadStore;
  readonly temporal: Client;
  readonly threadId: string;
  /** Tells the workflow of the thread, and ends it in the store. */
  readonly terminate: () => Promise<void>;
}

/** Answers the ids of all that are gone. */
export async function deleteThread({
  store,
  temporal,
  threadId,
  terminate,
}: Deleting): Promise<readonly string[]> {
  const thread = await requireThread(store, threadId);
  if (thread.parentId !== null)
    throw new RuntimeError(
      'InvalidRequest',
      `Thread "${threadId}" is a subagent: it is deleted with its root "${thread.rootId}".`,
    );
  await terminate();
  const family = await endFamily(store, threadId);
  for (const id of family.toReversed()) {
    await deleteHistory(temporal, id);
    await store.threads.remove(id);
  }
  return family;
}

/** D1: again until there is none that lives, since one may have made another meanwhile. Parents stand before their children. */
async function endFamily(store: ThreadStore, threadId: string): Promise<readonly string[]> {
  for (;;) {
    const family = await store.family.read(threadId);
    const living = family.filter(({ thread }) => thread.terminatedAt === null);
    for (const { thread } of living) await store.threads.terminate(thread.id, 'deleted');
    if (living.length === 0) return family.map(({ thread }) => thread.id);
  }
}

/** D3: that of the newest run; those of runs before it end with the server's retention. One that still runs is ended by it. */
async function deleteHistory(temporal: Client, threadId: string): Promise<void> {
  try {
    await temporal.workflowService.deleteWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId: WORKFLOW_ID_PREFIX + threadId },
    });
  } catch (error) {
    if (!isGone(error)) throw toRuntimeError(error);
  }
}
