/**
 * Effects while workers die: many on several threads under random deaths, each of which fires, none too early, and none
 * that was removed; and one at each of the most critical places. `EVERTHREAD_FAULT_SEED` changes the schedule.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf, schedule } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker } from '../support/ordeal.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_121);
interface Removal {
  readonly removed: string[];
  readonly late: string[];
}

/** Effects of each thread: those that stay, and those that are removed. */
const [KEPT, REMOVED] = [10, 2];

export interface EffectsOrdeal {
  readonly threads: number;
  /** The longest delay of an effect, in milliseconds; workers die during that time. */
  readonly longestMs: number;
  /** Milliseconds after which some effects are removed. */
  readonly removalMs: number;
  readonly leastStrikes: number;
}

export function describeEffectsKill({
  threads: count,
  longestMs,
  removalMs,
  leastStrikes,
}: EffectsOrdeal): void {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ configuration: { historySoftLimit: 60 } });
    await cluster.keep(2);
  });
  afterAll(() => cluster?.close());

  /** Schedules a thread's effects with delays spread over the whole time; returns their due times in milliseconds. */
  async function scheduleAll(thread: string, nth: number): Promise<Map<string, number>> {
    const { store } = cluster;
    for (let n = 0; n < KEPT + REMOVED; n++) {
      const line = n < KEPT ? `e${n}` : `removed${n}`;
      // Effects to be removed are due so late that they still exist then.
      const delayMs = n < KEPT ? ((n * count + nth) / (KEPT * count)) * longestMs : longestMs - n * 100;
      await store.effects.schedule(thread, { id: line, name: 'fire', args: { line }, delayMs });
    }
    // Wake the thread once all effects are stored: if it saw only the first one, it would find that none follows, and
    // nothing would wake it again.
    await cluster.client.wakeForEffects(thread, 0);
    const listed = await store.effects.list(thread);
    return new Map(listed.map(({ id, scheduledAt }) => [id, scheduledAt / 1000]));
  }

  /**
   * Removes effects. Returns those removed, and those that had already become due because the machine was too slow:
   * each of these is replaced by another one, which is removed.
   */
  async function removeSome(thread: string): Promise<Removal> {
    const { store } = cluster;
    const removal: Removal = { removed: [], late: [] };
    for (let n = KEPT; n < KEPT + REMOVED; n++) {
      let line = `removed${n}`;
      while (!(await store.effects.remove(thread, line))) {
        removal.late.push(line);
        line = `again-${line}`;
        await store.effects.schedule(thread, { id: line, name: 'fire', args: { line }, delayMs: longestMs });
      }
      removal.removed.push(line);
    }
    return removal;
  }

  describe(`${count * KEPT} effects on ${count} threads, workers killed at random`, () => {
    it(`all fire, none early, and no removed one fires (seed ${SEED})`, async () => {
      const started = await Promise.all(
        Array.from({ length: count }, () => cluster.client.startThread({ agent: 'helper' })),
      );
      const threads = started.map(({ threadId }) => threadId);
      await Promise.all(threads.map((thread) => cluster.client.waitForIdle(thread)));
      const end = performance.now() + longestMs;
      const due = await Promise.all(threads.map(scheduleAll));
      const random = seededRandom(SEED);
      let strikes = 0;
      const removal = delay(removalMs).then(() => Promise.all(threads.map(removeSome)));
      // On a busy machine a worker starts slowly, and has more overdue effects to catch up with.
      while (performance.now() < end || strikes < leastStrikes) {
        await delay(1000 + random.below(2000));
        await killWorker(cluster, random);
        strikes += 1;
      }
      const removals = await removal;
      let fired = 0;
      for (const [nth, thread] of threads.entries()) {
        const { removed, late } = removals[nth] as Removal;
        await eventually(
          `all effects of thread ${nth} to end`,
          async () =>
            (await eventsOf(cluster, thread, 'effect.done', 'effect.failed')).length === KEPT + late.length,
        );
        const lines = cluster.ledger(thread).map((line) => line.split(' ') as [string, string]);
        expect(new Set(lines.map(([line]) => line))).toEqual(
          new Set([...Array.from({ length: KEPT }, (_, n) => `e${n}`), ...late]),
        );
        expect(removed).toHaveLength(REMOVED);
        const early = lines.filter(([line, at]) => Number(at) < Math.floor(due[nth]?.get(line) ?? 0));
        expect(early).toEqual([]);
        expect(await eventsOf(cluster, thread, 'effect.failed')).toEqual([]);
        expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
        fired += lines.length - late.length;
      }
      process.stdout.write(
        `${strikes} workers died under ${count * KEPT} effects; ${fired - count * KEPT} ran again\n`,
      );
      expect(strikes).toBeGreaterThanOrEqual(leastStrikes);
    });
  });

  describe('a worker that dies', () => {
    it.each([
      ['effect_begun', 2],
      ['effect_done', 1],
    ] as const)(
      'at %s leaves no effect unfired, and the queued message is answered once',
      async (point, attempts) => {
        const { client } = cluster;
        await cluster.keep(2);
        const { threadId: thread } = await client.startThread({ agent: 'helper' });
        await client.waitForIdle(thread);
        cluster.orderDeath(point);
        await schedule(client, thread, 'speak', { args: { line: 'are you there?' } });
        await cluster.died(point);
        await eventually('the answer', async () => (await cluster.transcript(thread)).length === 2);
        expect(await cluster.transcript(thread)).toEqual([
          'user: are you there?',
          'assistant: Answered "are you there?" after 0 tool results.',
        ]);
        expect(await eventsOf(cluster, thread, 'effect.started')).toHaveLength(attempts);
        expect(await eventsOf(cluster, thread, 'effect.done', 'effect.failed')).toMatchObject([
          { type: 'effect.done' },
        ]);
      },
    );
  });
}
