/**
 * Moves arrivals to the store while a step runs, so that readers see them as pending, carried state stays small,
 * and a killed run loses nothing (runtime §9).
 * T1. An item too deep to be written as JSON is refused: it would block all items after it.
 */

import { condition, isCancellation, log, patched } from '@temporalio/workflow';
import type { QueueItem } from '../core/thread/item.ts';
import type { ThreadQueue } from '../core/thread/queue.ts';
import { LIMITS } from '../core/value/limit.ts';
import { errorMessage } from '../core/value/thrown.ts';
import type { ThreadRun } from './thread-run.ts';

/** Moves one batch; false if that failed, in which case the batch stays in the workflow. */
export async function spillBatch(run: ThreadRun): Promise<boolean> {
  refuseUnstorable(run);
  const items = nextBatch(run.inbox.queue);
  if (items.length === 0) return true;
  try {
    await run.activities.stashItems(items);
    run.inbox.queue.spilled(items);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.error('queued items stay in the workflow', { error: errorMessage(error) });
    return false;
  }
}

/** T1. Handlers bound the depth of items, so only a run of an early version may hold such an item. */
function refuseUnstorable(run: ThreadRun): void {
  const { queue } = run.inbox;
  if (!queue.holdsUnstorable || !patched('refuses-what-cannot-be-stored')) return;
  for (const { id } of queue.dropUnstorable()) {
    const reason = `it is nested deeper than ${LIMITS.jsonDepth} levels and cannot be stored`;
    run.refusals.add({ code: 'InvalidMessage', reason, id });
  }
}

/** Early versions bounded a batch only by its bytes. */
function nextBatch(queue: ThreadQueue): readonly QueueItem[] {
  const all = queue.nextSpill(Number.POSITIVE_INFINITY);
  if (all.length <= LIMITS.stashItems || !patched('stashes-in-small-batches')) return all;
  return queue.nextSpill();
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
