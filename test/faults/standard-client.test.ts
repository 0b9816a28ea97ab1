/** A page of Standard Agents while its socket is cut and the workers die in mid-answer: it ends with exactly what is stored. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { testApi } from '../support/api.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { eventually } from '../support/runtime.ts';
import { StandardClient, type StandardThread } from '../support/standard-client.ts';

let cluster: Cluster;
let page: StandardThread | undefined;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.keep(1);
});
afterEach(() => page?.close());
afterAll(() => cluster?.close());

describe('a client of Standard Agents', () => {
  it('has the exact text, nothing twice and nothing missing, when the worker is killed in mid-answer and its socket is cut', async () => {
    const api = await testApi(cluster);
    const client = new StandardClient({ endpoint: `${api.url}/api` });
    const { threadId } = (await client.call('POST', '/threads', { agent_id: 'helper' })).body;
    await cluster.client.waitForIdle(threadId);
    const told = await client.open(threadId);
    page = told;
    await told.send('slowly');
    const writing = () =>
      told.shown().some(({ role, content }) => role === 'assistant' && content?.length > 10);
    await eventually('some of the answer', writing);
    const [worker] = cluster.workers;
    await worker?.end('SIGKILL');
    const { opened } = told;
    told.cut();
    await cluster.keep(1);
    await eventually('the page is back', () => told.opened > opened);
    await eventually('more of the answer', writing);
    told.cut();
    await cluster.client.waitForIdle(threadId);
    await eventually('the page has what is stored', async () => {
      const [shown, stored] = [told.shown(), await told.stored()];
      return JSON.stringify(shown) === JSON.stringify(stored);
    });
    expect(told.shown().map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: slowly',
      'assistant: Answered "slowly" after 0 tool results.',
    ]);
    expect(told.flickered).toEqual([]);
  });
});
