/** A family spends from the budget of the execution that started its work, also with two connections at once. */
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import type { StartedModelCall } from '../../../src/store/step/step-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { StepRef } from '../../../src/store/transaction/from-run.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver, tool } from '../thread-driver.ts';
import { create } from './family-driver.ts';

const budgeted = (limits: Omit<BudgetDefinition, 'warnAt'>) => ({
  rules: () => ({ budget: { warnAt: 0, ...limits } }),
});
const used = async (store: ThreadStore, id: string) =>
  (await store.budgets.read(id)).map(({ threadId, limit, used: spent }) => [threadId, limit, spent]);

/** A thread with a budget, in a step that has called `count` subagents. */
async function openRoot(store: ThreadStore, limits: Omit<BudgetDefinition, 'warnAt'>, count = 1) {
  const root = await openThread(store);
  const toolCalls = Array.from({ length: count }, (_, index) => call(`c${index}`, 'ask'));
  await root.commit(await root.beginCall([message('a')], budgeted(limits)), { toolCalls });
  for (const { id } of toolCalls) await root.beginTool(1, Number(id.slice(1)), 'subagent');
  root.afterStep = 1;
  return root;
}

async function openChild(root: ThreadDriver, index = 0): Promise<ThreadDriver> {
  const made = await create(root, { call: { step: 1, index } });
  if (made.kind !== 'created') throw new Error(`No child: ${made.kind}.`);
  const child = new ThreadDriver(root.store, made.child.threadId, `run-of-child-${index}`);
  await child.open({ agent: 'researcher', parentId: root.id, rootId: root.id });
  return child;
}

export function registerBudgetFamily(given: () => Stores): void {
  describe('budgets of a family', () => {
    it('a child spends from its parent’s budget and from its own', async () => {
      const { store } = given();
      const root = await openRoot(store, { maxSteps: 3 });
      const child = await openChild(root);
      await child.answer([], {});
      expect(await used(store, child.id)).toEqual([[root.id, 'maxSteps', 2]]);
      child.afterStep = 1;
      await child.rest();
      const other = await openChild(await openRoot(store, { maxSteps: 9 }));
      await other.commit(await other.beginCall([], budgeted({ maxSteps: 1 })));
      other.afterStep = 1;
      expect(await other.begin([])).toMatchObject({
        kind: 'failed',
        error: { message: expect.stringContaining('maxSteps is 1') },
      });
    });

    it('a child whose root budget is exhausted ends, and names the owner of that budget', async () => {
      const { store } = given();
      const root = await openRoot(store, { maxSteps: 1 });
      const child = await openChild(root);
      expect(await child.begin([])).toMatchObject({ kind: 'failed', error: { code: 'BudgetExceeded' } });
      expect((await child.events('budget.exceeded')).map(({ data }) => data)).toEqual([
        { executionId: 'execution-1', threadId: root.id, limit: 'maxSteps', max: 1, observed: 2 },
      ]);
    });

    it('an execution started by a report shares its cause’s budget; one from outside has its own', async () => {
      const { store } = given();
      const root = await openRoot(store, { maxSteps: 3 });
      const child = await openChild(root);
      await child.answer([], {});
      child.afterStep = 1;
      await root.commitTool(1, 0, { attempt: 'subagent' });
      await root.rest();
      const report = { kind: 'result', content: 'found', attachments: [] } as const;
      await child.rest('idle', { report });
      expect(await store.reports.deliver(child.id, 'execution-1')).toMatchObject({ by: 'message' });
      root.executionId = 'execution-2';
      expect(await root.begin([], budgeted({ maxSteps: 3 }))).toMatchObject({ kind: 'call' });
      expect(await used(store, root.id)).toEqual([[root.id, 'maxSteps', 3]]);
      await root.rest();
      root.executionId = 'execution-3';
      root.afterStep = 2;
      expect(await root.begin([message('z')], budgeted({ maxSteps: 3 }))).toMatchObject({ kind: 'call' });
      expect(await used(store, root.id)).toEqual([[root.id, 'maxSteps', 1]]);
    });

    it('a report to an execution ended by its budget is stored, and starts nothing', async () => {
      const { store } = given();
      const root = await openRoot(store, { maxSteps: 2 });
      const child = await openChild(root);
      await child.answer([], {});
      child.afterStep = 1;
      await root.commitTool(1, 0, { attempt: 'subagent' });
      const limits = budgeted({ maxSteps: 2 });
      const ended = await root.begin([], limits);
      expect(ended).toMatchObject({ kind: 'failed' });
      if (ended.kind === 'failed') await root.rest('failed', { error: ended.error });
      const report = { kind: 'result', content: 'found', attachments: [] } as const;
      await child.rest('idle', { report });
      await store.reports.deliver(child.id, 'execution-1');
      root.executionId = 'execution-2';
      expect(await root.begin([], limits)).toMatchObject({ kind: 'failed', swept: 0 });
      expect(await root.begin([message('go on')], limits)).toMatchObject({ kind: 'call' });
      const said = (await root.messages())
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content);
      expect(said).toHaveLength(3);
    });

    it('items queued by the thread itself continue with the budget of the execution that queued them', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const two = budgeted({ maxSteps: 2 });
      await thread.commit(await thread.beginCall([message('a')], two));
      await store.queue.add(thread.id, tool('own', 'look'), { own: true });
      thread.afterStep = 1;
      await thread.rest();
      thread.executionId = 'execution-2';
      expect(await thread.begin([], two)).toMatchObject({ kind: 'stored' });
      await thread.runTool(2, 0);
      thread.afterStep = 2;
      expect(await used(store, thread.id)).toEqual([[thread.id, 'maxSteps', 2]]);
      expect(await thread.begin([], two)).toMatchObject({ kind: 'failed' });
    });

    it('an agent that takes over by handoff may narrow the budget, never widen it', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const rules = (agent: string) => ({
        budget: agent === 'helper' ? { warnAt: 0, maxSteps: 5 } : { warnAt: 0, maxSteps: 2, maxToolCalls: 7 },
      });
      const toolCalls = [call('c', 'other')];
      await thread.commit(await thread.beginCall([message('a')], { rules }), { toolCalls });
      await thread.beginTool(1, 0);
      await thread.commitTool(1, 0, { nextAgent: 'other' });
      thread.afterStep = 1;
      await thread.beginCall([], { rules });
      expect(await store.budgets.read(thread.id)).toMatchObject([
        { limit: 'maxSteps', max: 2, used: 2 },
        { limit: 'maxToolCalls', max: 7, used: 0 },
      ]);
    });

    it('[PL-17] concurrent requests on two connections never exceed the limit, and each is sent eventually', async () => {
      const { store, second } = given();
      const count = 8;
      const root = await openRoot(store, { maxOutputTokens: 100, maxLlmCalls: 1000 }, count);
      const children: { child: ThreadDriver; ref: StepRef; store: ThreadStore }[] = [];
      for (let index = 0; index < count; index++) {
        const child = await openChild(root, index);
        children.push({ child, ref: await child.beginCall([]), store: index % 2 === 0 ? store : second });
      }
      let [held, most, total] = [0, 0, 0];
      await Promise.all(
        children.map(async ({ ref, store: connection }, index) => {
          const reserve = () => ({ inputTokens: 1, maxOutputTokens: 30, leaseMs: 60_000 });
          const start = (): Promise<StartedModelCall> =>
            connection.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm', reserve });
          let started = await start();
          // Asks again at once until the others have ended: the test never sleeps.
          while (started.kind === 'blocked') started = await start();
          if (started.kind !== 'started') return;
          const bound = started.maxOutputTokens ?? 0;
          held += bound;
          most = Math.max(most, held);
          const completionTokens = Math.min(bound, 1 + ((index * 5) % 12));
          const usage = { promptTokens: 1, completionTokens, totalTokens: 1 + completionTokens };
          // Counted before the store releases what was reserved.
          held -= bound - completionTokens;
          total += completionTokens;
          await connection.modelCalls.end({ ...ref, call: 1, ok: true, usage });
        }),
      );
      expect(most).toBeLessThanOrEqual(100);
      expect(total).toBeLessThanOrEqual(100);
      const line = (await store.budgets.read(root.id)).find(({ limit }) => limit === 'maxOutputTokens');
      expect(line).toMatchObject({ used: total, reserved: 0, estimated: 0 });
    });

    it('[PL-20] a blocked request waits for the running one, and settles an overdue one at its reservation', async () => {
      const { store } = given();
      const start = async (child: ThreadDriver, leaseMs: number) => {
        const ref = await child.beginCall([]);
        const reserve = () => ({ inputTokens: 1, leaseMs });
        return store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm', reserve });
      };
      for (const [leaseMs, kind] of [
        [60_000, 'blocked'],
        [-1000, 'exceeded'],
      ] as const) {
        const root = await openRoot(store, { maxOutputTokens: 50 }, 2);
        const [one, other] = [await openChild(root, 0), await openChild(root, 1)];
        expect(await start(one, leaseMs)).toMatchObject({ maxOutputTokens: 50 });
        expect(await start(other, 60_000)).toMatchObject({ kind });
        expect(await store.budgets.listWaiting(one.id)).toEqual(kind === 'blocked' ? [other.id] : []);
        expect(await store.budgets.listWaiting(other.id)).toEqual([]);
        const settled =
          kind === 'exceeded' ? { used: 50, reserved: 0, estimated: 50 } : { used: 0, reserved: 50 };
        expect(await store.budgets.read(root.id)).toMatchObject([{ max: 50, ...settled }]);
      }
    });
  });
}
