/**
 * Wakes relatives to whose threads a lost worker may have queued something without waking them. Called by whoever
 * detects the loss; an unnecessary wake does no harm.
 */
import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function wakeForgotten(store: ThreadStore, threadId: string): Promise<void> {
  const signals = openThreadSignals(store);
  for (const relative of await store.family.listForgotten(threadId)) await signals.wake(relative);
}
