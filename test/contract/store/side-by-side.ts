/** Calls that are under way together: their ends become history in the returned order, and their attempts are independent. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

/** Three calls of one answer, marked, and one behind them that is not. */
async function together(given: () => Stores): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  const toolCalls = ['a', 'b', 'c', 'd'].map((name) => call(`call-${name}`, name));
  await thread.answer([message('m')], { content: null, toolCalls, parallel: [0, 1, 2] });
  return thread;
}

async function begun(given: () => Stores): Promise<ThreadDriver> {
  const thread = await together(given);
  for (const index of [0, 1, 2]) await thread.beginTool(1, index, 'attempt-1', true);
  return thread;
}

const end = (thread: ThreadDriver, index: number, fields = {}) =>
  thread.commitTool(1, index, { result: { status: 'success', result: `end ${index}` }, ...fields });

const results = async (thread: ThreadDriver) =>
  (await thread.messages()).filter(({ role }) => role === 'tool').map(({ content }) => content);

export function registerSideBySide(given: () => Stores): void {
  describe('calls that are under way together', () => {
    it('[runtime 5.1a] are reported with their step, by whoever takes it over', async () => {
      const thread = await together(given);
      const again = await thread.as('run-2').begin();
      expect(again).toMatchObject({
        kind: 'stored',
        record: { calls: ['a', 'b', 'c', 'd'], parallel: [0, 1, 2] },
      });
    });

    it('[runtime 5.1a] become history in the returned order, each once, whatever the order in which they end', async () => {
      const thread = await begun(given);
      const queuedTools = [{ id: 'q1', name: 'tidy', arguments: {} }];
      expect(await end(thread, 2, { message: { id: 'm-c' }, queuedTools })).toEqual({
        kind: 'stored',
        queued: 0,
      });
      expect(await end(thread, 1, { message: { id: 'm-b' } })).toEqual({ kind: 'stored', queued: 0 });
      expect(await results(thread)).toEqual([]);
      const before = await thread.everything();
      // Repeated: the worker died before it heard that the end is stored.
      expect(await end(thread, 2, { queuedTools })).toEqual({ kind: 'stored', queued: 0 });
      expect(await thread.everything()).toEqual(before);
      expect(await end(thread, 0)).toEqual({ kind: 'stored', queued: 1, released: ['m-b', 'm-c'] });
      expect(await results(thread)).toEqual(['end 0', 'end 1', 'end 2']);
      expect(await end(thread, 1)).toMatchObject({ kind: 'stored' });
      expect(await results(thread)).toHaveLength(3);
    });

    it('[runtime 5.1a] one that has finished does not begin again, and has its outcome', async () => {
      const thread = await begun(given);
      await end(thread, 1, { result: { status: 'error', error: 'no' }, directive: 'stop' });
      const settled = { kind: 'settled', state: 'done', status: 'error', directive: 'stop' };
      expect(await thread.beginTool(1, 1, 'attempt-2', true)).toMatchObject(settled);
      expect(await thread.settleLostTool(1, 1)).toMatchObject(settled);
      expect(await thread.commitTool(1, 1, { attempt: 'attempt-2' })).toEqual({ kind: 'late' });
    });

    it('[runtime 5.1a] one whose outcome is unknown waits for its place, too', async () => {
      const thread = await together(given);
      await thread.beginTool(1, 0);
      await thread.beginTool(1, 1);
      expect(await thread.settleLostTool(1, 1)).toMatchObject({ kind: 'settled', state: 'unknown' });
      expect(await thread.events('tool.unknown')).toEqual([]);
      expect(await thread.beginTool(1, 1, 'attempt-2')).toMatchObject({ kind: 'settled', state: 'unknown' });
      await end(thread, 0);
      expect(await results(thread)).toEqual([
        'end 0',
        expect.stringContaining('outcome of this call is unknown'),
      ]);
      expect(await thread.events('tool.unknown')).toHaveLength(1);
    });

    it('[runtime 5.1a] a call that a hook removes holds nothing up', async () => {
      const thread = await begun(given);
      await end(thread, 1);
      await end(thread, 0, { result: null });
      expect(await results(thread)).toEqual(['end 1']);
    });

    it.each(['stopped', 'terminated'] as const)(
      '[runtime 5.1a] what has finished keeps its result when the thread is %s',
      async (status) => {
        const thread = await begun(given);
        await end(thread, 1);
        await thread.rest(status);
        expect(await results(thread)).toEqual([
          ...['Failed to execute tool: stopped', 'end 1'],
          ...['Failed to execute tool: stopped', 'Failed to execute tool: stopped'],
        ]);
      },
    );

    it('[runtime 5.1a] the clock of a time limit runs until what is left of them only waits', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('m')], {
        rules: () => ({ budget: { warnAt: 0, maxRuntimeSeconds: 600 } }),
      });
      const toolCalls = [call('call-a', 'a'), call('call-b', 'b')];
      await thread.commit(ref, { content: null, toolCalls, parallel: [0, 1] });
      for (const index of [0, 1]) await thread.beginTool(1, index, 'attempt-1', true);
      const used = async () =>
        (await store.budgets.read(thread.id)).find(({ limit }) => limit === 'maxRuntimeSeconds')?.used ?? -1;
      await store.waits.open({
        id: randomUUID(),
        threadId: thread.id,
        key: 'approval',
        kind: 'approval',
        name: 'a',
        summary: 'a',
        data: null,
        blocks: true,
        executionId: thread.executionId,
        call: { step: 1, index: 0, attempt: 'attempt-1' },
      });
      // The other one works.
      const before = await used();
      await eventually('time passes', async () => (await used()) > before);
      await end(thread, 1);
      const stopped = await used();
      const other = await openThread(store);
      await other.beginCall([message('z')], {
        rules: () => ({ budget: { warnAt: 0, maxRuntimeSeconds: 600 } }),
      });
      const reading = async () =>
        (await store.budgets.read(other.id)).find(({ limit }) => limit === 'maxRuntimeSeconds')?.used ?? -1;
      const begun = await reading();
      await eventually('time passes for another thread', async () => (await reading()) > begun);
      expect(await used()).toBe(stopped);
    });

    it('[runtime 5.1a] begin by activities in any order; a replaced attempt at one of them is refused', async () => {
      const thread = await together(given);
      const at = (index: number, number: number, since: number, attempt: string) =>
        thread.store.toolCalls.begin({
          ...thread.from,
          step: 1,
          index,
          attempt,
          idempotent: () => true,
          activity: { number, since },
        });
      expect(await at(2, 9, 1000, 'c1')).toMatchObject({ kind: 'run' });
      expect(await at(0, 7, 1000, 'a1')).toMatchObject({ kind: 'run' });
      expect(await at(0, 7, 1500, 'a2')).toMatchObject({ kind: 'run', repeated: true });
      expect(await at(1, 8, 1000, 'b1')).toMatchObject({ kind: 'run' });
      await expect(at(0, 7, 1000, 'a1')).rejects.toMatchObject({ name: 'StaleAttempt' });
      // Its newest attempt still holds the call.
      expect(await end(thread, 0, { attempt: 'a2' })).toMatchObject({ kind: 'stored' });
      // What comes behind them is fenced as always.
      await expect(at(3, 8, 1000, 'd1')).rejects.toMatchObject({ name: 'StaleAttempt' });
      expect(await at(3, 10, 1000, 'd1')).toMatchObject({ kind: 'run' });
    });
  });
}
