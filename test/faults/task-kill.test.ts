/**
 * Tasks are at their places, or wait, when their only worker is killed. `npm run test:soak -- task-kill` has a death
 * for every place.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../support/fault-cluster.ts';
import { killWorkers, standAt } from '../support/standing.ts';
import { describeTaskCalls } from './task-call-kill-points.ts';
import { expectUnknown, expectWhole } from './task-kill-points.ts';

describe('a worker process killed with SIGKILL', () => {
  let cluster: Cluster;
  /** Task ids by the place at which the worker was killed. */
  const tasks = {} as Record<'task_decided' | 'body_after' | 'task_ending' | 'waiting', string>;
  const next: { -readonly [Key in keyof ClusterOptions]: ClusterOptions[Key] } = {};

  const start = async (inputs = {}) => (await cluster.client.tasks.start({ task: 'write', inputs })).id;
  async function wait(): Promise<string> {
    const id = await start({ asks: true });
    expect(await cluster.client.tasks.wait(id, { timeoutMs: 300_000 })).toMatchObject({ status: 'waiting' });
    return id;
  }
  async function answer(id: string): Promise<void> {
    const [wait] = await cluster.client.listWaits({ threadId: `task/${id}` });
    expect(await cluster.client.answerWait(wait?.id ?? '', { value: true })).toEqual({ outcome: 'taken' });
  }

  beforeAll(async () => {
    cluster = await startCluster(next);
    await cluster.keep(1);
    tasks.waiting = await wait();
    for (const point of ['task_decided', 'body_after', 'task_ending'] as const)
      tasks[point] = await standAt(cluster, point, start);
    await killWorkers(cluster);
    await answer(tasks.waiting);
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it('[TG-20] between the phases of a step: the decided act runs once, on the next worker', () =>
    expectWhole(cluster, tasks.task_decided));

  it('[TG-20] after the side effect of an act: it is not repeated, and its outcome is unknown', () =>
    expectUnknown(cluster, tasks.body_after, ['0']));

  it('[TG-20] as a task is about to end: it ends once', () => expectWhole(cluster, tasks.task_ending));

  it('[TG-05] during a wait: an answer given without a worker is used by the next one, without an extra act', async () => {
    const over = await eventually('its end', async () => {
      const found = await cluster.client.tasks.get(tasks.waiting);
      return found.endedAt !== null && found;
    });
    expect(over).toMatchObject({ status: 'completed', steps: 3, spentCostUsd: 2 });
    expect(cluster.ledger(tasks.waiting)).toEqual(['0', '1']);
  });

  it('resumes from the store if its run was terminated and the same start is sent again', async () => {
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

  it('[TG-05] during a wait, with its code replaced: the newer build is reported, uses the answer and ends the task', async () => {
    const id = await wait();
    const before = await cluster.client.tasks.get(id);
    await killWorkers(cluster);
    next.program = NEWER;
    await cluster.keep(1);
    await answer(id);
    const told = [];
    for await (const { event } of cluster.client.tasks.events(id)) told.push(event);
    expect(told.at(-1)).toMatchObject({ type: 'final', status: 'completed' });
    const over = await cluster.client.tasks.get(id);
    expect(told.filter(({ type }) => type === 'manifest_changed')).toMatchObject([
      { from: before.manifest, to: over.manifest },
    ]);
    expect(over).toMatchObject({ steps: 3, spentCostUsd: 2 });
    // Each act once: the first by the build that began the task, the last by the build that ends it.
    expect(cluster.ledger(id)).toEqual(['0', '1 by newer']);
  });
});

const NEWER = join(import.meta.dirname, '..', 'support', 'newer-worker-process.ts');

describeTaskCalls('together');
