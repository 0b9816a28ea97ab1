/**
 * A page of Standard Agents, and the package `eventsource`, while connections are cut and workers die in the middle of
 * an answer: each ends with exactly what is stored.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EventSource } from 'eventsource';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import { testApi } from '../support/api.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';
import { StandardClient, type StandardThread } from '../support/standard-client.ts';

let cluster: Cluster;
let page: StandardThread | undefined;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.keep(1);
});
afterEach(() => page?.close());
afterAll(() => cluster?.close());

describe('a Standard Agents client', () => {
  it('gets the exact text, without repeats or gaps, when the worker is killed during an answer and its socket is cut', async () => {
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

describe('an EventSource', () => {
  it('gets every row of the log once and in order when the worker is killed during an answer and connections are cut', async () => {
    const api = await testApi(cluster);
    const proxy = await cuttingProxy(api.url);
    const thread = await cluster.begin('slowly');
    proxy.cut(600, 700);
    const source = new EventSource(`${proxy.url}/v1/threads/${thread}/events`);
    closeAfterTest(async () => source.close());
    const told: ThreadEvent[] = [];
    const ids: string[] = [];
    source.onmessage = ({ data, lastEventId }) => {
      told.push(JSON.parse(data));
      ids.push(lastEventId);
    };
    await eventually('some of the answer', () => told.some(({ type }) => type === 'model.chunk'));
    const [worker] = cluster.workers;
    await worker?.end('SIGKILL');
    proxy.cut(400);
    await cluster.keep(1);
    await cluster.client.waitForIdle(thread);
    const { lastSeq } = await cluster.client.getThread(thread);
    await eventually('the last row', () => told.at(-1)?.seq === lastSeq);
    expect(ids).toEqual(Array.from({ length: lastSeq }, (_, index) => String(index + 1)));
    expect(told.map(({ seq }) => String(seq))).toEqual(ids);
    expect(told.filter(({ type }) => type === 'execution.ended')).toHaveLength(1);
    expect(proxy.cuts).toBeGreaterThanOrEqual(2);
  });
});
