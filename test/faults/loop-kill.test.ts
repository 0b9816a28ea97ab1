/** The count of calls that go round in circles, while the worker that counts is killed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { calls, type RecordedRequest } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const results = ({ messages }: RecordedRequest) => messages.filter(({ role }) => role === 'tool').length;

describe('a loop', () => {
  let cluster: Cluster;
  let letGo = Promise.withResolvers<void>();

  beforeAll(async () => {
    cluster = await startCluster({
      script: async (request) => {
        if (results(request) === 7) await letGo.promise;
        return calls(request.messages.some(({ content }) => content === 'quickly') ? 'touch' : 'set', {
          line: 'the same',
        });
      },
    });
  });
  afterAll(() => cluster?.close());

  it.each(['quickly', 'slowly'])(
    '[AX-75] of which seven calls were made (%s) when the worker was killed ends with the eighth',
    async (how) => {
      letGo = Promise.withResolvers<void>();
      await cluster.keep(1);
      const thread = await cluster.begin(how, 'looper');
      await eventually('seven calls', () =>
        cluster.model.requests.some((request) => results(request) === 7 && isOf(request, how)),
      );
      await cluster.workers[0]?.end('SIGKILL');
      letGo.resolve();
      await cluster.keep(1);
      expect(await cluster.client.waitForIdle(thread)).toMatchObject({
        status: 'failed',
        lastError: { code: 'LoopDetected', message: expect.stringContaining('8 times') },
      });
      expect(cluster.ledger(thread)).toEqual(Array(8).fill('the same'));
      const events = await cluster.store.events.read(thread, 0, 1000);
      expect(eventsOf(events, 'loop.warning').map(({ data }) => data.count)).toEqual([4, 5, 6, 7]);
      expect(eventsOf(events, 'loop.critical')).toHaveLength(1);
    },
    120_000,
  );

  // Its result is stored, and nobody was told.
  it('[AX-75] whose last call was stored when the worker was killed has ended with it', async () => {
    letGo = Promise.withResolvers<void>();
    await cluster.keep(1);
    const thread = await cluster.begin('once more', 'looper');
    await eventually('seven calls', () =>
      cluster.model.requests.some((request) => results(request) === 7 && isOf(request, 'once more')),
    );
    cluster.orderDeath('tool_committed');
    letGo.resolve();
    await cluster.died('tool_committed');
    await cluster.keep(1);
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ lastError: { code: 'LoopDetected' } });
    expect(cluster.ledger(thread)).toHaveLength(8);
  }, 120_000);
});

function isOf({ messages }: RecordedRequest, word: string): boolean {
  return messages.some(({ content }) => content === word);
}
