/**
 * Terminates or stops the descendants of a thread (runtime §10): all of them in parallel and not level by level, so
 * that a deep tree is as quick as a flat one.
 * - A thread that has never had a child costs one read of its own row at most.
 * - Signalling a thread twice does no harm. If one thread cannot be signalled, the others still are; then the failure
 *   is thrown, and the caller retries.
 * - Only threads at work are stopped. An idle child stays idle: if stopped, it would only park what is queued later.
 */
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

export type FamilyReads = {
  readonly threads: Pick<ThreadStore['threads'], 'get' | 'terminate'>;
  readonly children: Pick<ThreadStore['children'], 'get'>;
  readonly family: Pick<ThreadStore['family'], 'listDescendants'>;
};

/** Maximum number of threads that are signalled at a time. */
const MAX_CONCURRENT_SIGNALS = 16;

export const ANCESTOR_TERMINATED = 'a thread above it was terminated';
export const ANCESTOR_STOPPED = 'a thread above it was stopped';

/** `end` resolves to false if the thread has no workflow to signal: the store alone then terminates it. */
export async function terminateDescendants(
  store: FamilyReads,
  threadId: string,
  end: (threadId: string, reason: string) => Promise<boolean>,
): Promise<void> {
  await signalAll(await listBelow(store, threadId), async (descendant) => {
    if (!(await end(descendant, ANCESTOR_TERMINATED)))
      await store.threads.terminate(descendant, ANCESTOR_TERMINATED);
  });
}

export async function stopDescendants(
  store: FamilyReads,
  threadId: string,
  stop: (threadId: string, reason: string) => Promise<void>,
): Promise<void> {
  await signalAll(await listBelow(store, threadId), async (descendant) => {
    const thread = await store.threads.get(descendant);
    if (thread && (await isAtWork(store, thread))) await stop(descendant, ANCESTOR_STOPPED);
  });
}

/** One read at most. */
async function listBelow(store: FamilyReads, threadId: string): Promise<readonly string[]> {
  const thread = await store.threads.get(threadId);
  if (!thread || thread.childCount === 0) return [];
  return (await store.family.listDescendants(threadId)).map((descendant) => descendant.threadId);
}

/** A child that was asked something but has not begun counts as at work, since the registry says `running`. */
async function isAtWork(store: FamilyReads, { id, status, terminatedAt }: ThreadRecord): Promise<boolean> {
  if (terminatedAt !== null) return false;
  if (status === 'running' || status === 'waiting') return true;
  return status !== 'stopped' && (await store.children.get(id))?.status === 'running';
}

/** Calls `tell` for every thread, then throws the first failure. */
async function signalAll(
  threads: readonly string[],
  signal: (threadId: string) => Promise<void>,
): Promise<void> {
  const left = threads.values();
  const failures: unknown[] = [];
  const teller = async () => {
    for (const threadId of left) {
      try {
        await signal(threadId);
      } catch (error) {
        // The thread has ended in the meantime.
        if (!isRuntimeError(error, 'ThreadTerminated')) failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_SIGNALS }, teller));
  if (failures.length > 0) throw failures[0];
}
