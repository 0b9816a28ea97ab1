/**
 * Many threads whose actions need approvals, are denied, or exceed their budget, while workers are killed at random: an
 * action that is not allowed is never done. `EVERTHREAD_FAULT_SEED` changes the schedule.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GivenContext } from '../../src/core/governance/run-context.ts';
import { decideAloud, openWait } from '../support/approvals.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type KillOrdeal, PATIENCE, tellThread, workUnderKills } from '../support/killing.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_123);
/**
 * A person approves (`approve`), also with changed arguments (`change`), denies (`deny`), does not answer in time (`expire`) or not at all (`leave`); a rule
 * denies (`forbid`); a budget denies a call that needs an approval (`unasked`), or one that needs none (`overspend`).
 */
const FATES = ['approve', 'change', 'deny', 'expire', 'leave', 'forbid', 'unasked', 'overspend'] as const;
type Fate = (typeof FATES)[number];
const DONE: readonly Fate[] = ['approve', 'change'];
const NO_CALLS = { budget: { maxToolCalls: 0 } };
const CONTEXTS: Partial<Record<Fate, GivenContext>> = {
  forbid: { permissions: { 'money.*': 'deny' } },
  unasked: NO_CALLS,
  overspend: NO_CALLS,
};

/** A thread that ends is replaced by another one with another fate. */
export function describeWaitKill({ threads, kills, seconds }: KillOrdeal): void {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.close());

  const restOf = (fate: Fate) => (CONTEXTS[fate] === NO_CALLS ? 'failed' : 'idle');

  async function begun(fate: Fate): Promise<string> {
    const tool = fate === 'expire' ? 'hasty' : fate === 'overspend' ? 'linger' : 'refund';
    const messages = [{ content: `use ${tool} 1`, context: CONTEXTS[fate] }];
    const { threadId } = await cluster.client.startThread({ agent: 'clerk', messages });
    return threadId;
  }

  /** Waits for the thread's request and answers it according to its fate. */
  async function answered(thread: string, fate: Fate): Promise<void> {
    if (fate === 'expire' || fate in CONTEXTS) return;
    const { id } = await openWait(cluster, thread, ...PATIENCE);
    if (fate === 'leave') return;
    if (fate === 'change') return changed(thread, id);
    const answer = fate === 'approve' ? '--approve' : '--deny';
    expect(await decideAloud(cluster, id, answer)).toMatchObject({ code: 0 });
  }

  /** The change is shown once more, since the description of a refund has its line. */
  async function changed(thread: string, id: string): Promise<void> {
    const { client } = cluster;
    expect(await client.answerWait(id, { approved: true, arguments: { line: '2' } })).toEqual({
      outcome: 'taken',
    });
    const further = async () => (await client.listWaits({ threadId: thread }))[0];
    const wait = await eventually('the further wait', further, ...PATIENCE);
    expect(wait).toMatchObject({ summary: 'Refunds 2' });
    expect(await client.answerWait(wait.id, { approved: true })).toEqual({ outcome: 'taken' });
  }

  const stateOf = async (threadId: string) => (await cluster.client.listActions({ threadId }))[0]?.state;

  /**
   * Waits for the thread's outcome, checks it, and returns the state of its action (its fate if a budget denied it).
   */
  async function settled(thread: string, fate: Fate): Promise<string | undefined> {
    if (fate === 'leave') await openWait(cluster, thread, ...PATIENCE);
    else {
      const [timeoutMs, pauseMs] = PATIENCE;
      // A thread whose wait expires is still waiting for a moment.
      const rest = async () =>
        (await cluster.client.waitForIdle(thread, { timeoutMs })).status === restOf(fate);
      await eventually('rest', rest, timeoutMs, pauseMs);
    }
    const state = await stateOf(thread);
    const { length: done } = cluster.ledger(thread);
    const told = { fate, state, done };
    if (CONTEXTS[fate] === NO_CALLS) {
      expect(told).toEqual({ fate, state: undefined, done: 0 });
      await expectOverBudget(thread);
      return fate;
    }
    if (fate === 'leave') expect(told).toEqual({ fate, state: 'requested', done: 0 });
    else if (!DONE.includes(fate)) expect(told).toEqual({ fate, state: 'denied', done: 0 });
    else if (state === 'completed') expect(told).toEqual({ fate, state, done: 1 });
    else {
      expect(told).toMatchObject({ fate, state: 'uncertain' });
      expect(done).toBeLessThan(2);
    }
    if (fate === 'change' && done > 0) expect(cluster.ledger(thread)).toEqual(['2']);
    return state;
  }

  /** The call has not begun, and no approval was requested. */
  async function expectOverBudget(thread: string): Promise<void> {
    const record = await cluster.client.getThread(thread);
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'BudgetExceeded' } });
    const kinds = (await cluster.store.events.read(thread, 0)).map(({ type }) => type);
    expect(kinds.filter((type) => type === 'wait.opened' || type === 'tool.started')).toEqual([]);
  }

  describe(`${threads} concurrent threads with approved and forbidden actions, during ${kills} deaths of workers`, () => {
    it(
      `[PL-09][PL-17] run once if approved, and never if denied, expired, undecided or over budget (seed ${SEED})`,
      async () => {
        const states = new Map<string | undefined, number>();
        const forbidden: string[] = [];
        let answers = 0;
        const settle = async (thread: string, fate: Fate) => {
          const state = await settled(thread, fate);
          states.set(state, (states.get(state) ?? 0) + 1);
          // An open wait would otherwise be watched for ever.
          if (fate === 'leave') await cluster.client.terminate(thread);
        };
        const left: string[] = [];
        const work = async (fate: Fate) => {
          const thread = await begun(fate);
          try {
            if (!DONE.includes(fate)) forbidden.push(thread);
            await answered(thread, fate);
            answers += 1;
            if (fate !== 'leave') return await settle(thread, fate);
            // The thread waits while others begin and end, and workers die.
            left.push(thread);
            if (left.length > threads) await settle(left.shift() as string, fate);
          } catch (error) {
            await tellThread(cluster, thread, fate);
            throw error;
          }
        };
        const deaths = await workUnderKills({
          cluster,
          kills,
          seconds,
          seed: SEED,
          signs: () => cluster.model.requests.length + answers,
          lanes: Array.from({ length: threads }, (_, lane) => async (turn: number) => {
            await work(FATES[(lane + turn) % FATES.length] as Fate);
          }),
        });
        for (const thread of left) await settle(thread, 'leave');
        // They have had no effect since then either.
        expect(forbidden.filter((id) => cluster.ledger(id).length > 0)).toEqual([]);
        process.stdout.write(`${forbidden.length} actions that may not be done have had no effect; `);
        process.stdout.write(
          `workers died: ${JSON.stringify(deaths)}; ${JSON.stringify(Object.fromEntries(states))}\n`,
        );
        expect(states.get('completed')).toBeGreaterThan(0);
      },
      // On a busy machine a worker starts slowly.
      2 * PATIENCE[0] + kills * 60_000,
    );
  });
}
