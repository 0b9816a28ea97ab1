/**
 * An approval survives restarts: worker and server are killed and started again, new code is deployed, a day passes.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalServer } from '../../src/temporal-service/start-server.ts';
import { decide, openWait } from '../support/approvals.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../support/fault-cluster.ts';
import { startOwnServer } from '../support/own-server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NEWER = join(import.meta.dirname, '..', 'support', 'newer-worker-process.ts');
const PRELOAD = pathToFileURL(join(import.meta.dirname, '..', 'support', 'shifted-clock.mjs')).href;

describe('an approval', () => {
  let server: LocalServer;
  let cluster: Cluster;
  const next: { -readonly [Key in keyof ClusterOptions]: ClusterOptions[Key] } = {};

  beforeAll(async () => {
    server = await startOwnServer();
    next.address = server.address;
    cluster = await startCluster(next);
    await cluster.keep(1);
  });
  afterAll(async () => {
    await cluster?.close();
    await server?.stop();
  });

  it('[PL-09] decided a day later, after worker and server restarts and a deployment, runs once, as shown, on the newer build', async () => {
    const thread = await cluster.begin('use refund 1', 'clerk');
    const asked = await openWait(cluster, thread);
    await cluster.workers[0]?.end('SIGKILL');
    await server.kill();
    await server.restart();

    const clock = join(cluster.folder, 'clock');
    writeFileSync(clock, String(DAY_MS));
    next.environment = { NODE_OPTIONS: `--import ${PRELOAD}`, EVERTHREAD_TEST_CLOCK: clock };
    next.program = NEWER;
    await cluster.keep(1);
    const waiting = await openWait(cluster, thread);
    expect(waiting).toEqual(asked);
    expect(waiting).toMatchObject({ summary: 'Refunds 1', data: { arguments: { line: '1' } } });
    expect(cluster.ledger(thread)).toEqual([]);

    expect(await decide(cluster, asked.id, '--approve', '--by', 'ada')).toBe(0);
    expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(cluster.ledger(thread)).toEqual(['1 by newer']);
    const [action] = await cluster.client.listActions({ threadId: thread });
    expect(action).toMatchObject({ state: 'completed', fingerprint: asked.fingerprint });
    const opened = (await cluster.store.events.read(thread, 0)).filter(({ type }) => type === 'wait.opened');
    expect(opened).toHaveLength(1);
  });
});
