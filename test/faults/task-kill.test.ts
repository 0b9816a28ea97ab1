/** A worker is killed in the midst of tasks. `npm run test:soak -- task-kill` has every place. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { expectUnknown, expectWhole } from './task-kill-points.ts';

describe('a worker process killed with SIGKILL', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it('[TG-20] between the phases of a step: what was decided is done once by the next', () =>
    expectWhole(cluster, 'task_decided'));

  it('[TG-20] behind the side effect of an act: it is not done again, and its end is unknown', () =>
    expectUnknown(cluster, 'body_after', ['0']));

  it('[TG-20] as a task would end: it ends once', () => expectWhole(cluster, 'task_ending'));

  it('[TG-05] while it waits: answered when there is no worker, it goes on with the next, and acts no more than it would have', async () => {
    const { id } = await cluster.client.tasks.start({ task: 'write', inputs: { asks: true } });
    expect(await cluster.client.tasks.wait(id, { timeoutMs: 300_000 })).toMatchObject({ status: 'waiting' });
    await Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
    const [wait] = await cluster.client.listWaits({ threadId: `task/${id}` });
    expect(await cluster.client.answerWait(wait?.id ?? '', { value: true })).toEqual({ outcome: 'taken' });
    await cluster.keep(1);
    const over = await eventually('its end', async () => {
      const found = await cluster.client.tasks.get(id);
      return found.endedAt !== null && found;
    });
    expect(over).toMatchObject({ status: 'completed', steps: 3, spentCostUsd: 2 });
    expect(cluster.ledger(id)).toEqual(['0', '1']);
  });

  it('goes on where the store has it when its run was terminated and the same start comes again', async () => {
    const start = { task: 'write', id: 'revived', inputs: { asks: true } };
    const { id } = await cluster.client.tasks.start(start);
    await cluster.client.tasks.wait(id, { timeoutMs: 300_000 });
    await cluster.client.temporal.workflow.getHandle(`task/${id}`).terminate('by an operator');
    const [wait] = await cluster.client.listWaits({ threadId: `task/${id}` });
    await cluster.client.answerWait(wait?.id ?? '', { value: true });
    await cluster.client.tasks.start(start);
    const over = await eventually('its end', async () => {
      const found = await cluster.client.tasks.get(id);
      return found.endedAt !== null && found;
    });
    expect(over).toMatchObject({ status: 'completed', steps: 3 });
    expect(cluster.ledger(id)).toEqual(['0', '1']);
  });
});
