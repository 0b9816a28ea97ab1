/** All places of `task-kill.test.ts`: a worker dies at every place of a task. */
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { describeTaskCalls } from './task-call-kill-points.ts';
import { expectUnknown, expectWhole, SAFE_POINTS, throughDeath, UNSAFE_POINTS } from './task-kill-points.ts';

describe('a worker process killed with SIGKILL during a task', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it.each(SAFE_POINTS)('[TG-20] at %s: each act runs once', async (point) =>
    expectWhole(cluster, await throughDeath(cluster, point)),
  );

  it.each(UNSAFE_POINTS)('[TG-20] at %s: its act is not repeated', async (point, written) =>
    expectUnknown(cluster, await throughDeath(cluster, point), written),
  );

  it.each(['task_not_begun', 'task_act_kept'] as const)('[TG-20] at %s of an idempotent act', async (point) =>
    expectWhole(cluster, await throughDeath(cluster, point, 'repeated')),
  );
});

describeTaskCalls('each');
