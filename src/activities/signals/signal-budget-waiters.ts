/**
 * When a step of a thread with a budget has ended and its reservation is settled, wakes the relatives that wait for
 * that budget. If this worker is lost before, they check again by themselves (workflows/budget.ts).
 */
import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function signalBudgetWaiters(store: ThreadStore, threadId: string): Promise<void> {
  const waiting = await store.budgets.listWaiting(threadId);
  if (waiting.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(waiting.map((relative) => signals.wake(relative, { settled: true })));
}
