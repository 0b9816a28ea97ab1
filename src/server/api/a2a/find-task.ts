/** Finds tasks by id: executions that the caller may reach, begun or in line. */
import { nullIfThreadNotFound } from '../../../client/make-thread.ts';
import { RuntimeError } from '../../../core/value/error.ts';
import type { ThreadRecord } from '../../../store/thread/thread-record.ts';
import { requireThreadOf } from '../agent-thread.ts';
import type { Caller } from '../caller.ts';
import type { ApiHost } from '../host.ts';

export interface FoundTask {
  readonly taskId: string;
  readonly thread: ThreadRecord;
  /** Id of the message that begins the task; null if no message has claimed the task's id. */
  readonly itemId: string | null;
}

export interface AddressedTask {
  readonly agent: string;
  readonly taskId: string;
}

/** Throws `ExecutionNotFound`, also for a task of another agent or caller, whose existence is not revealed. */
export async function findTask(
  { client }: ApiHost,
  caller: Caller,
  { agent, taskId }: AddressedTask,
): Promise<FoundTask> {
  const store = client.store;
  const claims = await store.queue.findClaims(taskId);
  const begun = await store.executions.find(taskId);
  const places = claims.map(({ threadId, itemId }) => ({ threadId, itemId: itemId as string | null }));
  if (begun?.id === taskId && !claims.some(({ threadId }) => threadId === begun.threadId))
    places.push({ threadId: begun.threadId, itemId: null });
  for (const { threadId, itemId } of places) {
    const thread = await requireThreadOf(client, caller, { agent, threadId }).catch(nullIfThreadNotFound);
    if (thread) return { taskId, thread, itemId };
  }
  throw new RuntimeError('ExecutionNotFound', `There is no task "${taskId}".`);
}
