/**
 * Published third-party clients, unmodified, while the worker is killed in the middle of an answer: each ends with
 * exactly what is stored, and nothing is done twice.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testApi } from '../support/api.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { OTHERS_CLIENTS } from '../support/others-clients.ts';
import { eventually } from '../support/runtime.ts';

const AGENTS = [{ name: 'helper', title: null, description: null }];

describe('a third-party client', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const text = 'use write 2 slowly';
  const answer = `Answered "${text}" after 2 tool results.`;

  async function expectOnce(threadId: string): Promise<void> {
    await cluster.client.waitForIdle(threadId);
    const transcript = await cluster.transcript(threadId);
    expect([transcript.filter((line) => line.startsWith('user: ')), transcript.at(-1)]).toEqual([
      [`user: ${text}`],
      `assistant: ${answer}`,
    ]);
    expect(cluster.ledger(threadId)).toHaveLength(2);
  }

  it('gets the exact answer when the worker is killed while it streams', async () => {
    const { url } = await testApi(cluster, { agents: () => AGENTS });
    const told = Object.entries(OTHERS_CLIENTS).map(async ([name, client]) => {
      const id = randomUUID();
      return { name, ...(await client({ url, threadId: id, before: [], text, id })()) };
    });
    const streams = async ({ id }: { readonly id: string }) =>
      (await cluster.store.events.read(id, 0, 1000)).some(({ type }) => type === 'model.chunk');
    await eventually('all of them stream', async () => {
      const threads = await cluster.client.listThreads({ agent: 'helper' });
      return threads.length === told.length && (await Promise.all(threads.map(streams))).every(Boolean);
    });
    const [worker] = cluster.workers;
    await worker?.end('SIGKILL');
    await cluster.keep(1);
    for (const { name, threadId, text: heard } of await Promise.all(told)) {
      expect([name, heard]).toEqual([name, answer]);
      await expectOnce(threadId);
    }
  }, 300_000);
});
