/**
 * Threads that stand at places of their lives until their worker is killed: one death is that of all of them, so a file of many places has
 * two starts of a worker and not two for each. Nobody who stands may be taken for lost before: see `PATIENT`.
 */
import { eventually } from './eventually.ts';
import type { Cluster } from './fault-cluster.ts';
import { type DeathPoint, hasStayed, orderStay } from './fault-project.ts';

/** For heartbeats: longer than a busy machine is silent. */
export const PATIENT = { modelHeartbeatMs: 6000, toolHeartbeatMs: 6000 } as const;

/** Whoever comes by the place next, which is what `cause` brings about, stands there when this resolves. */
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

/** All workers die, in the middle of whatever they do. */
export async function killWorkers({ workers }: Cluster): Promise<void> {
  await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
}
