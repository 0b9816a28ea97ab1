/**
 * An action is uncertain if the process that ran it was killed; here an action begun by an effect, which no call of a
 * step settles.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schedule } from '../support/effects.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../support/fault-cluster.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'support', 'shifted-clock.mjs')).href;
const LATER_MS = 10 * 60_000;

describe('an action started by an effect whose worker was killed', () => {
  let cluster: Cluster;
  const next: { -readonly [Key in keyof ClusterOptions]: ClusterOptions[Key] } = {};
  beforeAll(async () => {
    cluster = await startCluster(next);
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  it('[PL-26] is uncertain once the next worker checks, and certain if the effect reruns under the same key', async () => {
    const { client, store } = cluster;
    const thread = await cluster.begin('hello', 'clerk');
    await client.waitForIdle(thread);
    cluster.orderDeath('body_after');
    await schedule(client, thread, 'call', { args: { line: '1' } });
    await cluster.died('body_after');
    const [begun] = await client.listActions({ threadId: thread });
    expect(begun).toMatchObject({ name: 'write', state: 'started' });

    const clock = join(cluster.folder, 'clock');
    writeFileSync(clock, String(LATER_MS));
    next.environment = { NODE_OPTIONS: `--import ${PRELOAD}`, EVERTHREAD_TEST_CLOCK: clock };
    await cluster.keep(1);
    const told = async () =>
      (await store.events.read(thread, 0))
        .map(({ type }) => type)
        .filter((type) => type.startsWith('action.'));
    await eventually('its end', async () => (await told()).includes('action.completed'));
    expect(await told()).toEqual([
      'action.requested',
      'action.policy',
      'action.started',
      'action.uncertain',
      'action.started',
      'action.completed',
    ]);
    expect(await client.listActions({ threadId: thread })).toMatchObject([
      { id: begun?.id, state: 'completed' },
    ]);
    expect(cluster.ledger(thread)).toEqual(['1', '1']);
  });
});
