/**
 * RunEvents of threads whose workers were killed: equal to those of an undisturbed thread, or they say that a worker
 * was lost.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunEvent } from '../../src/projections/run/run-event.ts';
import { collect, expectWhole, toGolden } from '../projections/golden.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';
import { killWorkers, standAt } from '../support/standing.ts';

/** The place at which the worker is killed, and the message sent to the thread. */
const PLACES = {
  model_committed: 'use write 1',
  tool_committed: 'use write 1',
  status_committed: 'use write 1',
  body_after: 'use write 1',
  model_answered: 'hello',
} as const satisfies Partial<Record<DeathPoint, string>>;
type Place = keyof typeof PLACES;

describe('RunEvents after a worker was killed', () => {
  let cluster: Cluster;
  const threads = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    for (const [place, content] of Object.entries(PLACES) as [Place, string][])
      threads.set(place, await standAt(cluster, place, () => cluster.begin(content)));
    await killWorkers(cluster);
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const survivor = (place: Place) => told(threads.get(place) as string);

  async function told(thread: string): Promise<RunEvent[]> {
    await cluster.client.waitForIdle(thread, { timeoutMs: 120_000 });
    return (await collect(cluster.client.events(thread, { as: 'run', follow: false }))).map(
      ({ event }) => event,
    );
  }

  it.each(['model_committed', 'tool_committed', 'status_committed'] as const)(
    '[PL-21] equal those of an undisturbed run: %s',
    async (point) => {
      const undisturbed = await told(await cluster.begin(PLACES[point]));
      expect(toGolden(await survivor(point))).toEqual(toGolden(undisturbed));
    },
  );

  it('[PL-26] report a call whose worker was lost as failed, with an uncertain effect', async () => {
    const events = await survivor('body_after');
    expect(events.map(({ sequence }) => sequence)).toEqual(
      events.map(({ sequence }) => sequence).toSorted((a, b) => (a ?? 0) - (b ?? 0)),
    );
    expect(events.filter(({ final }) => final)).toHaveLength(1);
    expect(
      events
        .filter(({ type }) => type.startsWith('action.'))
        .map(({ type, payload }) => [type, payload.uncertain]),
    ).toEqual([
      ['action.requested', undefined],
      ['action.started', undefined],
      ['action.failed', true],
    ]);
  });

  it('[AX-80] report a step taken over by another worker, without a gap in the sequence', async () => {
    const events = await survivor('model_answered');
    expectWhole(events.filter(({ sequence }) => sequence !== null));
    expect(events.find(({ payload }) => payload.llm_event_type === 'llm_retry')).toMatchObject({
      severity: 'warning',
      payload: { reason: 'worker_lost' },
    });
  });
});
