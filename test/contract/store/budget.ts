/** Budgets (core/governance/budget.ts): charged in the transaction of what is paid for, so once if it is repeated. */

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import { toPico } from '../../../src/core/value/money.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

const budgeted = (limits: Omit<BudgetDefinition, 'warnAt'>) => ({
  rules: () => ({ budget: { warnAt: 0.8, ...limits } }),
});
const exceeded = { kind: 'exceeded', error: { code: 'BudgetExceeded' } };
const used = async ({ store, id }: ThreadDriver) =>
  Object.fromEntries((await store.budgets.read(id)).map(({ limit, used: spent }) => [limit, spent]));
const asked = { model: 'main', modelId: 'main-1' };

export function registerBudget(given: () => Stores): void {
  describe('budgets', () => {
    it('[PL-17] a denied step leaves its input in history, and is denied again when repeated', async () => {
      const thread = await openThread(given().store);
      const none = budgeted({ maxSteps: 0 });
      const denied = await thread.begin([message('a')], { ...none, ordinal: 5 });
      expect(denied).toMatchObject({ kind: 'failed', step: 0, error: { code: 'BudgetExceeded' } });
      expect(await thread.transcript()).toEqual(['user: content of a']);
      const before = await thread.everything();
      expect(await thread.begin([message('a')], { ...none, ordinal: 5 })).toEqual(denied);
      expect(await thread.everything()).toEqual(before);
      expect((await thread.events('budget.exceeded')).map(({ data }) => data)).toEqual([
        { executionId: 'execution-1', limit: 'maxSteps', max: 0, observed: 1 },
      ]);
    });

    it('[PL-17] another run with an exhausted budget takes no input, which is left to the next execution', async () => {
      const thread = await openThread(given().store);
      const one = budgeted({ maxSteps: 1 });
      await thread.commit(await thread.beginCall([message('a')], one), { toolCalls: [call('c', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await thread.begin([], one)).toMatchObject({ kind: 'failed', step: 1 });
      const revived = thread.as('run-2');
      await revived.open();
      expect(await revived.begin([message('b')], one)).toMatchObject({ kind: 'failed', step: 1, swept: 0 });
      const error = { code: 'BudgetExceeded', message: 'used up' };
      expect(await revived.rest('failed', { error })).toMatchObject({ kind: 'pending', waiting: 1 });
      revived.executionId = 'execution-2';
      expect(await revived.begin([], one)).toMatchObject({ kind: 'call', step: 2 });
      expect(await used(revived)).toEqual({ maxSteps: 1 });
    });

    it('[PL-17] items queued by the thread itself start nothing once its budget is exhausted', async () => {
      const thread = await openThread(given().store);
      expect(await thread.begin([message('a')], budgeted({ maxSteps: 0 }))).toMatchObject({ kind: 'failed' });
      await thread.store.queue.add(thread.id, tool('own', 'look'), { own: true });
      const error = { code: 'BudgetExceeded', message: 'used up' };
      expect(await thread.rest('failed', { error })).toMatchObject({ kind: 'rest', waiting: 1 });
    });

    it('[PL-17][PL-20] a call is charged once, when it starts; a denied one is closed without running', async () => {
      const thread = await openThread(given().store);
      const toolCalls = [call('c1', 'look'), call('c2', 'look'), call('c3', 'look')];
      await thread.commit(await thread.beginCall([message('a')], budgeted({ maxToolCalls: 1 })), {
        toolCalls,
      });
      await thread.beginTool(1, 0, 'one', true);
      // The worker was lost, and the tool is idempotent.
      expect(await thread.beginTool(1, 0, 'two', true)).toMatchObject({ kind: 'run', repeated: true });
      await thread.commitTool(1, 0, { attempt: 'two' });
      expect(await used(thread)).toEqual({ maxToolCalls: 1 });
      expect(await thread.beginTool(1, 1)).toMatchObject(exceeded);
      expect(await thread.beginTool(1, 1, 'again')).toMatchObject(exceeded);
      expect(await used(thread)).toEqual({ maxToolCalls: 1 });
      expect(await thread.events('budget.exceeded')).toHaveLength(1);
      await thread.rest('failed', { error: { code: 'BudgetExceeded', message: 'used up' } });
      const results = (await thread.messages()).filter(({ role }) => role === 'tool');
      expect(results.map(({ content }) => content?.match(/BudgetExceeded|done/)?.[0])).toEqual([
        'done',
        'BudgetExceeded',
        'BudgetExceeded',
      ]);
      expect((await thread.events('tool.started')).map(({ data }) => data.callId)).toEqual(['c1', 'c1']);
    });

    it('[PL-17] a call that opened a wait was charged, and restarts without a charge', async () => {
      const thread = await openThread(given().store);
      const begun = await thread.beginCall([message('a')], budgeted({ maxToolCalls: 1 }));
      await thread.commit(begun, { toolCalls: [call('c1', 'look')] });
      await thread.beginTool(1, 0, 'one');
      const { waits } = given().store;
      const opened = await waits.open({
        ...{ id: randomUUID(), threadId: thread.id, key: 'ask:1:0:which', kind: 'question' },
        ...{ name: 'look', summary: 'Which one?', data: null, blocks: true, toolCallId: 'c1' },
        ...{ executionId: thread.executionId, call: { step: 1, index: 0, attempt: 'one' } },
      });
      if (opened.kind !== 'open') throw new Error(`The wait is not open: ${opened.kind}.`);
      await waits.answer({ id: opened.wait.id, answer: { value: 'a' } });
      expect(await thread.beginTool(1, 0, 'two')).toMatchObject({ kind: 'run' });
      expect(await used(thread)).toEqual({ maxToolCalls: 1 });
      expect(await thread.events('budget.exceeded')).toEqual([]);
    });

    it('[PL-19][PL-20] each model request is charged once, whatever became of the one before', async () => {
      const thread = await openThread(given().store);
      const two = budgeted({ maxLlmCalls: 2 });
      const ref = await thread.beginCall([message('a')], two);
      const start = (attempt: number, number: number) =>
        given().store.modelCalls.start({ ...ref, attempt, call: number, ...asked });
      expect(await start(1, 1)).toEqual({ kind: 'started' });
      expect(await start(1, 1)).toEqual({ kind: 'started' });
      expect(await used(thread)).toEqual({ maxLlmCalls: 1 });
      // The worker was lost; another one tries the step again.
      const again = await thread.begin([message('a')], { ...two, ordinal: 0 });
      expect(again).toMatchObject({ kind: 'call', attempt: 2 });
      expect(await start(2, 1)).toEqual({ kind: 'started' });
      expect(await start(2, 2)).toMatchObject(exceeded);
      expect(await used(thread)).toEqual({ maxLlmCalls: 2 });
    });

    it('[PL-18] each limit warns once', async () => {
      const thread = await openThread(given().store);
      const five = budgeted({ maxSteps: 5, maxToolCalls: 1 });
      const toolCalls = [call('c', 'look')];
      for (let step = 1; step <= 5; step++) {
        await thread.commit(
          await thread.beginCall([message(`m${step}`)], five),
          step === 1 ? { toolCalls } : {},
        );
        if (step === 1) await thread.runTool(1, 0);
        thread.afterStep = step;
      }
      const execution = { executionId: 'execution-1' };
      expect((await thread.events('budget.warning')).map(({ data }) => data)).toEqual([
        { ...execution, limit: 'maxToolCalls', max: 1, used: 1 },
        { ...execution, limit: 'maxSteps', max: 5, used: 4 },
      ]);
    });

    it('[PL-17][PL-20] tokens are reserved before a request and settled once with its answer; a lost reservation is marked', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const limits = budgeted({ maxInputTokens: 100, maxOutputTokens: 50, maxCost: 1 });
      const ref = await thread.beginCall([message('a')], limits);
      const reserve = () => ({ inputTokens: 40, inputPrice: 1000, outputPrice: 2000, leaseMs: 60_000 });
      const start = (attempt: number, call: number) =>
        store.modelCalls.start({ ...ref, attempt, call, ...asked, reserve });
      const lines = async () =>
        (await store.budgets.read(thread.id)).map((line) => [line.used, line.reserved, line.estimated]);
      // As much output as all three limits have room for.
      expect(await start(1, 1)).toEqual({ kind: 'started', maxOutputTokens: 50 });
      expect(await start(1, 1)).toEqual({ kind: 'started', maxOutputTokens: 50 });
      expect(await lines()).toEqual([
        [0, 40, 0],
        [0, 50, 0],
        [0, 0.14, 0],
      ]);
      // A request that the provider refuses costs nothing.
      const refusal = { code: 'rate_limit', message: 'slow down', statusCode: 429 };
      await store.modelCalls.end({ ...ref, call: 1, ok: false, error: refusal });
      expect(await lines()).toEqual([
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ]);
      const short = () => ({ ...reserve(), maxOutputTokens: 10 });
      expect(await store.modelCalls.start({ ...ref, call: 2, ...asked, reserve: short })).toEqual({
        kind: 'started',
        maxOutputTokens: 10,
      });
      // The worker was lost.
      const again = await thread.begin([message('a')], { ...limits, ordinal: 0 });
      expect(again).toMatchObject({ kind: 'call', attempt: 2 });
      expect(await lines()).toEqual([
        [40, 0, 40],
        [10, 0, 10],
        [0.06, 0, 0.06],
      ]);
      expect(await start(2, 1)).toEqual({ kind: 'started', maxOutputTokens: 40 });
      const usage = { promptTokens: 30, completionTokens: 20, totalTokens: 50 };
      const second = { ...ref, attempt: 2 };
      const answer = () => thread.commit(second, { usage, call: { call: 1, usage, cost: toPico(0.07) } });
      expect(await answer()).toMatchObject({ kind: 'stored' });
      const settled = [
        [70, 0, 40],
        [30, 0, 10],
        [0.13, 0, 0.06],
      ];
      expect(await lines()).toEqual(settled);
      await answer();
      expect(await lines()).toEqual(settled);
      // The request that was taken for lost reports its usage after all.
      await store.modelCalls.end({ ...ref, call: 2, ok: true, usage, cost: toPico(0.07) });
      expect(await lines()).toEqual([
        [60, 0, 0],
        [40, 0, 0],
        [0.14, 0, 0],
      ]);
    });

    it('[PL-17] an answer above its estimate is kept, and ends its execution', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], budgeted({ maxInputTokens: 20 }));
      const reserve = () => ({ inputTokens: 10, leaseMs: 60_000 });
      expect(await store.modelCalls.start({ ...ref, call: 1, ...asked, reserve })).toEqual({
        kind: 'started',
      });
      const usage = { promptTokens: 25, completionTokens: 1, totalTokens: 26 };
      expect(await thread.commit(ref, { usage, call: { call: 1, usage } })).toMatchObject({
        kind: 'stored',
        record: { exceeded: { code: 'BudgetExceeded' } },
      });
      expect((await thread.events('budget.exceeded')).map(({ data }) => data)).toMatchObject([
        { limit: 'maxInputTokens', observed: 25, max: 20 },
      ]);
      expect(await thread.begin([], { ordinal: 7 })).toMatchObject({ kind: 'failed', step: 1 });
    });

    it('[PL-20] the reservation of an execution being stopped is charged', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], budgeted({ maxOutputTokens: 100 }));
      const reserve = () => ({ inputTokens: 10, maxOutputTokens: 30, leaseMs: 60_000 });
      await store.modelCalls.start({ ...ref, call: 1, ...asked, reserve });
      await thread.rest('stopped');
      expect(await store.budgets.read(thread.id)).toMatchObject([{ used: 30, reserved: 0, estimated: 30 }]);
    });

    it('an execution without a budget writes no row and no event', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      expect(await given().store.budgets.read(thread.id)).toEqual([]);
      expect(await thread.events('budget.warning', 'budget.exceeded')).toEqual([]);
    });
  });
}
