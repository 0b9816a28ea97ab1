/**
 * A step of a thread with a budget is over, and what it held is settled: relatives that wait for it are told. Where this worker is lost before,
 * they look again by themselves (workflows/budget.ts).
 */
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function tellSettled(store: ThreadStore, threadId: string): Promise<void> {
  const waiting = await store.budgets.listWaiting(threadId);
  if (waiting.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(waiting.map((relative) => signals.wake(relative, { settled: true })));
}
