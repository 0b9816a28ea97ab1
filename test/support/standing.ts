/**
 * Holds threads at fault points until their worker is killed. One kill serves all of them, so a file of many points
 * needs two worker starts in total instead of two per point.
 */
import { eventually } from './eventually.ts';
import type { Cluster } from './fault-cluster.ts';
import { type DeathPoint, hasStayed, orderStay } from './fault-project.ts';

/** Runs `cause`; resolves once the code that it triggers is held at the point. */
export async function standAt<T>(
  { folder }: Cluster,
  point: DeathPoint,
  cause: () => Promise<T>,
): Promise<T> {
  orderStay(folder, point);
  const caused = await cause();
  await eventually(`a thread at ${point}`, () => hasStayed(folder, point));
  return caused;
}

/** Kills all workers (SIGKILL), in the middle of their work. */
export async function killWorkers({ workers }: Cluster): Promise<void> {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
}
