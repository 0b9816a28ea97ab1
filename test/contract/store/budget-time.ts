/** Time limits (core/governance/runtime.ts): counted in the store while a thread of the family is at work. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';
import { create } from './family-driver.ts';

const within = (maxRuntimeSeconds: number, more: Partial<BudgetDefinition> = {}) => ({
  rules: () => ({ budget: { warnAt: 0, maxRuntimeSeconds, ...more } }),
});
const used = async (store: ThreadStore, id: string) =>
  (await store.budgets.read(id)).find(({ limit }) => limit === 'maxRuntimeSeconds')?.used ?? -1;

async function runs(store: ThreadStore, id: string): Promise<number> {
  const before = await used(store, id);
  await eventually('time passes', async () => (await used(store, id)) > before);
  return used(store, id);
}

/** Checks that the thread's clock stands still while that of `other` goes on; returns the time that it shows. */
async function stands(store: ThreadStore, id: string, other: string): Promise<number> {
  const before = await used(store, id);
  await runs(store, other);
  expect(await used(store, id)).toBe(before);
  return before;
}

export function registerBudgetTime(given: () => Stores): void {
  describe('budgets of time', () => {
    const working = async () => {
      const thread = await openThread(given().store);
      await thread.beginCall([message('z')], within(600));
      return thread;
    };

    it('[PL-17] a limit of 0 denies the first step; any other limits requests and calls to the remaining time', async () => {
      const { store } = given();
      const none = await openThread(store);
      expect(await none.begin([message('a')], within(0))).toMatchObject({
        kind: 'failed',
        error: { code: 'BudgetExceeded', message: expect.stringContaining('maxRuntimeSeconds is 0') },
      });
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], within(600, { warnAt: 0.000001 }));
      const started = await store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm' });
      expect(started).toMatchObject({ kind: 'started', leftMs: expect.any(Number) });
      expect(started.kind === 'started' && started.leftMs).toBeLessThanOrEqual(600_000);
      await runs(store, thread.id);
      await thread.commit(ref, { toolCalls: [call('c', 'look'), call('d', 'look')] });
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: 'run', leftMs: expect.any(Number) });
      await thread.commitTool(1, 0);
      await thread.beginTool(1, 1);
      expect((await thread.events('budget.warning')).map(({ data }) => data.limit)).toEqual([
        'maxRuntimeSeconds',
      ]);
    });

    it('pause while a step waits for its model, and continue with the next request', async () => {
      const { store } = given();
      const other = await working();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], within(600));
      const held = { ...ref, model: 'main', pauseMs: 6000, refusals: 1 };
      expect(await store.modelCalls.hold(held)).toBe(true);
      await stands(store, thread.id, other.id);
      const again = await thread.beginCall([], { ...within(600), ordinal: 1, left: true });
      await store.modelCalls.start({ ...again, call: 1, model: 'm', modelId: 'm' });
      await runs(store, thread.id);
    });

    it('[PL-20] run on while a worker is lost, and for the run that takes over, until the execution ends', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      await thread.beginCall([message('a')], within(0.05));
      const revived = thread.as('run-2', second);
      await revived.open();
      await eventually('its time is up', async () => (await used(second, thread.id)) > 0.05);
      expect(await revived.begin([], within(0.05))).toMatchObject({
        kind: 'failed',
        error: { code: 'BudgetExceeded', message: expect.stringContaining('maxRuntimeSeconds is 0.05') },
      });
      await revived.rest('failed', { error: { code: 'BudgetExceeded', message: 'over' } });
      const other = await working();
      await stands(second, thread.id, other.id);
    });

    it('pause while a person is asked, and the waiting call is charged once', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], within(600, { maxToolCalls: 1 }));
      await thread.commit(ref, { toolCalls: [call('c0', 'look')] });
      await thread.beginTool(1, 0);
      const opened = await store.waits.open({
        ...{ id: randomUUID(), threadId: thread.id, key: 'ask:1:0:which', kind: 'question', name: 'look' },
        ...{ summary: 'Which?', data: null, blocks: true, executionId: thread.executionId },
        call: { step: 1, index: 0, attempt: 'attempt-1' },
      });
      if (opened.kind !== 'open') throw new Error(opened.kind);
      const before = await stands(store, thread.id, (await working()).id);
      await store.waits.answer({ id: opened.wait.id, answer: { value: 'a' } });
      expect(await thread.beginTool(1, 0, 'attempt-2')).toMatchObject({ kind: 'run' });
      expect(await runs(store, thread.id)).toBeGreaterThan(before);
      expect(await store.budgets.read(thread.id)).toMatchObject([
        { limit: 'maxToolCalls', used: 1 },
        { limit: 'maxRuntimeSeconds' },
      ]);
    });

    it('of a family are counted once, and run while the parent waits for a working child', async () => {
      const { store } = given();
      const root = await openThread(store);
      const toolCalls = [call('c0', 'ask')];
      await root.commit(await root.beginCall([message('a')], within(600)), { toolCalls });
      await root.beginTool(1, 0, 'subagent');
      const made = await create(root, { call: { step: 1, index: 0 }, waits: true });
      if (made.kind !== 'created') throw new Error(made.kind);
      const other = await working();
      await stands(store, root.id, other.id);
      const child = new ThreadDriver(store, made.child.threadId, 'run-of-child');
      await child.open({ agent: 'researcher', parentId: root.id, rootId: root.id });
      await child.answer([]);
      await runs(store, root.id);
      child.afterStep = 1;
      await child.rest();
      await stands(store, root.id, other.id);
    });
  });
}
