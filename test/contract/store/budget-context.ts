/** Budgets in the context of a run: they narrow those of agents, and apply alone if an agent has none. */
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import type { RunLimits } from '../../../src/core/governance/run-limit.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';
import { create } from './family-driver.ts';

const budgeted = (limits: Omit<BudgetDefinition, 'warnAt'>) => ({
  rules: () => ({ budget: { warnAt: 0, ...limits } }),
});
const says = (id: string, budget: RunLimits) => message(id, 'go', { context: { budget } });
const lines = async ({ store, id }: ThreadDriver) =>
  (await store.budgets.read(id)).map(({ threadId, limit, max, used, warnAt }) => ({
    own: threadId === id,
    ...{ limit, max, used, warnAt },
  }));

export function registerBudgetContext(given: () => Stores): void {
  describe('budgets of a run context', () => {
    it('[PL-17] an agent without a budget has that of the context, with a warning at 80 %', async () => {
      const thread = await openThread(given().store);
      await thread.answer([says('a', { maxSteps: 1 })]);
      expect(await lines(thread)).toEqual([{ own: true, limit: 'maxSteps', max: 1, used: 1, warnAt: 0.8 }]);
      thread.afterStep = 1;
      expect(await thread.begin([message('b')])).toMatchObject({
        kind: 'failed',
        error: { code: 'BudgetExceeded' },
      });
    });

    it('the lower limit of agent and context applies, and the next execution has only its agent’s', async () => {
      const thread = await openThread(given().store);
      const limits = budgeted({ maxSteps: 2, maxToolCalls: 7 });
      const narrow = says('a', { maxSteps: 5, maxToolCalls: 3, maxLlmCalls: 4, warnAt: 0.5 });
      await thread.commit(await thread.beginCall([narrow], limits));
      expect(await lines(thread)).toMatchObject([
        { limit: 'maxSteps', max: 2, warnAt: 0.5 },
        { limit: 'maxLlmCalls', max: 4, warnAt: 0.5 },
        { limit: 'maxToolCalls', max: 3, warnAt: 0.5 },
      ]);
      await thread.rest();
      thread.executionId = 'execution-2';
      thread.afterStep = 1;
      await thread.beginCall([message('b')], limits);
      expect(await lines(thread)).toMatchObject([
        { limit: 'maxSteps', max: 2, used: 1, warnAt: 0 },
        { limit: 'maxToolCalls', max: 7, used: 0, warnAt: 0 },
      ]);
    });

    it('input that joins an execution may narrow its remaining budget, never widen it', async () => {
      const thread = await openThread(given().store);
      const limits = budgeted({ maxSteps: 4 });
      const open = { toolCalls: [call('c', 'look')] };
      await thread.commit(await thread.beginCall([message('a')], limits), open);
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      await thread.commit(await thread.beginCall([says('b', { maxSteps: 9, maxLlmCalls: 3 })], limits), open);
      expect(await lines(thread)).toMatchObject([
        { limit: 'maxSteps', max: 4, used: 2 },
        { limit: 'maxLlmCalls', max: 3, used: 0 },
      ]);
      await thread.runTool(2, 0);
      thread.afterStep = 2;
      expect(await thread.begin([says('c', { maxSteps: 2 })], limits)).toMatchObject({
        kind: 'failed',
        error: { message: expect.stringContaining('maxSteps is 2') },
      });
    });

    it('a child gets an account of its own only if its budget is narrower than that of its root', async () => {
      const { store } = given();
      const root = await openThread(store);
      const toolCalls = [call('c0', 'ask'), call('c1', 'ask')];
      await root.commit(await root.beginCall([says('a', { maxSteps: 3, maxLlmCalls: 9 })]), { toolCalls });
      await root.beginTool(1, 0, 'subagent');
      await root.beginTool(1, 1, 'subagent');
      const open = async (index: number, budget: RunLimits) => {
        const made = await create(root, { call: { step: 1, index }, child: { context: { budget } } });
        if (made.kind !== 'created') throw new Error(made.kind);
        const child = new ThreadDriver(store, made.child.threadId, `run-of-child-${index}`);
        await child.open({ agent: 'researcher', parentId: root.id, rootId: root.id });
        await child.beginCall([]);
        return child;
      };
      expect(await lines(await open(0, { maxSteps: 3, maxLlmCalls: 9 }))).toMatchObject([
        { own: false, limit: 'maxSteps', used: 2 },
        { own: false, limit: 'maxLlmCalls' },
      ]);
      expect(await lines(await open(1, { maxSteps: 1, maxLlmCalls: 9 }))).toMatchObject([
        { own: true, limit: 'maxSteps', max: 1, used: 1 },
        { own: false, limit: 'maxSteps', used: 3 },
        { own: false, limit: 'maxLlmCalls' },
      ]);
    });

    it('a model without prices is not called if the context limits cost', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([says('a', { maxCost: 1 })]);
      const ask = { ...ref, call: 1, model: 'plain', modelId: 'plain-1' };
      const estimate = { inputTokens: 1, maxOutputTokens: 1, leaseMs: 60_000 };
      expect(await store.modelCalls.start({ ...ask, reserve: () => estimate })).toMatchObject({
        kind: 'exceeded',
        error: { code: 'BudgetExceeded', message: expect.stringContaining("'plain' has no price") },
      });
      expect(await thread.events('model.called')).toEqual([]);
    });
  });
}
