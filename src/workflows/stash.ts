/**
 * Hands arrivals to the store while a step runs, so that readers see them pending, carried state stays small,
 * and a killed run leaves nothing behind in memory (runtime §9).
 */
import { condition, isCancellation, log } from '@temporalio/workflow';
import { commit } from './proxies.ts';
import type { ThreadRun } from './thread-run.ts';

/** Moves one batch; false when the store would not have it, and the batch stays with the workflow. */
export async function stashOnce(run: ThreadRun): Promise<boolean> {
  const items = run.queue.nextStash();
  if (items.length === 0) return true;
  try {
    await commit('stashItems', { ...run.ref, items }, `${items.length} queued`);
    run.queue.stashed(items);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error('queued items stay in the workflow', { error: String(error) });
    return false;
  }
}

/** Runs `work`; whatever arrives behind it goes to the store meanwhile. */
export async function stashBehind<T>(run: ThreadRun, work: Promise<T>): Promise<T> {
  let over = false;
  const settled = work.finally(() => {
    over = true;
  });
  const stashing = (async () => {
    for (;;) {
      await condition(() => over || run.queue.hasArrivals);
      if (over || !(await stashOnce(run))) return;
    }
  })();
  try {
    return await settled;
  } finally {
    await stashing;
  }
}
