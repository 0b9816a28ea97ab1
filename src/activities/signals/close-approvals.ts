/**
 * A budget is exceeded: nobody is asked any more whether relatives that spend from it may do something. Where this worker is lost before it has told
 * them, a worker's regular look finds their calls (worker/wait-look.ts).
 */
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openThreadSignals } from './thread-signals.ts';

export async function closeApprovals(store: ThreadStore, threadId: string): Promise<void> {
  const closed = await store.budgets.closeApprovals(threadId);
  if (closed.length === 0) return;
  const signals = openThreadSignals(store);
  await Promise.all(closed.map(({ id, threadId: relative }) => signals.answerWait(relative, id)));
}
