/**
 * What the workflow receives about the waits of descendants that hold its thread up: as many as its history has room
 * for.
 */
import type { WaitBelow } from '../../core/thread/subagent-step.ts';
import type { ThreadStore } from '../../store/store.ts';

const MAX_WAITS = 8;
const NAME_CHARS = 64;

/** `waits` is absent if there are none. */
export async function readWaitsBelow(
  store: ThreadStore,
  threadId: string,
): Promise<{ readonly waits?: readonly WaitBelow[] }> {
  const shown = await store.waits.readShown(threadId);
  const waits = shown.slice(0, MAX_WAITS).map((wait) => ({ ...wait, name: wait.name.slice(0, NAME_CHARS) }));
  return waits.length > 0 ? { waits } : {};
}
