/**
 * The budget of a tree of 13 threads, with retries and fallbacks, while worker processes are killed. Each request whose
 * end was seen is charged what the provider counted; one whose end was not seen is charged its reserved amount and
 * marked. The budget never exceeds a limit. `EVERTHREAD_FAULT_SEED` changes when which worker dies.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf, type ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { RunLimits } from '../../src/core/governance/run-limit.ts';
import { OUTPUT_CAP, PRICES, THREADS, treeScript } from '../support/budget-tree.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { PATIENCE, workUnderKills } from '../support/killing.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_124);
const WIDE = {
  maxSteps: 10_000,
  maxLlmCalls: 10_000,
  maxInputTokens: 1e8,
  maxOutputTokens: 1e6,
  maxCost: 1000,
};
/** A budget that is used up during the run. */
const NARROW = { ...WIDE, maxOutputTokens: 40 };
const AMOUNTS = ['maxInputTokens', 'maxOutputTokens', 'maxCost'] as const;

/** Kills up to `kills` workers, or as many as die within `seconds`. */
export function describeBudgetTree(kills: number, seconds?: number): void {
  let cluster: Cluster;
  const counted = new Map<number, number>();

  beforeAll(async () => {
    cluster = await startCluster({
      script: treeScript(counted),
      program: fileURLToPath(new URL('../support/budget-tree-worker.ts', import.meta.url)),
    });
  });
  afterAll(() => cluster?.close());

  const begin = async (budget: RunLimits) => {
    const messages = [{ content: 'go', context: { budget } }];
    return (await cluster.client.startThread({ agent: 'lead', messages })).threadId;
  };
  const members = async (root: string) =>
    (await cluster.store.family.read(root)).map(({ thread }) => thread.id);

  /**
   * Checks that used plus reserved never exceeds a limit, except for input that a provider counts beyond the estimate.
   */
  async function expectWithin(root: string): Promise<void> {
    for (const { limit, used, reserved, max } of await cluster.store.budgets.read(root))
      expect({ limit, over: used + reserved > max }).toEqual({ limit, over: false });
  }

  const returned = async (root: string) =>
    eventsOf(await cluster.store.events.read(root, 0, 1_000_000), 'subagent.returned').length;

  async function atRest(root: string): Promise<void> {
    for (const id of await members(root)) await cluster.client.waitForIdle(id, { timeoutMs: PATIENCE[0] });
  }

  /** Resolves when all children have reported, and the work that their reports started is over. */
  async function ended(root: string): Promise<void> {
    const reported = async () => {
      await expectWithin(root);
      return (await returned(root)) === 3;
    };
    await eventually('three reports', reported, ...PATIENCE);
    await atRest(root);
  }

  async function expectCounted(root: string): Promise<{ lost: number; answered: number }> {
    const ids = await members(root);
    const logs = await Promise.all(ids.map((id) => cluster.store.events.read(id, 0, 1_000_000)));
    const ends = logs.flatMap(endsOf);
    const seen = ends.flatMap(({ usage }) => (usage ? [usage] : []));
    // Each usage is one that the provider has counted, and no usage is charged twice.
    for (const { promptTokens, completionTokens } of seen)
      expect(counted.get(promptTokens)).toBe(completionTokens);
    expect(new Set(seen.map(({ promptTokens }) => promptTokens)).size).toBe(seen.length);
    const input = seen.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    const output = seen.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
    const lost = ends.filter(({ isLost }) => isLost);
    const lostInput = lost.reduce((sum, { estimated }) => sum + estimated, 0);
    const provider = { maxInputTokens: input, maxOutputTokens: output, maxCost: priceOf(input, output) };
    const lines = await cluster.store.budgets.read(root);
    expect(lines.find(({ limit }) => limit === 'maxLlmCalls')).toMatchObject({ used: ends.length });
    for (const name of AMOUNTS) {
      const { used = 0, estimated = 0, reserved } = lines.find(({ limit }) => limit === name) ?? {};
      expect({ name, used: used - estimated }).toEqual({ name, used: expect.closeTo(provider[name], 9) });
      expect({ name, isMarked: estimated > 0, reserved }).toEqual({
        name,
        isMarked: lost.length > 0,
        reserved: 0,
      });
      if (name === 'maxInputTokens') expect(estimated).toBe(lostInput);
      if (name === 'maxOutputTokens') expect(estimated).toBeLessThanOrEqual(lost.length * OUTPUT_CAP);
    }
    await expectWithin(root);
    return { lost: lost.length, answered: seen.length };
  }

  describe(`trees of ${THREADS} threads, under ${kills} deaths of workers`, () => {
    it(
      `[PL-19][PL-20] charge what the provider counted, reserve for requests with an unseen end, and exceed no limit (seed ${SEED})`,
      async () => {
        const told = { trees: 0, lost: 0, answered: 0 };
        const wide = async () => {
          const root = await begin(WIDE);
          await ended(root);
          expect(await members(root)).toHaveLength(THREADS);
          const { lost, answered } = await expectCounted(root);
          told.lost += lost;
          told.answered += answered;
        };
        const narrow = async () => {
          const root = await begin(NARROW);
          // The run fails once the rest of the budget is less than a request takes.
          const end = async () => (await cluster.client.getThread(root)).lastError;
          await eventually('the end', end, ...PATIENCE);
          await atRest(root);
          await expectWithin(root);
          expect(await cluster.client.getThread(root)).toMatchObject({
            lastError: { code: 'BudgetExceeded' },
          });
        };
        const deaths = await workUnderKills({
          cluster,
          kills,
          seconds,
          seed: SEED,
          signs: () => cluster.model.requests.length,
          lanes: [wide, narrow].map((tree) => async () => {
            await tree();
            told.trees += 1;
          }),
        });
        process.stdout.write(`${JSON.stringify({ ...told, deaths })}\n`);
      },
      2 * PATIENCE[0] + kills * 60_000,
    );
  });
}

function priceOf(input: number, output: number): number {
  return (input * PRICES.inputPrice + output * PRICES.outputPrice) / 1_000_000;
}

/** For each request of a thread: the counted usage if its end was seen, and the estimate. */
function endsOf(log: readonly ThreadEvent[]) {
  const keyOf = ({ step, attempt, data }: { step?: number; attempt?: number; data: { call: number } }) =>
    `${step}:${attempt}:${data.call}`;
  const answered = new Map(eventsOf(log, 'model.answered').map((event) => [keyOf(event), event.data.usage]));
  // A request that the provider refused costs nothing; one whose connection broke may have been counted.
  const refused = new Set(
    eventsOf(log, 'model.failed').flatMap((event) =>
      event.data.statusCode === undefined ? [] : [keyOf(event)],
    ),
  );
  const prepared = new Map(
    eventsOf(log, 'context.prepared').map((event) => [keyOf(event), event.data.totalEstimatedTokens]),
  );
  return eventsOf(log, 'model.called').map((event) => {
    const key = keyOf(event);
    const usage = answered.get(key) ?? undefined;
    return { usage, isLost: !usage && !refused.has(key), estimated: prepared.get(key) ?? 0 };
  });
}
