/**
 * A worker is killed while a history is summarised: one summary is stored and reported once, and nothing of the turn is
 * lost.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type DeathPoint, faultScript, hasStayed, orderStay } from '../support/fault-project.ts';

/** Number of messages at which the guard of the agent `keeper` summarises. */
const WORDS = 5;
/** Title, place, and the least number of requests for a summary. */
const PLACES: [string, DeathPoint | 'asked', number][] = [
  ['while the model summarises', 'asked', 2],
  ['after the model has summarised, before the commit', 'summarised', 2],
  ['after the commit, before the answer is asked for', 'summary_kept', 1],
];

describe('a worker process killed with SIGKILL', () => {
  let cluster: Cluster;
  const threads = new Map<string, string>();

  beforeAll(async () => {
    const script = faultScript();
    let hung = false;
    const hasHung = () => hung;
    cluster = await startCluster({
      script: (request, index) => {
        const [first, record] = request.messages;
        const isHanging = first?.content === INSTRUCTIONS && String(record?.content).includes('asked 1');
        if (!isHanging || hung) return script(request, index);
        hung = true;
        return hangs();
      },
    });
    await cluster.keep(1);
    for (const [, place] of PLACES) {
      const thread = await cluster.begin(`${place} 1`, 'keeper');
      threads.set(place, thread);
      for (let word = 2; word <= WORDS; word += 1) {
        await cluster.client.waitForIdle(thread);
        await cluster.client.queueMessage(thread, { content: `${place} ${word}` });
      }
      await cluster.client.waitForIdle(thread);
    }
    for (const [, place] of PLACES) {
      if (place !== 'asked') orderStay(cluster.folder, place);
      await cluster.client.queueMessage(threads.get(place) as string, { content: `${place} now` });
      const stands = () => (place === 'asked' ? hasHung() : hasStayed(cluster.folder, place));
      await eventually(`a thread at ${place}`, stands);
    }
    await cluster.workers[0]?.end('SIGKILL');
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it.each(PLACES)(
    '[AX-28] %s leaves one summary, and one answer for each step',
    async (_when, place, least) => {
      const thread = threads.get(place) as string;
      await cluster.client.waitForIdle(thread);
      const events = await cluster.store.events.read(thread, 0, 100_000);
      const [told, ...again] = eventsOf(events, 'context.compacted');
      expect(told?.data).toMatchObject({ messages: 6, summary: expect.stringContaining('Record:') });
      expect(again).toEqual([]);
      const calls = eventsOf(events, 'model.called').filter(({ data }) => data.purpose === 'compaction');
      expect(calls.length).toBeGreaterThanOrEqual(least);
      // Once a summary is stored, no further one is requested.
      expect(calls.filter(({ seq }) => seq > (told?.seq ?? 0))).toEqual([]);
      expect(eventsOf(events, 'step.committed').map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(eventsOf(events, 'step.retried').length).toBeGreaterThanOrEqual(1);
      expect(await cluster.messages(thread)).toHaveLength(2 * (WORDS + 1));
      const [last] = cluster.model.requests
        .filter(({ messages }) => messages.at(-1)?.content === `${place} now`)
        .slice(-1);
      const rows = last?.messages.map(({ content }) => String(content)) ?? [];
      expect(rows.filter((content) => content.startsWith('[compacted]'))).toHaveLength(1);
      expect(rows).toHaveLength(2 + 4 + 1);
    },
  );
});
