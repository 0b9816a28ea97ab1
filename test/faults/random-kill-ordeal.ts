/** Threads under a seeded schedule of worker deaths. `EVERTHREAD_FAULT_SEED` changes it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorker, type Ordeal, RECOVERY_MS, survive } from '../support/ordeal.ts';

const SEED = Number(process.env.EVERTHREAD_FAULT_SEED || 20_261_121);

export type OrdealSize = Pick<Ordeal, 'threads' | 'steps' | 'seconds'> & {
  /** So low that a thread continues as new during the test. */
  readonly historySoftLimit: number;
};

export function describeRandomKill({ historySoftLimit, ...size }: OrdealSize): void {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ configuration: { historySoftLimit } });
    await cluster.keep(2);
  });
  afterAll(() => cluster?.close());

  describe(`${size.threads} threads of ${size.steps} steps, workers killed at random for ${size.seconds} s`, () => {
    it(
      `lose no message, repeat no side effect, and become idle (seed ${SEED})`,
      async () => {
        const { strikes, turns, unknown } = await survive({
          cluster,
          ...size,
          seed: SEED,
          strike: (random) => killWorker(cluster, random),
        });
        process.stdout.write(
          `${strikes} workers died under ${turns} turns; ${unknown} outcomes are unknown\n`,
        );
        expect(strikes).toBeGreaterThan(1);
      },
      size.seconds * 1000 + RECOVERY_MS + 60_000,
    );
  });
}
