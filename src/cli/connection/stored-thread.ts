/** Finds a thread that must be in the store. */
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { commandName } from '../command-name.ts';

/** @throws RuntimeError `ThreadNotFound`, also for a deleted thread. */
export async function findThread(store: ThreadStore, threadId: string): Promise<ThreadRecord> {
  const thread = await store.threads.get(threadId);
  if (thread && thread.deletedAt === undefined) return thread;
  throw new RuntimeError(
    'ThreadNotFound',
    `Thread "${threadId}" is not in this store. A thread that was just started appears once a worker ("${commandName()} dev") has opened it.`,
  );
}
