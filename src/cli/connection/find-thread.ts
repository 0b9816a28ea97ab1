/** Finds a thread that may not exist yet: its first message may still be on its way to a worker. */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';

export async function findThread(client: RuntimeClient, threadId: string): Promise<ThreadRecord | undefined> {
  try {
    return await client.getThread(threadId);
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound')) return undefined;
    throw error;
  }
}
