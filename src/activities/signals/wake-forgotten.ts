/**
 * A worker that was lost may have queued something to a relative's thread and told nobody. Whoever finds the loss out wakes those
 * relatives; a look in vain does no harm.
 */
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function wakeForgotten(store: ThreadStore, threadId: string): Promise<void> {
  const signals = openThreadSignals(store);
  for (const relative of await store.family.listForgotten(threadId)) await signals.wake(relative);
}
