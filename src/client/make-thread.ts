/** Creates a thread with its first message, if several callers may send one at the same time. */
import { isRuntimeError } from '../core/value/error.ts';
import type { RuntimeClient } from './runtime-client.ts';
import type { StartThread } from './start-options.ts';

/** Error handler of a lookup: returns null for `ThreadNotFound`, and rethrows everything else. */
export function nullIfThreadNotFound(error: unknown): null {
  if (isRuntimeError(error, 'ThreadNotFound')) return null;
  throw error;
}

/** True if a start was refused because the thread exists already. */
export function isAlreadyCreated(error: unknown): boolean {
  return isRuntimeError(error, 'InvalidStart') || isRuntimeError(error, 'ExecutionRunning');
}

/**
 * Returns true if this call has created the thread. Returns false if another caller has created it in the meantime: the
 * messages must then be queued. `isThere` checks whether it exists, and throws if the caller may not access it. Throws
 * what the start is refused with.
 */
export async function makeThread(
  client: Pick<RuntimeClient, 'startThread' | 'getThread'>,
  start: StartThread & { readonly threadId: string },
  isThere: () => Promise<unknown> = () => client.getThread(start.threadId).catch(nullIfThreadNotFound),
): Promise<boolean> {
  try {
    await client.startThread(start);
    return true;
  } catch (error) {
    if (!isAlreadyCreated(error) || !(await isThere())) throw error;
    return false;
  }
}
