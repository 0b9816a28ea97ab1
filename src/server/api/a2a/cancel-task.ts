/** Cancels a task, and waits a limited time for its end. A task that is slower is returned as it is, and ends later. */
import { isRuntimeError } from '../../../core/value/error.ts';
import { type A2aTask, isTerminal } from '../../../projections/a2a/a2a-shape.ts';
import type { Caller } from '../caller.ts';
import type { ApiHost } from '../host.ts';
import { type FoundTask, findTask } from './find-task.ts';
import { readTask, taskPages } from './task-reading.ts';

/** Milliseconds that an answer waits for the end of the cancelled task. */
const MAX_WAIT_MS = 10_000;

export interface CancelTask {
  readonly agent: string;
  readonly id: string;
  readonly reason?: string | undefined;
  readonly signal: AbortSignal;
}

/** Idempotent. Throws `ExecutionNotFound`, or `ExecutionNotCancelable` if the task has ended in another way. */
export async function cancelTask(
  host: ApiHost,
  caller: Caller,
  { agent, id, reason, signal }: CancelTask,
): Promise<A2aTask> {
  const found = await findTask(host, caller, { agent, taskId: id });
  const by = caller.name ?? undefined;
  const request = { executionId: id, ...(reason === undefined ? {} : { reason }), ...(by ? { by } : {}) };
  const refused = await host.client.cancelExecution(found.thread.id, request).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (refused === undefined) return awaitEnd(host, found, signal);
  const task = await readTask(host.client, found);
  // A repeated cancellation gets the same answer.
  if (isRuntimeError(refused, 'ExecutionNotCancelable') && task.status.state === 'TASK_STATE_CANCELED')
    return task;
  throw refused;
}

async function awaitEnd({ client }: ApiHost, found: FoundTask, leaving: AbortSignal): Promise<A2aTask> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(MAX_WAIT_MS)]);
  let last: A2aTask | undefined;
  for await (const { task } of taskPages(client, { ...found, until: 'end', signal })) {
    last = task;
    if (isTerminal(task.status.state)) return task;
  }
  return last ?? readTask(client, found);
}
