/**
 * Many threads whose actions need approvals, are denied, or are more than their budget, while workers are killed at random: what may not be done is
 * not done. `EVERTHREAD_FAULT_SEED` changes it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GivenContext } from '../../src/core/governance/run-context.ts';
import { decide, openWait } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS } from '../support/ordeal.ts';
import { seededRandom } from '../support/seeded-random.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_123);
/**
 * What a person says: yes, no, nothing in time, nothing; what a rule says of it (`forbid`); a budget that denies what would be asked for (`unasked`), and
 * what would not (`overspend`).
 */
const FATES = ['approve', 'deny', 'expire', 'leave', 'forbid', 'unasked', 'overspend'] as const;
type Fate = (typeof FATES)[number];
const NO_CALLS = { budget: { maxToolCalls: 0 } };
const CONTEXTS: Partial<Record<Fate, GivenContext>> = {
  forbid: { permissions: { 'money.*': 'deny' } },
  unasked: NO_CALLS,
  overspend: NO_CALLS,
};

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

  const restOf = (fate: Fate) => (CONTEXTS[fate] === NO_CALLS ? 'failed' : 'idle');

  async function begun(fate: Fate): Promise<string> {
    const tool = fate === 'expire' ? 'hasty' : fate === 'overspend' ? 'linger' : 'refund';
    const messages = [{ content: `use ${tool} 1`, context: CONTEXTS[fate] }];
    const { threadId } = await cluster.client.startThread({ agent: 'clerk', messages });
    return threadId;
  }

  /** The thread has asked, and was answered as it is its fate. */
  async function answered(thread: string, fate: Fate): Promise<void> {
    if (fate === 'expire' || fate in CONTEXTS) return;
    const { id } = await openWait(cluster, thread);
    if (fate === 'leave') return;
    const answer = fate === 'approve' ? '--approve' : '--deny';
    // A command that has not reached its server is given again; a verdict that does not count stays one.
    await eventually('an answer that counts', async () => (await decide(cluster, id, answer)) === 0);
  }

  const stateOf = async (threadId: string) => (await cluster.client.listActions({ threadId }))[0]?.state;

  /** Answers what became of its action. */
  async function settled(thread: string, fate: Fate): Promise<string | undefined> {
    if (fate === 'leave') await openWait(cluster, thread);
    // One that expires is seen as waiting for a moment.
    else
      await eventually(
        'rest',
        async () => (await cluster.client.waitForIdle(thread)).status === restOf(fate),
      );
    const state = await stateOf(thread);
    const { length: done } = cluster.ledger(thread);
    const told = { fate, state, done };
    if (CONTEXTS[fate] === NO_CALLS) {
      expect(told).toEqual({ fate, state: undefined, done: 0 });
      await expectOverBudget(thread);
      return fate;
    }
    if (fate === 'leave') expect(told).toEqual({ fate, state: 'requested', done: 0 });
    else if (fate !== 'approve') expect(told).toEqual({ fate, state: 'denied', done: 0 });
    else if (state === 'completed') expect(told).toEqual({ fate, state, done: 1 });
    else {
      expect(told).toMatchObject({ fate, state: 'uncertain' });
      expect(done).toBeLessThan(2);
    }
    return state;
  }

  /** Its call has not begun, and nobody was asked. */
  async function expectOverBudget(thread: string): Promise<void> {
    const record = await cluster.client.getThread(thread);
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'BudgetExceeded' } });
    const kinds = (await cluster.store.events.read(thread, 0)).map(({ type }) => type);
    expect(kinds.filter((type) => type === 'wait.opened' || type === 'tool.started')).toEqual([]);
  }

  describe(`rounds of ${threads} threads whose actions may or may not be done, under ${kills} deaths of workers`, () => {
    it(
      `[PL-09][PL-17] do once what was approved, and nothing that was denied, has expired, is not decided or is over budget (seed ${SEED})`,
      async () => {
        const random = seededRandom(SEED);
        const states = new Map<string | undefined, number>();
        const forbidden: string[] = [];
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
            forbidden.push(...ids.filter((_, index) => fates[index] !== 'approve'));
            // What waits would be looked after for ever.
            const left = ids.filter((_, index) => fates[index] === 'leave');
            await Promise.all(left.map((id) => cluster.client.terminate(id)));
          }
        } finally {
          over = true;
          await killer;
        }
        // Nor afterwards.
        expect(forbidden.filter((id) => cluster.ledger(id).length > 0)).toEqual([]);
        process.stdout.write(`${forbidden.length} actions that may not be done have had no effect; `);
        process.stdout.write(`${deaths} workers died; ${JSON.stringify(Object.fromEntries(states))}\n`);
        expect(states.get('completed')).toBeGreaterThan(0);
      },
      // On a busy machine a worker is long in starting.
      RECOVERY_MS + kills * 60_000,
    );
  });
}
