/**
 * Fifty threads under a seeded schedule of worker deaths. `EVERTHREAD_FAULT_SECONDS` lengthens the schedule (default
 * 25), `EVERTHREAD_FAULT_SEED` changes it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalServer } from '../../src/cli/local-server/start-server.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS, survive } from '../support/ordeal.ts';
import { startOwnServer } from '../support/own-server.ts';

const SECONDS = Number(process.env.EVERTHREAD_FAULT_SECONDS || 25);
const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_121);
const THREADS = 50;
const STEPS = 10;

let server: LocalServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startOwnServer();
  cluster = await startCluster({ address: server.address, configuration: { historySoftLimit: 100 } });
  await cluster.keep(2);
});
afterAll(async () => {
  await cluster?.close();
  await server?.stop();
});

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
