/**
 * A worker process is killed while it cancels an execution: another one finds the request in the store and ends the
 * execution once, as canceled, with the reason.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { askStatus } from '../support/ask-workflow.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers, standAt } from '../support/standing.ts';

describe('a worker process killed with SIGKILL while it cancels', () => {
  let cluster: Cluster;
  let told: string;
  let untold: string;
  let answering: string;

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    const inTool = () => standAt(cluster, 'body_before', () => cluster.begin('use write 1'));
    untold = await inTool();
    told = await inTool();
    answering = await cluster.begin('talk slowly');
    await eventually('the answer', async () => (await typesOf(answering)).includes('model.chunk'));
    await standAt(cluster, 'status_committed', () => cancel(answering));
    await cancel(told);
    await killWorkers(cluster);
    await cancel(untold);
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const cancel = (thread: string) => cluster.client.cancelExecution(thread, { reason: 'enough', by: 'ada' });
  const typesOf = async (thread: string) =>
    (await cluster.store.events.read(thread, 0)).map(({ type }) => type);

  async function expectCanceled(thread: string): Promise<void> {
    await eventually('its end', async () => (await typesOf(thread)).includes('execution.ended'));
    await cluster.client.waitForIdle(thread, { timeoutMs: 120_000 });
    const ends = (await cluster.store.events.read(thread, 0)).filter(
      ({ type }) => type === 'execution.ended',
    );
    expect(ends).toMatchObject([{ data: { reason: 'canceled', cancelReason: 'enough', by: 'ada' } }]);
    expect(await cluster.client.getExecution(thread)).toMatchObject({
      state: 'canceled',
      canceled: { reason: 'enough', by: 'ada' },
      context: { canceled: true, cancelReason: 'enough' },
    });
    expect(await typesOf(thread)).not.toContain('step.failed');
    expect(await cluster.store.threads.get(thread)).toMatchObject({
      status: 'stopped',
      stopReason: 'canceled',
    });
    // The status that the workflow shows to people.
    await eventually('the status of its workflow', async () => {
      const handle = cluster.client.temporal.workflow.getHandle(`thread/${thread}`);
      const shown = await askStatus(handle);
      return shown.status === 'stopped' && shown.stopReason === 'canceled';
    });
  }

  it('[PL-16] in a tool that ignores the abort: nothing is written, and the next worker ends the execution', async () => {
    await expectCanceled(told);
    expect(cluster.ledger(told)).toEqual([]);
  });

  it('[PL-16] before the worker sees the request: the store has it, and the next worker ends the execution', async () => {
    await expectCanceled(untold);
    expect(cluster.ledger(untold)).toEqual([]);
  });

  it('[PL-16] during an answer, or as the end is stored: there is one end', async () => {
    await expectCanceled(answering);
  });
});
