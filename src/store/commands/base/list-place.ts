/**
 * When lists of threads say that a thread was last changed. Its indexes hold that time, and a thread at work is written several times
 * a step: each time three of them would be written too, a fifth of all that a step puts on the disk.
 */
import type { Selectable, Updateable } from 'kysely';
import type { ThreadTable } from '../../schema/thread.ts';

/** For so long, microseconds, a thread at work keeps its place. */
const KEPT = 1_000_000;

/**
 * `row`: the thread as it is to be written; `changes`: what of it is new. A change of its status moves it at once: none that has come to
 * rest, or waits for somebody, stays behind what it was last told to do.
 */
export function lastChanged(
  { status, updated_at }: Pick<Selectable<ThreadTable>, 'status' | 'updated_at'>,
  changes: Updateable<ThreadTable>,
  now: number,
): number {
  const atWork = status === 'running' && changes.status === undefined;
  const since = now - updated_at;
  return atWork && since >= 0 && since < KEPT ? updated_at : now;
}
