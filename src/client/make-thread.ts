/** A thread that its first message makes, where two may send it at once. */
import { isRuntimeError } from '../core/value/error.ts';
import type { RuntimeClient } from './runtime-client.ts';
import type { StartThread } from './start-options.ts';

/** For what looks for a thread: null where there is none. Throws everything else. */
export function orNotFound(error: unknown): null {
  if (isRuntimeError(error, 'ThreadNotFound')) return null;
  throw error;
}

/** What a start is refused with where the thread is there already. */
export function isMade(error: unknown): boolean {
  return isRuntimeError(error, 'InvalidStart') || isRuntimeError(error, 'ExecutionRunning');
}

/**
 * False where somebody has made it meanwhile: the messages are to be queued then. `isThere` says whether it is, and throws where whoever asks may not
 * reach it. Throws what the start is refused with.
 */
export async function makeThread(
  client: Pick<RuntimeClient, 'startThread' | 'getThread'>,
  start: StartThread & { readonly threadId: string },
  isThere: () => Promise<unknown> = () => client.getThread(start.threadId).catch(orNotFound),
): Promise<boolean> {
  try {
    await client.startThread(start);
    return true;
  } catch (error) {
    if (!isMade(error) || !(await isThere())) throw error;
    return false;
  }
}
