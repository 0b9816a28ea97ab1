/**
 * Deletes a thread with all its descendants.
 * - The thread and its descendants are terminated first, each parent before its children. After that, none of them
 *   creates more threads or writes.
 * - Children are deleted before their parents, the root last. While the root can be read, the deletion can be
 *   repeated.
 * - All histories are deleted before any row: while a history is left, the deletion can be repeated.
 */
import type { Client } from '@temporalio/client';
import { workflowIdOf } from '../core/thread/start-options.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/store.ts';
import { deleteHistories, type RemainingHistory } from './delete-histories.ts';
import { requireThread } from './known-thread.ts';

export interface DeletedThreads {
  /** Ids of the deleted threads, the root first. They are never used again. */
  readonly deleted: readonly string[];
  /** Histories that the Temporal server refused to delete: its retention deletes them. */
  readonly remaining: readonly RemainingHistory[];
}

interface ThreadDeletion {
  readonly store: ThreadStore;
  readonly temporal: Client;
  readonly threadId: string;
  /** Signals the workflow of the thread to end, and terminates the thread in the store. */
  readonly terminate: () => Promise<void>;
}

export async function deleteThread({
  store,
  temporal,
  threadId,
  terminate,
}: ThreadDeletion): Promise<DeletedThreads> {
  const thread = await requireThread(store, threadId);
  if (thread.parentId !== null)
    throw new RuntimeError(
      'InvalidRequest',
      `Thread "${threadId}" is a subagent: it is deleted with its root "${thread.rootId}".`,
    );
  await terminate();
  const family = await endFamily(store, threadId);
  const childrenFirst = family.toReversed();
  const remaining = await deleteHistories(temporal, childrenFirst.map(workflowIdOf));
  for (const id of childrenFirst) await store.threads.remove(id);
  return { deleted: family, remaining };
}

/**
 * Repeats until no member is alive, since one may have created another in the meantime. Parents come before their
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
