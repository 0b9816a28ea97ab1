/** Work besides the calls of an execution spends from its budget: invoked tools, effects, messages to a parent. */
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';
import { create } from './family-driver.ts';

const budgeted = (limits: Omit<BudgetDefinition, 'warnAt'>) => ({
  rules: () => ({ budget: { warnAt: 0, ...limits } }),
});
const used = async ({ store, id }: ThreadDriver) =>
  Object.fromEntries((await store.budgets.read(id)).map(({ limit, used: spent }) => [limit, spent]));
const judged = { judges: () => false, idempotent: () => false };

export function registerBudgetCauses(given: () => Stores): void {
  describe('charges besides the calls of a step', () => {
    it('[PL-17] a call is charged when it may start: one refused before costs nothing', async () => {
      const thread = await openThread(given().store);
      const toolCalls = [call('c', 'look'), call('d', 'look')];
      const ref = await thread.beginCall([message('a')], budgeted({ maxToolCalls: 1 }));
      await thread.commit(ref, { toolCalls });
      const begin = (index: number, fields: object) =>
        thread.store.toolCalls.begin({
          ...thread.from,
          step: 1,
          index,
          attempt: 'one',
          ...judged,
          ...fields,
        });
      expect(await begin(0, {})).toMatchObject({ kind: 'run', unbegun: true });
      const result = { status: 'error', error: 'Tool argument validation failed: id' } as const;
      await thread.commitTool(1, 0, { attempt: 'one', unbegun: true, result });
      expect(await used(thread)).toEqual({ maxToolCalls: 0 });
      expect(await begin(1, {})).toMatchObject({ unbegun: true });
      expect(await begin(1, { judges: undefined })).not.toMatchObject({ unbegun: true });
      expect(await used(thread)).toEqual({ maxToolCalls: 1 });
    });

    it('[PL-17] a tool invoked by code is a call, charged once by its key', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.answer([message('a')]);
      const pay = (threadId: string, key: string) => store.budgets.payInvoked({ threadId, key, step: 1 });
      expect(await pay(thread.id, 'k')).toEqual({ kind: 'paid' });
      expect(await store.threads.get(thread.id)).toEqual(
        expect.not.objectContaining({ budgeted: expect.anything() }),
      );
      const other = await openThread(store);
      await other.beginCall([message('a')], budgeted({ maxToolCalls: 1 }));
      expect(await store.threads.get(other.id)).toMatchObject({ budgeted: true });
      expect([await pay(other.id, 'k'), await pay(other.id, 'k')]).toEqual([
        { kind: 'paid' },
        { kind: 'paid' },
      ]);
      const denied = { kind: 'exceeded', error: { code: 'BudgetExceeded' } };
      expect(await pay(other.id, 'l')).toMatchObject(denied);
      expect(await pay(other.id, 'k')).toMatchObject(denied);
      expect(await used(other)).toEqual({ maxToolCalls: 1 });
      expect(await other.events('budget.exceeded')).toHaveLength(1);
    });

    it('an execution started by an effect is charged to the one that scheduled it', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const limits = budgeted({ maxSteps: 2 });
      const ref = await thread.beginCall([message('a')], limits);
      await store.effects.schedule(thread.id, { id: 'e', name: 'remind', args: {}, delayMs: 0 });
      await thread.commit(ref);
      thread.afterStep = 1;
      await thread.rest();
      await store.queue.add(thread.id, message('from-effect'), { own: false, effect: 'e' });
      thread.executionId = 'execution-2';
      await thread.commit(await thread.beginCall([], limits));
      expect(await used(thread)).toEqual({ maxSteps: 2 });
      thread.afterStep = 2;
      await thread.rest();
      await store.queue.add(thread.id, message('from-outside'));
      thread.executionId = 'execution-3';
      await thread.beginCall([], limits);
      expect(await used(thread)).toEqual({ maxSteps: 1 });
    });

    it('a message to the parent is charged to the execution that asked the child', async () => {
      const { store } = given();
      const root = await openThread(store);
      const limits = budgeted({ maxSteps: 3 });
      await root.commit(await root.beginCall([message('a')], limits), { toolCalls: [call('c0', 'ask')] });
      await root.beginTool(1, 0, 'subagent');
      const made = await create(root, { call: { step: 1, index: 0 } });
      if (made.kind !== 'created') throw new Error(made.kind);
      await root.commitTool(1, 0, { attempt: 'subagent' });
      root.afterStep = 1;
      await root.rest();
      const child = new ThreadDriver(store, made.child.threadId, 'run-of-child');
      await child.open({ agent: 'researcher', parentId: root.id, rootId: root.id });
      await child.beginCall([]);
      await store.children.sendToParent(child.id, message('word'));
      root.executionId = 'execution-2';
      await root.beginCall([], limits);
      expect(await used(root)).toEqual({ maxSteps: 3 });
    });
  });
}
