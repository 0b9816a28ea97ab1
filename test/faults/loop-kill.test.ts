/** The count of repeated calls in a loop, while the worker that counts them is killed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { calls, type RecordedRequest } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers, standAt } from '../support/standing.ts';

const results = ({ messages }: RecordedRequest) => messages.filter(({ role }) => role === 'tool').length;

const WORDS = ['quickly', 'slowly', 'once more'];

describe('a loop of repeated calls', () => {
  let cluster: Cluster;
  const threads = new Map<string, string>();
  const gates = new Map(WORDS.map((word) => [word, Promise.withResolvers<void>()]));
  const letGo = (word: string) => gates.get(word)?.resolve();

  /** Resolves when the model has been asked after seven calls; its answer, the eighth call, is held back. */
  async function atSeven(word: string): Promise<string> {
    const thread = await cluster.begin(word, 'looper');
    await eventually('seven calls', () =>
      cluster.model.requests.some((request) => results(request) === 7 && isOf(request, word)),
    );
    threads.set(word, thread);
    return thread;
  }

  beforeAll(async () => {
    cluster = await startCluster({
      script: async (request) => {
        if (results(request) === 7) await gates.get(WORDS.find((word) => isOf(request, word)) ?? '')?.promise;
        return calls(request.messages.some(({ content }) => content === 'quickly') ? 'touch' : 'set', {
          line: 'the same',
        });
      },
    });
    await cluster.keep(1);
    await atSeven('once more');
    await standAt(cluster, 'tool_committed', async () => letGo('once more'));
    for (const word of ['quickly', 'slowly']) await atSeven(word);
    await killWorkers(cluster);
    for (const word of ['quickly', 'slowly']) letGo(word);
    await cluster.keep(1);
  }, 240_000);
  afterAll(() => cluster?.close());

  it.each(['quickly', 'slowly'])(
    '[AX-75] with seven calls made (%s) when the worker was killed ends with the eighth',
    async (how) => {
      const thread = threads.get(how) as string;
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

  // The eighth result is stored, but the worker died before it reported it.
  it('[AX-75] whose last call was stored when the worker was killed ends with that call', async () => {
    const thread = threads.get('once more') as string;
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ lastError: { code: 'LoopDetected' } });
    expect(cluster.ledger(thread)).toHaveLength(8);
  }, 120_000);
});

function isOf({ messages }: RecordedRequest, word: string): boolean {
  return messages.some(({ content }) => content === word);
}
