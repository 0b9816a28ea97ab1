/** Budgets and approvals: none is asked for a call that could never begin, or that the family can no longer pay for. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BudgetDefinition } from '../../../src/core/governance/budget.ts';
import type { OpenWait } from '../../../src/store/wait/wait-record.ts';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';
import { create } from './family-driver.ts';

const budgeted = (limits: Omit<BudgetDefinition, 'warnAt'>) => ({
  rules: () => ({ budget: { warnAt: 0, ...limits } }),
});
const denied = { kind: 'exceeded', error: { code: 'BudgetExceeded' } };
const judged = { idempotent: () => false, judges: () => true };

const approval = (thread: ThreadDriver, fields: Partial<OpenWait> = {}): OpenWait => ({
  id: randomUUID(),
  threadId: thread.id,
  key: `approval:${randomUUID()}`,
  kind: 'approval',
  name: 'pay',
  summary: 'Pays',
  data: {},
  blocks: true,
  executionId: thread.executionId,
  call: { step: 1, index: 0 },
  ...fields,
});

async function openWait(thread: ThreadDriver, fields: Partial<OpenWait> = {}): Promise<string> {
  const opened = await thread.store.waits.open(approval(thread, fields));
  if (opened.kind !== 'open') throw new Error(`The wait is not open: ${opened.kind}.`);
  return opened.wait.id;
}

/** A thread with a budget, in a step that has made `count` calls. */
async function calling(
  thread: ThreadDriver,
  limits: Omit<BudgetDefinition, 'warnAt'> | undefined,
  count = 1,
) {
  const toolCalls = Array.from({ length: count }, (_, index) => call(`c${index}`, 'pay'));
  const ref = await thread.beginCall(limits ? [message('a')] : [], limits && budgeted(limits));
  await thread.commit(ref, { toolCalls });
  thread.afterStep = 1;
  return thread;
}

async function openChild(root: ThreadDriver, index: number): Promise<ThreadDriver> {
  await root.beginTool(1, index, 'subagent');
  const made = await create(root, { call: { step: 1, index } });
  if (made.kind !== 'created') throw new Error(`No child: ${made.kind}.`);
  const child = new ThreadDriver(root.store, made.child.threadId, `run-of-child-${index}`);
  await child.open({ agent: 'researcher', parentId: root.id, rootId: root.id });
  return child;
}

export function registerBudgetApproval(given: () => Stores): void {
  describe('budgets and approvals', () => {
    it.each([
      ['a call', {}],
      ['code', { call: undefined, blocks: false, executionId: null }],
    ])('[PL-17] no approval is opened for a call that cannot start because of %s', async (_, fields) => {
      const { store } = given();
      const thread = await calling(await openThread(store), { maxToolCalls: 0 });
      expect(await store.waits.open(approval(thread, fields))).toMatchObject(denied);
      expect(await store.waits.open(approval(thread, fields))).toMatchObject(denied);
      expect(await store.waits.list({ threadId: thread.id })).toEqual([]);
      expect((await thread.events('budget.exceeded')).map(({ data }) => data)).toEqual([
        { executionId: 'execution-1', limit: 'maxToolCalls', max: 0, observed: 1 },
      ]);
      expect((await store.threads.get(thread.id))?.status).toBe('running');
      expect(await store.budgets.read(thread.id)).toMatchObject([{ limit: 'maxToolCalls', used: 0 }]);
      const begin = { ...thread.from, step: 1, index: 0, attempt: 'one', ...judged };
      expect(await store.toolCalls.begin(begin)).toMatchObject(denied);
    });

    it('[PL-17] no approval is opened once its time is used up', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const toolCalls = [call('c', 'pay')];
      await thread.commit(
        await thread.beginCall([message('a')], budgeted({ maxRuntimeSeconds: 0.000_001 })),
        {
          toolCalls,
        },
      );
      // The store's clock has milliseconds: within one of them no time has passed.
      const begun = Date.now();
      await eventually('time has passed', () => Date.now() > begun);
      expect(await store.waits.open(approval(thread))).toMatchObject(denied);
    });

    it('a call that started and was charged may still open an approval', async () => {
      const { store } = given();
      const thread = await calling(await openThread(store), { maxToolCalls: 1 });
      await thread.beginTool(1, 0);
      const attempt = { step: 1, index: 0, attempt: 'attempt-1' };
      const asked = await openWait(thread, { kind: 'question', call: attempt });
      await store.waits.answer({ id: asked, answer: { value: 1 } });
      expect(await store.waits.open(approval(thread))).toMatchObject({ kind: 'open' });
    });

    it('[PL-17] approvals of relatives are closed with their shared budget, and their calls do not start', async () => {
      const { store } = given();
      const root = await calling(await openThread(store), { maxSteps: 3 }, 2);
      const asking = await calling(await openChild(root, 0), undefined);
      const id = await openWait(asking);
      const spending = await calling(await openChild(root, 1), undefined);
      expect(await store.budgets.closeApprovals(spending.id)).toEqual([]);
      expect(await spending.begin([])).toMatchObject({ kind: 'failed', error: { code: 'BudgetExceeded' } });
      expect(await store.budgets.closeApprovals(spending.id)).toEqual([{ id, threadId: asking.id }]);
      expect(await store.budgets.closeApprovals(spending.id)).toEqual([]);
      expect(await store.waits.get(id)).toMatchObject({ state: 'closed', reason: 'BudgetExceeded' });
      expect((await asking.events('wait.closed')).map(({ data }) => data)).toMatchObject([
        { waitId: id, kind: 'approval', reason: 'BudgetExceeded' },
      ]);
      expect((await asking.events('budget.exceeded')).map(({ data }) => data)).toEqual([
        { executionId: 'execution-1', threadId: root.id, limit: 'maxSteps', max: 3, observed: 4 },
      ]);
      const begin = { ...asking.from, step: 1, index: 0, attempt: 'one', ...judged };
      expect(await store.toolCalls.begin(begin)).toMatchObject(denied);
      expect(await store.waits.answer({ id, answer: { approved: true } })).toMatchObject({
        outcome: 'closed',
      });
    });

    it('a relative’s exhausted own budget closes nothing of the others', async () => {
      const { store } = given();
      const root = await calling(await openThread(store), { maxSteps: 9 }, 2);
      const asking = await calling(await openChild(root, 0), undefined);
      const id = await openWait(asking);
      const spending = await openChild(root, 1);
      expect(await spending.begin([], budgeted({ maxSteps: 0 }))).toMatchObject({ kind: 'failed' });
      expect(await store.budgets.closeApprovals(spending.id)).toEqual([]);
      expect(await store.waits.get(id)).toMatchObject({ state: 'open' });
    });

    it('the budget of an execution started by a report is that of its cause, at rest too', async () => {
      const { store } = given();
      const root = await calling(await openThread(store), { maxSteps: 9 });
      const child = await openChild(root, 0);
      await child.answer([], {});
      child.afterStep = 1;
      await root.commitTool(1, 0, { attempt: 'subagent' });
      await root.rest();
      const lines = async (thread: ThreadDriver) =>
        (await store.budgets.read(thread.id)).map(({ threadId, executionId, used }) => [
          threadId,
          executionId,
          used,
        ]);
      await child.rest('idle', { report: { kind: 'result', content: 'found', attachments: [] } });
      expect(await lines(child)).toEqual([[root.id, 'execution-1', 2]]);
      await store.reports.deliver(child.id, 'execution-1');
      root.executionId = 'execution-2';
      await root.commit(await root.beginCall([], budgeted({ maxSteps: 9 })));
      root.afterStep = 2;
      await root.rest();
      expect(await lines(root)).toEqual([[root.id, 'execution-1', 3]]);
    });
  });
}
