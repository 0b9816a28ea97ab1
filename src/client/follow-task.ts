/**
 * Reads a task's log as its event stream, and follows it. A reading begins at the task's first row, so its events do
 * not depend on where it resumes.
 */
import { type Projected, readCursor, withCursors } from '../projections/projection.ts';
import type { RuntimeStreamEvent } from '../projections/task/stream-event.ts';
import { beginTask, projectTask } from '../projections/task/task-projection.ts';
import type { ThreadStore } from '../store/store.ts';
import type { TaskRecord } from '../store/task/task-record.ts';
import { type FollowPages, followPages } from './follow-events.ts';
import { watchForLoss } from './lost-task.ts';

export interface FollowTaskPages extends Omit<FollowPages, 'after'> {
  readonly after?: string | undefined;
}

/** Yields events in pages, one for each page of log rows. Throws `InvalidValue` if `after` is not a cursor. */
export async function* taskPages(
  store: ThreadStore,
  { id, threadId }: Pick<TaskRecord, 'id' | 'threadId'>,
  { after, ...options }: FollowTaskPages,
): AsyncGenerator<readonly Projected<RuntimeStreamEvent>[]> {
  const cursor = after === undefined ? undefined : readCursor(after);
  let reading = beginTask(id);
  const leave = await watchForLoss(store, threadId);
  try {
    for await (const page of followPages(store, threadId, options)) {
      const projected: Projected<RuntimeStreamEvent>[] = [];
      for (const event of page) {
        const [next, outgoing] = projectTask(reading, { event });
        reading = next;
        projected.push(...withCursors({ event }, outgoing, cursor));
      }
      yield projected;
    }
  } finally {
    leave();
  }
}
