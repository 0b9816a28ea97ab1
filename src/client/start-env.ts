/** Stores the variables of a new thread before its workflow begins; they are sent nowhere else. */
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/store.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import type { StartThread } from './start-options.ts';

/**
 * Throws `InvalidStart` for a thread that exists already, `InvalidVariable`, and `InvalidConfiguration` if there is no
 * key to encrypt with.
 */
export async function storeStartEnv(
  store: ThreadStore,
  threadId: string,
  known: ThreadRecord | null,
  env: StartThread['env'] = {},
): Promise<void> {
  const entries = Object.entries(env);
  if (known && entries.length > 0) {
    throw new RuntimeError(
      'InvalidStart',
      `Thread "${threadId}" already exists; set its variables with setEnv.`,
    );
  }
  for (const [name, given] of entries) {
    const { value, type } = typeof given === 'string' ? { value: given, type: undefined } : given;
    await store.env.set({ owner: { thread: threadId }, name, value, type });
  }
}
