/** Many threads that ask for approvals, answered this way or that or not at all, while workers are killed at random. `EVERTHREAD_FAULT_SEED` changes it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decide, openWait } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS } from '../support/ordeal.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_123);
const FATES = ['approve', 'deny', 'expire', 'leave'] as const;
type Fate = (typeof FATES)[number];

export interface WaitOrdeal {
  /** Of each round; every round has all fates. */
  readonly threads: number;
  /** Rounds follow each other until so many workers have died. */
  readonly kills: number;
}

export function describeWaitKill({ threads, kills }: WaitOrdeal): void {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(2);
  });
  afterAll(() => cluster?.close());

  const begun = (fate: Fate) => cluster.begin(`use ${fate === 'expire' ? 'hasty' : 'refund'} 1`, 'clerk');

  /** The thread has asked, and was answered as it is its fate. */
  async function answered(thread: string, fate: Fate): Promise<void> {
    if (fate === 'expire') return;
    const { id } = await openWait(cluster, thread);
    if (fate === 'leave') return;
    expect(await decide(cluster, id, fate === 'approve' ? '--approve' : '--deny')).toBe(0);
  }

  const stateOf = async (threadId: string) => (await cluster.client.listActions({ threadId }))[0]?.state;

  /** Answers what became of its action. */
  async function settled(thread: string, fate: Fate): Promise<string | undefined> {
    if (fate === 'leave') await openWait(cluster, thread);
    // One that expires is seen as waiting for a moment.
    else await eventually('rest', async () => (await cluster.client.waitForIdle(thread)).status === 'idle');
    const state = await stateOf(thread);
    const { length: done } = cluster.ledger(thread);
    const told = { fate, state, done };
    if (fate === 'leave') expect(told).toEqual({ fate, state: 'requested', done: 0 });
    else if (fate !== 'approve') expect(told).toEqual({ fate, state: 'denied', done: 0 });
    else if (state === 'completed') expect(told).toEqual({ fate, state, done: 1 });
    else {
      expect(told).toMatchObject({ fate, state: 'uncertain' });
      expect(done).toBeLessThan(2);
    }
    return state;
  }

  describe(`rounds of ${threads} threads that ask for approvals, under ${kills} deaths of workers`, () => {
    it(
      `[PL-09] do once what was approved, and nothing that was refused, has expired or is not decided (seed ${SEED})`,
      async () => {
        const random = seededRandom(SEED);
        const states = new Map<string | undefined, number>();
        let deaths = 0;
        let over = false;
        const killer = (async () => {
          while (!over) {
            await killWorker(cluster, random);
            deaths += 1;
          }
        })();
        try {
          while (deaths < kills) {
            const fates = Array.from({ length: threads }, (_, index) => FATES[index % FATES.length] as Fate);
            const ids = await Promise.all(fates.map(begun));
            await Promise.all(ids.map((id, index) => answered(id, fates[index] as Fate)));
            for (const [index, id] of ids.entries()) {
              const state = await settled(id, fates[index] as Fate);
              states.set(state, (states.get(state) ?? 0) + 1);
            }
            // What waits would be looked after for ever.
            const left = ids.filter((_, index) => fates[index] === 'leave');
            await Promise.all(left.map((id) => cluster.client.terminate(id)));
          }
        } finally {
          over = true;
          await killer;
        }
        process.stdout.write(`${deaths} workers died; ${JSON.stringify(Object.fromEntries(states))}\n`);
        expect(states.get('completed')).toBeGreaterThan(0);
      },
      RECOVERY_MS + kills * 20_000,
    );
  });
}
