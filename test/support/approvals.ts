/** Decides approvals of a cluster's threads as a person does: with the command, in a process that is no worker. */
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { runInHost } from '../once/command-host.ts';
import { eventually } from './eventually.ts';
import type { Cluster } from './fault-cluster.ts';

/**
 * Resolves with the open wait of a thread, once the thread's status is `waiting`. `patience`: passed on to
 * `eventually`.
 */
export function openWait(
  { client }: Cluster,
  threadId: string,
  ...patience: readonly [timeoutMs?: number, pauseMs?: number]
): Promise<Wait> {
  const look = async () => {
    const [wait] = await client.listWaits({ threadId });
    if (!wait) return undefined;
    const { status } = await client.getThread(threadId);
    return status === 'waiting' && wait;
  };
  return eventually('a wait that its thread shows', look, ...patience);
}

/** Runs `everthread waits answer ID …`; returns its exit code. */
export async function decide(cluster: Cluster, id: string, ...answer: string[]): Promise<number> {
  return (await decideAloud(cluster, id, ...answer)).code;
}

/** Runs `everthread waits answer ID …`; returns its exit code and its standard error. */
export function decideAloud(cluster: Cluster, id: string, ...answer: string[]): Promise<Said> {
  return command(cluster, 'waits', 'answer', id, ...answer);
}

interface Said {
  readonly code: number;
  readonly stderr: string;
}

/** Runs `everthread …`. */
export async function command({ folder, taskQueue, address }: Cluster, ...args: string[]): Promise<Said> {
  const env = {
    TEMPORAL_ADDRESS: address,
    EVERTHREAD_TASK_QUEUE: taskQueue,
    EVERTHREAD_STORE: 'sqlite:store.db?synchronous=normal',
  };
  return runInHost({
    args,
    cwd: folder,
    env: { ...(process.env as Record<string, string>), ...env },
    input: '',
  });
}

/** Kills all workers (SIGKILL) and starts as many new ones. */
export async function replaceWorkers(cluster: Cluster): Promise<void> {
  const { length } = cluster.workers;
  await Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
  await cluster.keep(length);
}
