/** Which relatives of a thread are woken, and when. A wake is a hint to look into the store; an unnecessary one does no harm. */

import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals } from './thread-signals.ts';

/** True if an attempt at a call or a step waits for people. A step that waits for its budget alone has no `wait`. */
export function waitsForPeople(outcome: { readonly kind?: string; readonly wait?: unknown }): boolean {
  return outcome.kind === 'waits' || outcome.wait !== undefined;
}

/**
 * Wakes the ancestors that a thread holds up when one of its calls or steps begins to wait for people, or has stopped
 * waiting. The store has updated their logs already (store/wait/shown-wait.ts); the wake updates what their
 * workflows show. Never fails: an ancestor that misses the wake polls the store by itself (workflows/child-call.ts,
 * C2).
 */
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

/**
 * After a budget is exceeded, closes the approvals that relatives with the same budget wait for, and signals those
 * relatives. If this worker is lost in between, a worker's regular check finds their calls (worker/maintenance.ts).
 */
export async function closeApprovals(store: ThreadStore, threadId: string): Promise<void> {
  const closed = await store.budgets.closeApprovals(threadId);
  if (closed.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(closed.map(({ id, threadId: relative }) => signals.answerWait(relative, id)));
}

/**
 * When a step of a thread with a budget has ended and its reservation is settled, wakes the relatives that wait for
 * that budget. If this worker is lost before, they check again by themselves (workflows/wait-call.ts).
 */
export async function signalBudgetWaiters(store: ThreadStore, threadId: string): Promise<void> {
  const waiting = await store.budgets.listWaiting(threadId);
  if (waiting.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(waiting.map((relative) => signals.wake(relative, { settled: true })));
}

/**
 * Wakes relatives to whose threads a lost worker may have queued something without waking them. Called by whoever
 * detects the loss.
 */
export async function wakeForgotten(store: ThreadStore, threadId: string): Promise<void> {
  const signals = openThreadSignals(store);
  for (const relative of await store.family.listForgotten(threadId)) await signals.wake(relative);
}
