/** Reports that cross a message to the child, a child's end, and what it sends unasked (runtime §8.2, §8.3, §10). */
import { describe, expect, it } from '@jest/globals';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { Stores } from '../store-contract.ts';
import { isGapFree, message, type ThreadDriver } from '../thread-driver.ts';
import {
  type Asked,
  askCalls,
  create,
  createOpened,
  newChild,
  openParent,
  report,
  work,
} from './family-driver.ts';

const CALL = { step: 1, index: 0 };

export function registerFamilyEnd(given: () => Stores): void {
  const family = async (fields: Asked = {}) => {
    const parent = await openParent(given().store);
    const child = await createOpened(parent, fields);
    return { store: given().store, second: given().second, parent, child };
  };

  describe('a report made before the child read a message', () => {
    const tell = async (parent: ThreadDriver, child: ThreadDriver, id: string) => {
      const [call] = await askCalls(parent);
      if (!call) throw new Error('no call');
      await parent.store.children.send({
        parentId: parent.id,
        childId: child.id,
        message: message(id),
        call,
        waits: true,
      });
      return call;
    };

    it('and due by then is a message; the next report is the result', async () => {
      const { store, parent, child } = await family();
      const early = await work(child, { content: 'early' });
      const call = await tell(parent, child, 'm');
      expect(await store.reports.deliver(child.id, early)).toMatchObject({ by: 'message' });
      expect(await store.children.readCall(parent.id, call)).toMatchObject({ waits: true, report: null });
      expect(await store.reports.deliver(child.id, await work(child))).toMatchObject({ by: 'call' });
      expect(await store.children.readCall(parent.id, call)).toMatchObject({
        report: { content: 'it is 42' },
      });
    });

    it('made while the message is queued is a message, and the child is still running', async () => {
      const { store, parent, child } = await family();
      child.executionId = 'e-1';
      await child.answer([]);
      const call = await tell(parent, child, 'm');
      expect(await child.rest('idle', { report: report({ content: 'early' }) })).toEqual({
        kind: 'pending',
        waiting: 1,
        step: 1,
        reportDue: true,
      });
      expect(await store.children.get(child.id)).toMatchObject({ status: 'running' });
      expect(await store.reports.deliver(child.id, 'e-1')).toMatchObject({ by: 'message' });
      expect(await store.reports.deliver(child.id, await work(child))).toMatchObject({ by: 'call' });
      expect(await store.children.readCall(parent.id, call)).toMatchObject({
        report: { content: 'it is 42' },
      });
    });

    it('is the last of a child that cannot be resumed, whatever is queued for it', async () => {
      const { store, child } = await family({ child: { resumable: false }, waits: true });
      child.executionId = 'e-1';
      await child.answer([]);
      await child.stash(message('from elsewhere'));
      expect(await child.rest('idle', { report: report() })).toMatchObject({ kind: 'pending' });
      expect(await store.children.get(child.id)).toMatchObject({ status: 'idle' });
      expect(await store.reports.deliver(child.id, 'e-1')).toMatchObject({ by: 'call' });
    });

    it('answers the call if the child became idle before the message', async () => {
      const { store, parent, child } = await family();
      child.executionId = 'e-1';
      await child.answer([]);
      await tell(parent, child, 'm');
      await child.rest('stopped', { report: report({ kind: 'stopped', content: '' }) });
      expect(await store.reports.deliver(child.id, 'e-1')).toMatchObject({ by: 'call' });
    });
  });

  describe("a child's end", () => {
    const ways: readonly [string, (store: ThreadStore, child: ThreadDriver) => Promise<unknown>][] = [
      ['its workflow', (_, child) => child.rest('terminated', { reason: 'enough' })],
      ['code', (store, child) => store.threads.terminate(child.id, 'enough')],
    ];

    it.each(ways)(
      '[runtime 10] by %s is recorded in the registry, and reported to the parent if a report is due',
      async (_, end) => {
        const { store, parent, child } = await family();
        await end(store, child);
        await end(store, child);
        expect(await store.children.get(child.id)).toMatchObject({
          status: 'terminated',
          terminatedAt: expect.any(Number),
        });
        expect(await store.reports.listDue(child.id)).toMatchObject([{ id: 'end', kind: 'terminated' }]);
        expect(await child.rest('idle')).toEqual({ kind: 'terminated', reportDue: true });
        expect(await store.reports.deliver(child.id, 'end')).toEqual({ by: 'message', parentEnded: false });
        expect(await child.rest('idle')).toEqual({ kind: 'terminated' });
        const told = (await parent.messages()).find(({ status }) => status === 'pending');
        expect(told?.content).toBe(
          `Subagent (reference: ${child.id}) researcher was terminated before it finished:\n\nenough`,
        );
      },
    );

    it('is the result of the call that waits for the child', async () => {
      const { store, parent, child } = await family({ waits: true, child: { explicit: true } });
      await child.answer([]);
      expect(await child.rest('terminated')).toMatchObject({ kind: 'rest', reportDue: true });
      expect(await store.reports.deliver(child.id, 'end')).toMatchObject({ by: 'call' });
      expect(await store.children.readCall(parent.id, CALL)).toMatchObject({
        report: { kind: 'terminated' },
      });
    });

    it('is not reported after its result, even one delivered at the end', async () => {
      const { store, parent, child } = await family();
      await store.reports.deliver(child.id, await work(child));
      expect(await child.rest('terminated')).toEqual({ kind: 'rest', waiting: 0, step: 1 });
      expect(await store.reports.listDue(child.id)).toEqual([]);
      const [call] = await askCalls(parent);
      const made = await createOpened(parent, { call });
      const id = await work(made);
      await made.rest('terminated');
      const due = await store.reports.listDue(made.id);
      expect(due.map((each) => each.id)).toEqual([id, 'end']);
      const delivered = [];
      for (const each of due) delivered.push((await store.reports.deliver(made.id, each.id)).by);
      expect(delivered).toEqual(['message', 'dropped']);
    });

    it('after a stop is reported, since the request has no result', async () => {
      const { store, child } = await family();
      const stopped = await work(child, { kind: 'stopped', content: '' }, 'stopped');
      await store.reports.deliver(child.id, stopped);
      await child.rest('terminated');
      expect(await store.reports.deliver(child.id, 'end')).toMatchObject({ by: 'message' });
    });
  });

  describe('an unsolicited message of a child', () => {
    it('[runtime 8.2] is queued to its parent once, under the child’s name', async () => {
      const { store, second, parent, child } = await family({ child: { explicit: true } });
      const said = message('n-1', 'look here', { silent: true, metadata: { subagent_id: 'another', n: 1 } });
      expect(
        await Promise.all([
          store.children.sendToParent(child.id, said),
          second.children.sendToParent(child.id, said),
        ]),
      ).toEqual([true, true]);
      const queued = (await parent.messages()).filter(({ status }) => status === 'pending');
      expect(queued).toMatchObject([
        { id: 'n-1', content: 'look here', silent: true, metadata: { subagent_id: child.id, n: 1 } },
      ]);
      const [entry] = await store.children.list(parent.id);
      expect(queued).toMatchObject([
        { subagent_id: child.id, subagent_name: entry?.agent, subagent_status: entry?.status },
      ]);
      expect(await parent.events('subagent.notified')).toHaveLength(1);
      await parent.rest('terminated');
      expect(await store.children.sendToParent(child.id, message('n-2'))).toBe(false);
    });

    it('[runtime 8.3] is the child’s status in the registry until its end', async () => {
      const { store, parent, child } = await family();
      expect(await store.children.setStatus(child.id, 'reading')).toBe(true);
      expect(await store.children.setStatus(child.id, 'reading')).toBe(true);
      expect(await store.children.get(child.id)).toMatchObject({ status: 'reading' });
      expect(await parent.events('subagent.status')).toMatchObject([
        { data: { childId: child.id, status: 'reading' } },
      ]);
      await child.rest('terminated');
      expect(await store.children.setStatus(child.id, 'reading')).toBe(true);
      expect(await store.children.get(child.id)).toMatchObject({ status: 'terminated' });
    });
  });

  it('may cross another between two threads of a family; both are delivered', async () => {
    const { store, second, parent, child } = await family();
    const rounds = Array.from({ length: 12 }, (_, n) => n);
    await Promise.all(
      rounds.flatMap((n) => [
        (n % 2 ? store : second).children.send({
          parentId: parent.id,
          childId: child.id,
          message: message(`down-${n}`),
          call: CALL,
          waits: n % 3 === 0,
        }),
        (n % 2 ? second : store).children.sendToParent(child.id, message(`up-${n}`)),
        child.stash(message(`aside-${n}`)),
        second.children.setStatus(child.id, `round ${n}`),
        child.rest('idle', { report: report() }),
      ]),
    );
    expect((await child.open()) as object).toMatchObject({ waiting: 25 });
    expect((await parent.open()) as object).toMatchObject({ waiting: 12 });
    for (const each of [parent, child]) expect(isGapFree(await each.events())).toBe(true);
    const again = newChild();
    expect(await create(parent, { child: again })).toMatchObject({ child: { threadId: child.id } });
  });
}
