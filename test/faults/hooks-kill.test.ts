/** Hooks before a call and at the end of an execution, while the worker that runs them is killed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { killWorkers, standAt } from '../support/standing.ts';

describe('hooks of a killed worker', () => {
  let cluster: Cluster;

  const threads = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    for (const point of ['body_before', 'tool_committed'] as const)
      threads.set(point, await standAt(cluster, point, () => cluster.begin('use tap 1', 'guarded')));
    for (const point of ['execution_ending', 'status_committed'] as const)
      threads.set(point, await standAt(cluster, point, () => cluster.begin('hello', 'guarded')));
    await killWorkers(cluster);
    await cluster.keep(1);
  }, 120_000);
  afterAll(() => cluster?.close());

  const messagesOf = async (thread: string, role: string) => {
    const { messages } = await cluster.store.messages.list(thread, { limit: 100 });
    return messages.filter((message) => message.role === role);
  };

  it.each(['body_before', 'tool_committed'] as const)(
    '[AX-109] a call refused by a hook is refused once, with a known outcome: killed at %s',
    async (point) => {
      const thread = threads.get(point) as string;
      expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle' });
      const results = await messagesOf(thread, 'tool');
      expect(results.map(({ metadata }) => metadata.error_code)).toEqual(['HookBlocked']);
      const events = await cluster.store.events.read(thread, 0, 1000);
      expect(eventsOf(events, 'tool.started')).toEqual([]);
    },
    120_000,
  );

  it.each([
    ['execution_ending', 2],
    ['status_committed', 1],
  ] as const)(
    '[AX-110] hooks at the end of an execution have one effect: killed at %s they have run %i times',
    async (point, times) => {
      const thread = threads.get(point) as string;
      expect(await cluster.client.waitForIdle(thread)).toMatchObject({ status: 'idle' });
      const ledger = cluster.ledger(thread);
      expect(ledger).toHaveLength(times);
      expect(new Set(ledger).size).toBe(1);
      expect(await messagesOf(thread, 'system')).toHaveLength(1);
    },
    120_000,
  );
});
