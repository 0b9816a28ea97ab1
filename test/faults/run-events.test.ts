/** RunEvents of threads whose workers were killed: the same as of one that nothing befell, and honest where that cannot be. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunEvent } from '../../src/projections/run/run-event.ts';
import { collect, expectWhole, toGolden } from '../projections/golden.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

describe('RunEvents after a worker was killed', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    // Longer than a busy machine is silent: no worker but the killed one is to be taken for lost.
    cluster = await startCluster({ configuration: { modelHeartbeatMs: 10_000, toolHeartbeatMs: 10_000 } });
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  async function run(content: string, point?: DeathPoint): Promise<RunEvent[]> {
    if (point) cluster.orderDeath(point);
    const thread = await cluster.begin(content);
    if (point) {
      await cluster.died(point);
      await cluster.keep(1);
    }
    await cluster.client.waitForIdle(thread, { timeoutMs: 120_000 });
    return (await collect(cluster.client.events(thread, { as: 'run', follow: false }))).map(
      ({ event }) => event,
    );
  }

  it.each(['model_committed', 'tool_committed', 'status_committed'] as const)(
    '[PL-21] are those of a run that nothing befell: %s',
    async (point) => {
      const told = await run('use write 1', point);
      expect(toGolden(told)).toEqual(toGolden(await run('use write 1')));
    },
  );

  it('[PL-26] a call whose worker was lost has failed, and says that its effect is uncertain', async () => {
    const told = await run('use write 1', 'body_after');
    expect(told.map(({ sequence }) => sequence)).toEqual(
      told.map(({ sequence }) => sequence).toSorted((a, b) => (a ?? 0) - (b ?? 0)),
    );
    expect(told.filter(({ final }) => final)).toHaveLength(1);
    expect(
      told
        .filter(({ type }) => type.startsWith('action.'))
        .map(({ type, payload }) => [type, payload.uncertain]),
    ).toEqual([
      ['action.requested', undefined],
      ['action.started', undefined],
      ['action.failed', true],
    ]);
  });

  it('[AX-80] a step that another worker took over says so, and its sequence has no gap', async () => {
    const told = await run('hello', 'model_answered');
    expectWhole(told.filter(({ sequence }) => sequence !== null));
    expect(told.find(({ payload }) => payload.llm_event_type === 'llm_retry')).toMatchObject({
      severity: 'warning',
      payload: { reason: 'worker_lost' },
    });
  });
});
