/**
 * Workers are killed around the requests of a thread: what is kept of each request is what its server received, and only
 * requests of killed workers are missing.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { ProviderRequest } from '../../src/core/message/provider.ts';
import { canonicalJson } from '../../src/core/value/canonical-json.ts';
import { toChatBody } from '../../src/models/openai-request.ts';
import { fromChatBody } from '../../src/testing/openai-request-reader.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

const POINTS: readonly DeathPoint[] = [
  'step_begun',
  'model_streaming',
  'model_answered',
  'model_committed',
  'tool_committed',
];

describe('a worker process killed with SIGKILL', () => {
  let cluster: Cluster;
  let thread: string;

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    thread = await cluster.begin('use touch 2');
    await cluster.client.waitForIdle(thread);
    for (const point of POINTS) {
      cluster.orderDeath(point);
      await cluster.client.queueMessage(thread, { content: `use touch 2 (${point})` });
      await cluster.died(point);
      await cluster.keep(1);
      await cluster.client.waitForIdle(thread);
    }
  }, 240_000);
  afterAll(() => cluster?.close());

  /** As the server reads the body that the request becomes. */
  const asReceived = (request: ProviderRequest) =>
    canonicalJson(fromChatBody({ ...toChatBody(request, 'compatible'), stream: true } as never));

  it('leaves each request that was kept as its server received it, whichever worker reads it', async () => {
    const calls = await cluster.client.listModelCalls(thread, { limit: 1000 });
    const received = cluster.model.requests.map((request) => canonicalJson(request));
    const kept = calls.filter(({ request }) => request === 'kept');
    expect(kept.length).toBeGreaterThan(POINTS.length * 2);
    for (const { id } of kept) {
      const { request, gaps } = await cluster.client.getRequest(thread, id);
      expect(gaps).toEqual([]);
      expect(received).toContain(asReceived(request as unknown as ProviderRequest));
    }
  });

  it('takes no more requests with it than those that it had not ended', async () => {
    const calls = await cluster.client.listModelCalls(thread, { limit: 1000 });
    const events = await cluster.store.events.read(thread, 0, 100_000);
    expect(calls).toHaveLength(eventsOf(events, 'model.called').length);
    const missing = calls.filter(({ request }) => request !== 'kept');
    expect(missing.map(({ request, status }) => [request, status])).toEqual(
      Array(missing.length).fill(['lost', 'lost']),
    );
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.length).toBeLessThanOrEqual(POINTS.length);
    // The next attempt at each of their steps has its request.
    for (const { step, attempt } of missing)
      expect(calls).toContainEqual(expect.objectContaining({ step, attempt: attempt + 1, request: 'kept' }));
  });
});
