/** Approvals of a cluster's threads, decided as a person does: with the command, in another process than any worker. */
import type { Wait } from '../../src/store/port/wait.ts';
import { runInHost } from '../once/command-host.ts';
import { eventually } from './eventually.ts';
import type { Cluster } from './fault-cluster.ts';

/** The open wait of a thread that shows that it waits. */
export function openWait({ client }: Cluster, threadId: string): Promise<Wait> {
  return eventually('a wait that its thread shows', async () => {
    const [wait] = await client.listWaits({ threadId });
    if (!wait) return undefined;
    const { status } = await client.getThread(threadId);
    return status === 'waiting' && wait;
  });
}

/** `everthread waits answer ID …`; answers its exit code. */
export function decide(cluster: Cluster, id: string, ...answer: string[]): Promise<number> {
  return command(cluster, 'waits', 'answer', id, ...answer);
}

/** `everthread …`; answers its exit code. */
export async function command({ folder, taskQueue, address }: Cluster, ...args: string[]): Promise<number> {
  const env = {
    TEMPORAL_ADDRESS: address,
    EVERTHREAD_TASK_QUEUE: taskQueue,
    EVERTHREAD_STORE: 'sqlite:store.db?synchronous=normal',
  };
  const { code } = await runInHost({
    args,
    cwd: folder,
    env: { ...(process.env as Record<string, string>), ...env },
    input: '',
  });
  return code;
}

/** A worker dies and another takes its place. */
export async function replaceWorkers(cluster: Cluster): Promise<void> {
  const { length } = cluster.workers;
  await Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
  await cluster.keep(length);
}
