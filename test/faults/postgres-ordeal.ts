/**
 * Two worker processes on one PostgreSQL and a real Temporal server, under a seeded schedule of failures: the workers
 * are killed, or the database is. `EVERTHREAD_FAULT_SEED` changes the schedule, `EVERTHREAD_FAULT_OUTAGE_MS` is how
 * long the database is down (default 500).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Configuration } from '../../src/configuration.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../support/embedded-postgres.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, RECOVERY_MS, survive } from '../support/ordeal.ts';
import type { OrdealSize } from './random-kill-ordeal.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_122);
const OUTAGE_MS = Number(process.env.EVERTHREAD_FAULT_OUTAGE_MS || 500);

export interface PostgresOrdeals {
  readonly workersDie: OrdealSize;
  readonly databaseDies: OrdealSize;
}

let postgres: EmbeddedPostgres;
let cluster: Cluster | undefined;

beforeAll(async () => {
  postgres = await startEmbeddedPostgres({ fsync: 'off' });
});
afterEach(async () => {
  await cluster?.close();
  cluster = undefined;
});
afterAll(() => postgres?.stop());

/**
 * Starts two workers on the same store, with addresses that differ only in a parameter (`pool`) that does not identify
 * a store.
 */
async function clusterOn(schema: string, configuration: Partial<Configuration>): Promise<Cluster> {
  const store = storeIn(schema);
  const started = await startCluster({ store: `${store}&pool=5`, configuration });
  cluster = started;
  await started.keep(1);
  await started.startWith(`${store}&pool=2`);
  return started;
}

const storeIn = (schema: string) => `${postgres.address}?schema=${schema}`;

export function describePostgresWorkers({ workersDie, databaseDies }: PostgresOrdeals): void {
  describe('two workers on one PostgreSQL', () => {
    it(
      `killed at random for ${workersDie.seconds} s lose no message, repeat no side effect, become idle, and refuse a third whose store is in another schema (seed ${SEED})`,
      async () => {
        const { historySoftLimit } = workersDie;
        const cluster = await clusterOn('ours', { historySoftLimit });
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
        const stranger = cluster.startWith(storeIn('theirs'));
        await expect(stranger).rejects.toThrow(/StoreMismatch|with store/);
        expect(cluster.workers).toHaveLength(2);
      },
      workersDie.seconds * 1000 + RECOVERY_MS + 60_000,
    );

    it(
      `whose database crashes repeatedly for ${databaseDies.seconds} s show it in no thread (seed ${SEED})`,
      async () => {
        const cluster = await clusterOn('crashing', { historySoftLimit: databaseDies.historySoftLimit });
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
