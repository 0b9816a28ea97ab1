/**
 * The time at which lists of threads show a thread as last changed. Three indexes hold that time, and a running thread
 * is written several times per step: updating them each time would be a fifth of all that a step writes to the disk.
 */
import type { Selectable, Updateable } from 'kysely';
import type { ThreadTable } from '../../schema/thread.ts';

/** Microseconds for which a running thread keeps its place in the lists. */
const KEEP_PLACE_US = 1_000_000;

/**
 * The first argument is the row as it will be written; `changes` has its new columns. A change of status moves the
 * thread at once: one that comes to rest, or begins to wait, never keeps an older place.
 */
export function lastChanged(
  { status, updated_at }: Pick<Selectable<ThreadTable>, 'status' | 'updated_at'>,
  changes: Updateable<ThreadTable>,
  now: number,
): number {
  const atWork = status === 'running' && changes.status === undefined;
  const since = now - updated_at;
  return atWork && since >= 0 && since < KEEP_PLACE_US ? updated_at : now;
}
