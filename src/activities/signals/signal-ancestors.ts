/**
 * Wakes the ancestors that a thread holds up when one of its calls or steps begins to wait for people, or has stopped
 * waiting. The store has updated their logs already (store/wait/shown-wait.ts); the wake updates what their
 * workflows show. Never fails: an ancestor that misses the wake polls the store by itself (workflows/child-call.ts,
 * C2).
 */
import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals } from './thread-signals.ts';

/** True if an attempt at a call or a step waits for people. A step that waits for its budget alone has no `wait`. */
export function waitsForPeople(outcome: { readonly kind?: string; readonly wait?: unknown }): boolean {
  return outcome.kind === 'waits' || outcome.wait !== undefined;
}

export async function signalAncestors(store: ThreadStore, threadId: string): Promise<void> {
  try {
    const above = await store.waits.showAbove(threadId);
    if (above.length === 0) return;
    const signals = openThreadSignals(store);
    const below = [threadId, ...above];
    await Promise.all(above.map((id, index) => signals.wake(id, { waitOf: below[index] ?? threadId })));
  } catch {
    // They look by themselves.
  }
}
