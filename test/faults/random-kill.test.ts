/**
 * Fifty threads under a seeded schedule of worker deaths. `EVERTHREAD_FAULT_SECONDS` lengthens the schedule (default
 * 25), `EVERTHREAD_FAULT_SEED` changes it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS, survive } from '../support/ordeal.ts';

const SECONDS = Number(process.env.EVERTHREAD_FAULT_SECONDS || 25);
const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_121);
const THREADS = 50;
const STEPS = 10;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({ configuration: { historySoftLimit: 100 } });
  await cluster.keep(2);
});
afterAll(() => cluster?.close());

describe(`${THREADS} threads of ${STEPS} steps, workers killed at random for ${SECONDS} s`, () => {
  it(
    `lose no message, double no side effect, and come to rest (seed ${SEED})`,
    async () => {
      const { strikes, turns, unknown } = await survive({
        cluster,
        threads: THREADS,
        steps: STEPS,
        seconds: SECONDS,
        seed: SEED,
        strike: (random) => killWorker(cluster, random),
      });
      process.stdout.write(`${strikes} workers died under ${turns} turns; ${unknown} outcomes are unknown\n`);
      expect(strikes).toBeGreaterThan(1);
    },
    SECONDS * 1000 + RECOVERY_MS + 60_000,
  );
});
