/** The Temporal server itself is killed in the middle of a step and started again with its database file. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalServer } from '../../src/temporal-service/start-server.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { release } from '../support/fault-project.ts';
import { startOwnServer } from '../support/own-server.ts';
import { eventually } from '../support/runtime.ts';

/** Milliseconds to wait for lines of the ledger: a task that the killed server lost waits for its heartbeat timeout. */
const PATIENCE_MS = 90_000;

let server: LocalServer;
let cluster: Cluster;

beforeAll(async () => {
  server = await startOwnServer();
  // An unreachable server does not mean a lost worker: a tool gets much more time than a restart takes. A model may be
  // asked again.
  cluster = await startCluster({
    address: server.address,
    configuration: { modelHeartbeatMs: 5000, toolHeartbeatMs: 20_000 },
  });
  await cluster.keep(1);
});
afterAll(async () => {
  await cluster?.close();
  await server?.stop();
});

async function runUndisturbed(message: string): Promise<string[]> {
  const thread = await cluster.begin(message);
  await cluster.client.waitForIdle(thread);
  return cluster.transcript(thread);
}

async function restartServer(): Promise<void> {
  await server.kill();
  await server.restart();
}

describe('a Temporal server killed with SIGKILL and started again', () => {
  let undisturbed: string[];
  let streaming: string;
  let holding: string;

  beforeAll(async () => {
    undisturbed = await runUndisturbed('slowly');
    holding = await cluster.begin('use hold 1');
    await eventually('the side effect', () => cluster.ledger(holding).length === 1);
    streaming = await cluster.begin('slowly');
    const chunk = async () =>
      (await cluster.store.events.read(streaming, 0)).some((event) => event.type === 'model.chunk');
    await eventually('streamed text', chunk);
    await restartServer();
  });

  it('while a model call streams leaves the transcript of an undisturbed run', async () => {
    await cluster.client.waitForIdle(streaming);
    expect(await cluster.transcript(streaming)).toEqual(undisturbed);
  });

  it('while a tool runs leaves one result and one side effect', async () => {
    release(cluster.folder);
    await cluster.client.waitForIdle(holding);
    expect(await cluster.transcript(holding)).toEqual(await runUndisturbed('use hold 1'));
    expect(cluster.ledger(holding)).toEqual(['1']);
  });

  it('three times during twelve steps leaves the transcript of an undisturbed run', async () => {
    const expected = await runUndisturbed('use write 12');
    const thread = await cluster.begin('use write 12');
    for (const lines of [2, 5, 8]) {
      await eventually(`${lines} lines`, () => cluster.ledger(thread).length >= lines, PATIENCE_MS);
      await restartServer();
    }
    await cluster.client.waitForIdle(thread);
    expect(await cluster.transcript(thread)).toEqual(expected);
    expect(cluster.ledger(thread)).toEqual(
      expected.filter((line) => line.startsWith('tool ')).map((_, i) => `${i + 1}`),
    );
  });
});
