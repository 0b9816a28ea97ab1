/**
 * Two worker processes on one PostgreSQL and a real Temporal server, broken by a seeded schedule: the workers killed,
 * the database killed. `EVERTHREAD_FAULT_SEED` changes it, `EVERTHREAD_FAULT_OUTAGE_MS` is how long the database is away
 * (default 500).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Configuration } from '../../src/configuration.ts';
import { startEmbeddedPostgres } from '../support/embedded-postgres.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS, survive } from '../support/ordeal.ts';
import { createDatabase } from '../support/postgres.ts';
import type { OrdealSize } from './random-kill-ordeal.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_122);
const OUTAGE_MS = Number(process.env.EVERTHREAD_FAULT_OUTAGE_MS || 500);

export interface PostgresOrdeals {
  readonly workersDie: OrdealSize;
  readonly databaseDies: OrdealSize;
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function clusterOn(store: string, configuration: Partial<Configuration>): Promise<Cluster> {
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

export function describePostgresWorkers({ workersDie, databaseDies }: PostgresOrdeals): void {
  describe('two workers on one PostgreSQL', () => {
    it(
      `killed at random for ${workersDie.seconds} s lose no message, double no side effect, come to rest, and refuse a third one whose store is in another schema (seed ${SEED})`,
      async () => {
        const address = `${await newDatabase()}?schema=ours`;
        const { historySoftLimit } = workersDie;
        const cluster = await clusterOn(`${address}&pool=5`, { historySoftLimit });
        const { strikes, turns, unknown } = await survive({
          cluster,
          ...workersDie,
          seed: SEED,
          strike: (random) => killWorker(cluster, random),
        });
        process.stdout.write(
          `${strikes} workers died under ${turns} turns; ${unknown} outcomes are unknown\n`,
        );
        expect(strikes).toBeGreaterThan(1);
        // A third one is refused where its store is in another schema.
        const stranger = cluster.startWith(address.replace('schema=ours', 'schema=theirs'));
        await expect(stranger).rejects.toThrow(/StoreMismatch|with store/);
        await cluster.startWith(`${address}&pool=2`);
        expect(cluster.workers).toHaveLength(3);
      },
      workersDie.seconds * 1000 + RECOVERY_MS + 60_000,
    );

    it(
      `whose database crashes again and again for ${databaseDies.seconds} s know of it in no thread (seed ${SEED})`,
      async () => {
        const postgres = await startEmbeddedPostgres({ fsync: 'off' });
        closers.push(() => postgres.stop());
        // No worker dies: one that is merely slow must not be taken for lost.
        const cluster = await clusterOn(postgres.address, {
          historySoftLimit: databaseDies.historySoftLimit,
          modelHeartbeatMs: 10_000,
          toolHeartbeatMs: 10_000,
        });
        const { strikes, turns, unknown } = await survive({
          cluster,
          ...databaseDies,
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
      databaseDies.seconds * 1000 + RECOVERY_MS + 60_000,
    );
  });
}
