/**
 * Deletes a thread with all its descendants.
 * D1. The thread and its descendants are terminated first, each parent before its children. After that, none of them
 *     creates more threads or writes.
 * D2. Children are deleted before their parents, the root last. While the root can be read, the deletion can be
 *     repeated.
 * D3. Temporal histories contain what was sent to the threads, so they are deleted before the root.
 */
import type { Client } from '@temporalio/client';
import { WORKFLOW_ID_PREFIX } from '../core/thread/start-input.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import { requireThread } from './known-thread.ts';
import { isWorkflowGone, toRuntimeError } from './workflow-error.ts';

interface ThreadDeletion {
  readonly store: ThreadStore;
  readonly temporal: Client;
  readonly threadId: string;
  /** Signals the workflow of the thread to end, and terminates the thread in the store. */
  readonly terminate: () => Promise<void>;
}

/** Returns the ids of all deleted threads. */
export async function deleteThread({
  store,
  temporal,
  threadId,
  terminate,
}: ThreadDeletion): Promise<readonly string[]> {
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

/**
 * D1: repeats until no member is alive, since one may have created another in the meantime. Parents come before their
 * children.
 */
async function endFamily(store: ThreadStore, threadId: string): Promise<readonly string[]> {
  for (;;) {
    const family = await store.family.read(threadId);
    const living = family.filter(({ thread }) => thread.terminatedAt === null);
    for (const { thread } of living) await store.threads.terminate(thread.id, 'deleted');
    if (living.length === 0) return family.map(({ thread }) => thread.id);
  }
}

/**
 * D3: deletes the newest run's history, and ends that run if it is still open. Histories of earlier runs expire with
 * the server's retention.
 */
async function deleteHistory(temporal: Client, threadId: string): Promise<void> {
  try {
    await temporal.workflowService.deleteWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId: WORKFLOW_ID_PREFIX + threadId },
    });
  } catch (error) {
    if (!isWorkflowGone(error)) throw toRuntimeError(error);
  }
}
