/** The index of runs: maintained by the commands that begin and end executions, and read across all threads. */
import { describe, expect, it } from '@jest/globals';
import type { ExecutionPlace } from '../../../src/store/execution/execution-record.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, ThreadDriver } from '../thread-driver.ts';

export function registerRunIndex(given: () => Stores): void {
  describe('the index of runs', () => {
    it('[PL-24] has each execution with its agent, its log position, and its end', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.answer([message('a')]);
      expect(await store.executions.list({ threadId: thread.id })).toMatchObject([
        { id: 'execution-1', state: 'working', endedAt: null, stopReason: null },
      ]);
      await thread.rest('idle', { reason: 'because' });
      for (const [n, status] of (['stopped', 'failed', 'terminated'] as const).entries()) {
        thread.executionId = `execution-${n + 2}`;
        thread.afterStep = n + 1;
        await thread.answer([message(`m${n}`)]);
        await thread.rest(status);
      }
      const runs = await store.executions.list({ threadId: thread.id });
      expect(runs.map(({ id, state, stopReason, agent }) => [id, state, stopReason, agent])).toEqual([
        ['execution-4', 'canceled', 'terminated', 'helper'],
        ['execution-3', 'failed', 'failed', 'helper'],
        ['execution-2', 'canceled', 'stopped', 'helper'],
        ['execution-1', 'completed', 'because', 'helper'],
      ]);
      const started = (await thread.events()).filter(({ type }) => type === 'execution.started');
      expect(runs.map(({ firstSeq }) => firstSeq)).toEqual(started.map(({ seq }) => seq).toReversed());
    });

    it('[PL-24] is searched by thread, agent and state together', async () => {
      const { store } = given();
      const agent = `agent-${Math.random()}`;
      const threads = [];
      for (let n = 0; n < 3; n++) {
        const thread = await new ThreadDriver(store);
        await thread.open({ agent });
        await thread.answer([message('a')]);
        if (n > 0) await thread.rest(n === 1 ? 'failed' : 'idle');
        threads.push(thread.id);
      }
      const idsOf = async (options: Parameters<typeof store.executions.list>[0]) =>
        (await store.executions.list({ agent, ...options })).map(({ threadId }) => threadId);
      expect((await idsOf({})).toSorted()).toEqual(threads.toSorted());
      expect(await idsOf({ limit: 1 })).toHaveLength(1);
      expect(await idsOf({ state: 'working' })).toEqual([threads[0]]);
      expect(await idsOf({ state: 'failed' })).toEqual([threads[1]]);
      expect(await idsOf({ state: 'completed' })).toEqual([threads[2]]);
      expect(await idsOf({ state: 'canceled' })).toEqual([]);
      expect(await idsOf({ state: 'input-required' })).toEqual([]);
      expect(await idsOf({ threadId: threads[1], state: 'completed' })).toEqual([]);
    });

    it('[PL-24] is read in pages: each run once, while others start', async () => {
      const { store } = given();
      const agent = `agent-${Math.random()}`;
      const begin = async () => {
        const thread = await new ThreadDriver(store);
        await thread.open({ agent });
        await thread.answer([message('a')]);
        return thread.id;
      };
      const begun: string[] = [];
      for (let n = 0; n < 5; n++) begun.unshift(await begin());
      const seen: string[] = [];
      for (let before: ExecutionPlace | undefined; ; ) {
        const page = await store.executions.list({ agent, limit: 2, ...(before && { before }) });
        seen.push(...page.map(({ threadId }) => threadId));
        before = page.at(-1);
        if (!before) break;
        await begin();
      }
      // Those of one millisecond are in the order of their ids.
      expect(seen.toSorted()).toEqual(begun.toSorted());
    });

    it('[PL-24] is searched by run, session and trace named by a context', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const session = `session-of-${thread.id}`;
      const context = { runId: `run-of-${thread.id}`, sessionId: session, traceId: 'trace_abc' };
      await thread.answer([message('a', 'content', { context })]);
      const [found] = await store.executions.list({ sessionId: session });
      expect(found).toMatchObject({ threadId: thread.id, id: 'execution-1', context });
      expect(await store.executions.list({ runId: context.runId, traceId: 'trace_abc' })).toEqual([found]);
      expect(await store.executions.list({ sessionId: session, traceId: 'another' })).toEqual([]);
      expect(await store.executions.find(context.runId)).toEqual(found);
    });

    it('finds a run by its id, and by a row of its log', async () => {
      const { store } = given();
      const thread = await openThread(store);
      thread.executionId = `execution-of-${thread.id}`;
      await thread.answer([message('a')]);
      const found = await store.executions.find(thread.executionId);
      expect(found).toMatchObject({ threadId: thread.id });
      expect(await store.executions.find(thread.executionId, thread.id)).toEqual(found);
      expect(await store.executions.find(thread.executionId, 'another')).toBeNull();
      const first = found?.firstSeq ?? 0;
      expect(await store.executions.at(thread.id, first - 1)).toBeNull();
      expect(await store.executions.at(thread.id, first)).toEqual(found);
      expect(await store.executions.at(thread.id, first + 100)).toEqual(found);
    });
  });
}
