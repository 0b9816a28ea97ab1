/**
 * Ensures that a task queue has clients and workers of one store. A worker with another store would receive tasks of
 * threads that it does not know, and answer threads of its own agents with a client's messages missing. Each worker has
 * its store's id in its identity; a worker refuses to serve a queue that a worker of another store polls, and a client
 * to send to it.
 */
import { hostname } from 'node:os';
import type { WorkflowService } from '@temporalio/client';
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

/** Throws `StoreMismatch` if a worker of another store polls the queue; `own` is what this process is. */
export async function refuseForeignWorkers(
  service: Pick<WorkflowService, 'describeTaskQueue'>,
  { namespace, taskQueue, storeId }: ServedQueue,
  own: 'worker' | 'client',
): Promise<void> {
  const { pollers } = await service.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_QUEUE,
  });
  const workers = (pollers ?? []).flatMap(({ identity, lastAccessTime }) => {
    const [, store, pid, host] = IDENTITY.exec(identity ?? '') ?? [];
    const seenAt = Number(lastAccessTime?.seconds ?? 0) * 1000;
    return store === undefined || !isPolling(seenAt, Date.now()) || hasEnded(host, Number(pid))
      ? []
      : [{ store, pid, host }];
  });
  const foreign = workers.find(({ store }) => store !== storeId);
  // While a worker of the client's store polls as well, the other is one that is leaving.
  if (!foreign || (own === 'client' && workers.some(({ store }) => store === storeId))) return;
  throw new RuntimeError(
    'StoreMismatch',
    `Process ${foreign.pid} on ${foreign.host} serves the queue "${taskQueue}" with store ${foreign.store}, and this ${own} has store ` +
      `${storeId}. Give both the same EVERTHREAD_STORE, or this one another EVERTHREAD_TASK_QUEUE. ` +
      'A worker that has just ended on another machine is remembered for about a minute.',
  );
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
