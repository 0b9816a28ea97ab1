/**
 * Ensures that all workers of a task queue use the same store: a worker with another store would receive tasks of
 * threads that it does not know. Each worker has its store's id in its identity, and refuses to serve a queue that a
 * worker of another store polls.
 */
import { hostname } from 'node:os';
import type { NativeConnection } from '@temporalio/worker';
import { isPolling } from '../core/thread/poller.ts';
import { RuntimeError } from '../core/value/error.ts';

/** A queue, and the store whose workers may serve it. */
interface ServedQueue {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly storeId: string;
}

const IDENTITY = /^everthread:([0-9a-f-]{36}):(\d+)@(.*)$/;
const WORKFLOW_QUEUE = 1;

export async function refuseForeignPollers(connection: NativeConnection, queue: ServedQueue): Promise<void> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace: queue.namespace,
    taskQueue: { name: queue.taskQueue },
    taskQueueType: WORKFLOW_QUEUE,
  });
  for (const poller of pollers ?? []) {
    const [, storeId, pid, host] = IDENTITY.exec(poller.identity ?? '') ?? [];
    if (storeId === undefined || storeId === queue.storeId) continue;
    const seenAt = Number(poller.lastAccessTime?.seconds ?? 0) * 1000;
    if (!isPolling(seenAt, Date.now()) || hasEnded(host, Number(pid))) continue;
    throw new RuntimeError(
      'StoreMismatch',
      `Process ${pid} on ${host} serves the queue "${queue.taskQueue}" with store ${storeId}, and this worker has store ` +
        `${queue.storeId}. Give both the same EVERTHREAD_STORE, or this one another EVERTHREAD_TASK_QUEUE. ` +
        'A worker that has just ended on another machine is remembered for about a minute.',
    );
  }
}

/** True if the poller was a worker of this process, or a process of this machine that has ended. */
function hasEnded(host: string | undefined, pid: number): boolean {
  return host === hostname() && (pid === process.pid || !isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as { code?: string }).code === 'EPERM';
  }
}
