/**
 * A call or a step of a thread waits for people, or has waited: ancestors that it holds up are told to look. The store has told their logs already
 * (store/commands/wait/shown-wait.ts); this is for what their workflows show. Never fails: one that was not told looks by itself
 * (workflows/child-call.ts, C2).
 */
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openThreadSignals } from './thread-signals.ts';

/** Whether an attempt has come to a wait for people: of a call, or of a step, which may also wait for its budget alone. */
export function waitsForPeople(outcome: { readonly kind: string; readonly wait?: unknown }): boolean {
  return outcome.kind === 'waits' || outcome.wait !== undefined;
}

export async function tellAbove(store: ThreadStore, threadId: string): Promise<void> {
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
