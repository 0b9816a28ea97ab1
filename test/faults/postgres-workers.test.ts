/**
 * Two worker processes on one PostgreSQL and a real Temporal server, broken by a seeded schedule: the workers killed,
 * the database killed. `EVERTHREAD_FAULT_SECONDS` lengthens the schedules (default 20 and 12), `EVERTHREAD_FAULT_SEED`
 * changes them, `EVERTHREAD_FAULT_OUTAGE_MS` is how long the database is away (default 500).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Configuration } from '../../src/configuration.ts';
import { startEmbeddedPostgres } from '../support/embedded-postgres.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS, survive } from '../support/ordeal.ts';
import { createDatabase } from '../support/postgres.ts';

const seconds = (usual: number) => Number(process.env.EVERTHREAD_FAULT_SECONDS || usual);
const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_122);
const STEPS = 10;
const OUTAGE_MS = Number(process.env.EVERTHREAD_FAULT_OUTAGE_MS || 500);

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function clusterOn(store: string, configured: Partial<Configuration> = {}): Promise<Cluster> {
  const configuration = { historySoftLimit: 100, ...configured };
  const cluster = await startCluster({ store, configuration });
  closers.push(() => cluster.close());
  await cluster.keep(2);
  return cluster;
}

async function newDatabase(): Promise<string> {
  const database = await createDatabase();
  closers.push(() => database.drop());
  return database.address;
}

describe('two workers on one PostgreSQL', () => {
  it(
    `killed at random for ${seconds(20)} s lose no message, double no side effect, and come to rest (seed ${SEED})`,
    async () => {
      const cluster = await clusterOn(`${await newDatabase()}?pool=5`);
      const { strikes, turns, unknown } = await survive({
        cluster,
        threads: 40,
        steps: STEPS,
        seconds: seconds(20),
        seed: SEED,
        strike: (random) => killWorker(cluster, random),
      });
      process.stdout.write(`${strikes} workers died under ${turns} turns; ${unknown} outcomes are unknown\n`);
      expect(strikes).toBeGreaterThan(1);
    },
    seconds(20) * 1000 + RECOVERY_MS + 60_000,
  );

  it(
    `whose database crashes again and again for ${seconds(12)} s know of it in no thread (seed ${SEED})`,
    async () => {
      const postgres = await startEmbeddedPostgres({ fsync: 'off' });
      closers.push(() => postgres.stop());
      // No worker dies: one that is merely slow must not be taken for lost.
      const cluster = await clusterOn(postgres.address, {
        modelHeartbeatMs: 10_000,
        toolHeartbeatMs: 10_000,
      });
      const { strikes, turns, unknown } = await survive({
        cluster,
        threads: 20,
        steps: STEPS,
        seconds: seconds(12),
        seed: SEED,
        strike: async () => {
          await postgres.kill();
          await delay(OUTAGE_MS);
          await postgres.restart();
        },
      });
      process.stdout.write(
        `PostgreSQL crashed ${strikes} times under ${turns} turns; ${unknown} outcomes are unknown\n`,
      );
      expect(strikes).toBeGreaterThan(0);
      expect(cluster.workers).toHaveLength(2);
      expect(unknown).toBe(0);
    },
    seconds(12) * 1000 + RECOVERY_MS + 60_000,
  );

  it('refuse a third one whose store is in another schema', async () => {
    const address = await newDatabase();
    const cluster = await clusterOn(`${address}?schema=ours`);
    await expect(cluster.startWith(`${address}?schema=theirs`)).rejects.toThrow(/StoreMismatch|with store/);
    await cluster.startWith(`${address}?schema=ours&pool=2`);
    expect(cluster.workers).toHaveLength(3);
  });
});
