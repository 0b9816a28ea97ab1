/**
 * Moves arrivals to the store while a step runs, so that readers see them as pending, carried state stays small,
 * and a killed run loses nothing (runtime §9).
 */
import { condition, isCancellation, log } from '@temporalio/workflow';
import { errorMessage } from '../core/value/thrown.ts';
import type { ThreadRun } from './thread-run.ts';

/** Moves one batch; false if that failed, in which case the batch stays in the workflow. One batch at a time. */
export function spillBatch(run: ThreadRun): Promise<boolean> {
  run.spilling ??= moveBatch(run).finally(() => {
    run.spilling = undefined;
  });
  return run.spilling;
}

async function moveBatch(run: ThreadRun): Promise<boolean> {
  const items = run.inbox.queue.nextSpill();
  if (items.length === 0) return true;
  try {
    await run.activities.stashItems({ items }, `${items.length} queued`);
    run.inbox.spilled(items);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error('queued items stay in the workflow', { error: errorMessage(error) });
    return false;
  }
}

/** Awaits `work`; items that arrive in the meantime are moved to the store. */
export async function spillDuring<T>(run: ThreadRun, work: Promise<T>): Promise<T> {
  let over = false;
  const settled = work.finally(() => {
    over = true;
  });
  const spilling = (async () => {
    for (;;) {
      await condition(() => over || run.inbox.queue.hasArrivals);
      if (over || !(await spillBatch(run))) return;
    }
  })();
  try {
    return await settled;
  } finally {
    await spilling;
  }
}
