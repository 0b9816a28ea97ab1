/** What children report to their parents, and who receives it (runtime §8, definitions §13.6). */
import { describe, expect, it } from '@jest/globals';
import type { DeliveredReport } from '../../../src/store/family/family-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, isGapFree, message, openThread } from '../thread-driver.ts';
import { type Asked, createOpened, openParent, report, work } from './family-driver.ts';

const CALL = { step: 1, index: 0 };

/** Expects one caller to deliver the report; the others find it delivered, and notify the ancestors once more. */
function expectDelivered(answers: readonly DeliveredReport[], by: DeliveredReport['by']): void {
  const again = ({ updatesAncestors }: DeliveredReport) => Number(updatesAncestors === true);
  const expected = answers.map((_, index) => ({
    by,
    parentEnded: false,
    ...(index > 0 && { updatesAncestors: true }),
  }));
  expect(answers.toSorted((one, other) => again(one) - again(other))).toEqual(expected);
}

export function registerFamilyReport(given: () => Stores): void {
  const family = async (fields: Asked = {}) => {
    const parent = await openParent(given().store);
    const child = await createOpened(parent, fields);
    return { store: given().store, second: given().second, parent, child };
  };

  describe("a child's report", () => {
    it('[runtime 8.2] is stored once with the end of its execution, until it is delivered', async () => {
      const { store, child, parent } = await family();
      child.executionId = 'e-1';
      await child.answer([]);
      const rest = { report: report() };
      expect(await child.rest('idle', rest)).toEqual({ kind: 'rest', waiting: 0, step: 1, reportDue: true });
      // The answer was lost, so the command is given again.
      expect(await child.rest('idle', rest)).toEqual({ kind: 'rest', waiting: 0, step: 1, reportDue: true });
      expect(await child.open()).toMatchObject({ isChild: true, reportDue: true });
      const record = await store.children.get(child.id);
      expect(record).toMatchObject({ status: 'idle' });
      expect(await store.reports.listDue(child.id)).toEqual([{ id: 'e-1', kind: 'result', child: record }]);
      await store.reports.deliver(child.id, 'e-1');
      expect(await store.reports.listDue(child.id)).toEqual([]);
      expect(await child.rest('idle', rest)).toEqual({ kind: 'rest', waiting: 0, step: 1 });
      expect(await child.open()).toMatchObject({ reportDue: false });
      expect(isGapFree(await parent.events())).toBe(true);
    });

    it('[runtime 8.2] of a session comes from the last step with an answer: its side and the results of its calls', async () => {
      const { store, child } = await family();
      expect(await store.reports.readLastStep(child.id)).toBeNull();
      const first = await child.answer([], { toolCalls: [call('c0', 'finish')] });
      await child.runTool(first.step, 0);
      child.afterStep = first.step;
      const { step } = await child.answer([], {
        toolCalls: [call('c1', 'look'), call('c2', 'finish')],
      });
      for (const index of [0, 1]) await child.runTool(step, index);
      child.afterStep = step;
      await child.beginCall([message('more')]);
      const last = await store.reports.readLastStep(child.id);
      expect(last?.side).toBe('a');
      expect(last?.results.map(({ tool_call_id: id, name }) => [id, name])).toEqual([
        ['c1', 'look'],
        ['c2', 'finish'],
      ]);
    });

    it('is not made by a thread without a parent, nor for a parent whose registry does not know it', async () => {
      const { store } = given();
      const root = await openThread(store);
      await root.answer([message('a')]);
      expect(await root.rest('idle', { report: report() })).toEqual({ kind: 'rest', waiting: 0, step: 1 });
      expect(await store.reports.listDue(root.id)).toEqual([]);
      await expect(store.reports.deliver(root.id, 'execution-1')).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
      expect(await store.children.sendToParent(root.id, message('m'))).toBe(false);
      expect(await store.children.setStatus(root.id, 'busy')).toBe(false);
    });

    it('[definitions 13.6] is queued to the parent as a silent message, once, however often it is delivered', async () => {
      const { store, second, parent, child } = await family({ child: { name: 'Anna' } });
      const id = await work(child);
      const answers = await Promise.all([
        store.reports.deliver(child.id, id),
        second.reports.deliver(child.id, id),
        store.reports.deliver(child.id, id),
      ]);
      expectDelivered(answers, 'message');
      expect((await parent.messages()).filter(({ status }) => status === 'pending')).toMatchObject([
        {
          role: 'user',
          silent: true,
          content: `Subagent (reference: ${child.id}) researcher "Anna" has finished:\n\nit is 42`,
          metadata: { subagent_id: child.id, queued: true },
        },
      ]);
      expect(await parent.events('subagent.returned', 'subagent.failed')).toMatchObject([
        {
          type: 'subagent.returned',
          data: { childId: child.id, agent: 'researcher', kind: 'result', by: 'message' },
        },
      ]);
      await parent.commitTool(1, 0, { attempt: 'subagent' });
      expect(await parent.rest('idle')).toMatchObject({ kind: 'pending', waiting: 1 });
    });

    it('[definitions 13.6] is the result of a waiting call, and no message', async () => {
      const { store, second, parent, child } = await family({ waits: true });
      const id = await work(child);
      const answers = [store, second].map((each) => each.reports.deliver(child.id, id));
      expectDelivered(await Promise.all(answers), 'call');
      expect(await store.children.readCall(parent.id, CALL)).toMatchObject({
        waits: false,
        report: { kind: 'result', content: 'it is 42', attachments: [] },
      });
      expect(await parent.open()).toMatchObject({ waiting: 0 });
      expect(await parent.events('subagent.returned')).toMatchObject([{ step: 1, data: { by: 'call' } }]);
      // No call waits for the next report.
      await child.stash(message('from elsewhere'));
      expect(await store.reports.deliver(child.id, await work(child))).toMatchObject({ by: 'message' });
    });

    it.each(['stopped', 'terminated'] as const)(
      'is a message if the waiting call was %s, if its parent can receive it',
      async (how) => {
        const { store, parent, child } = await family({ waits: true });
        await parent.rest(how);
        expect(await store.children.readCall(parent.id, CALL)).toMatchObject({ waits: false });
        const id = await work(child);
        const before = await parent.everything();
        const by = how === 'stopped' ? 'message' : 'dropped';
        expect(await store.reports.deliver(child.id, id)).toEqual({ by, parentEnded: how === 'terminated' });
        if (how === 'terminated') expect(await parent.everything()).toEqual(before);
      },
    );

    it('is a message if the call was released or already has its result', async () => {
      const { store, parent, child } = await family({ waits: true });
      await store.children.releaseCall(parent.id, { step: 1, index: 7 });
      expect(await store.children.readCall(parent.id, CALL)).toMatchObject({ waits: true });
      await store.children.releaseCall(parent.id, CALL);
      await store.children.releaseCall(parent.id, CALL);
      expect(await store.children.readCall(parent.id, CALL)).toMatchObject({ waits: false });
      expect(await store.reports.deliver(child.id, await work(child))).toMatchObject({ by: 'message' });
      const other = await family({ waits: true });
      await other.parent.commitTool(1, 0, { attempt: 'subagent' });
      expect(await store.reports.deliver(other.child.id, await work(other.child))).toMatchObject({
        by: 'message',
      });
    });

    it.each([
      ['failure', 'failed', 'failed', 'message', 'has failed'],
      ['stopped', 'stopped', 'stopped', 'dropped', ''],
    ] as const)('of a %s appears in the registry and in the log', async (kind, rest, status, by, clause) => {
      const { store, parent, child } = await family();
      const id = await work(child, { kind, content: 'no more tea' }, rest);
      expect(await store.children.get(child.id)).toMatchObject({ status });
      expect(await store.reports.deliver(child.id, id)).toEqual({ by, parentEnded: false });
      expect(await parent.events('subagent.failed')).toMatchObject([
        { data: { childId: child.id, kind, by } },
      ]);
      const queued = (await parent.messages()).filter((each) => each.status === 'pending');
      expect(queued.map(({ content }) => content?.includes(clause))).toEqual(by === 'message' ? [true] : []);
    });

    it('of a stop is the result of a waiting call', async () => {
      const { store, parent, child } = await family({ waits: true });
      const id = await work(child, { kind: 'stopped', content: '' }, 'stopped');
      expect(await store.reports.deliver(child.id, id)).toMatchObject({ by: 'call' });
      expect(await store.children.readCall(parent.id, CALL)).toMatchObject({ report: { kind: 'stopped' } });
    });

    it('[runtime 7.2] of a child with explicit communication is delivered only to a waiting call', async () => {
      const explicit = { child: { explicit: true } };
      const silent = await family(explicit);
      const id = await work(silent.child);
      expect(await silent.store.reports.deliver(silent.child.id, id)).toEqual({
        by: 'dropped',
        parentEnded: false,
      });
      expect(await silent.store.reports.deliver(silent.child.id, id)).toMatchObject({ by: 'dropped' });
      expect(await silent.parent.open()).toMatchObject({ waiting: 0 });
      expect(await silent.store.children.get(silent.child.id)).toMatchObject({ status: 'idle' });
      expect(await silent.parent.events('subagent.returned')).toMatchObject([{ data: { by: 'dropped' } }]);
      const failing = await family(explicit);
      const failed = await work(failing.child, { kind: 'failure' }, 'failed');
      expect(await failing.store.reports.deliver(failing.child.id, failed)).toMatchObject({ by: 'dropped' });
      expect(await failing.parent.open()).toMatchObject({ waiting: 0 });
      const awaited = await family({ ...explicit, waits: true });
      expect(await awaited.store.reports.deliver(awaited.child.id, await work(awaited.child))).toMatchObject({
        by: 'call',
      });
    });
  });
}
