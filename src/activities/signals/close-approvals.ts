/**
 * After a budget is exceeded, closes the approvals that relatives with the same budget wait for, and signals those
 * relatives. If this worker is lost in between, a worker's regular check finds their calls (worker/maintenance.ts).
 */
import type { ThreadStore } from '../../store/store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function closeApprovals(store: ThreadStore, threadId: string): Promise<void> {
  const closed = await store.budgets.closeApprovals(threadId);
  if (closed.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(closed.map(({ id, threadId: relative }) => signals.answerWait(relative, id)));
}
