/** Messages of parents to their children, and views of a whole family (runtime §7.1, §8.1). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message } from '../thread-driver.ts';
import { byAge } from './family.ts';
import { askCalls, create, createOpened, newChild, openAgain, openParent, work } from './family-driver.ts';

export function registerFamilyMessage(given: () => Stores): void {
  describe('a message to a child', () => {
    it('[runtime 8.1] is queued once, and the child is running again', async () => {
      const { store, second } = given();
      const parent = await openParent(store);
      const child = await createOpened(parent);
      await store.reports.deliver(child.id, await work(child));
      expect(await store.children.get(child.id)).toMatchObject({ status: 'idle' });
      const [call] = await askCalls(parent);
      if (!call) throw new Error('no call');
      const told = {
        parentId: parent.id,
        childId: child.id,
        message: message('m', 'and?'),
        call,
        waits: false,
      };
      const answers = await Promise.all([store.children.send(told), second.children.send(told)]);
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]).toMatchObject({
        kind: 'told',
        child: { threadId: child.id, status: 'running' },
        start: { threadId: child.id, agent: 'researcher', rootId: parent.id },
      });
      expect((await child.transcript()).at(-1)).toBe('[user: and?]');
      expect(await parent.events('subagent.messaged')).toMatchObject([
        { step: call.step, data: { childId: child.id, agent: 'researcher', messageId: 'm' } },
      ]);
      expect(await child.open()).toMatchObject({ waiting: 1 });
      // A message that has been read is not queued again.
      await work(child);
      expect(await store.children.send(told)).toMatchObject({ kind: 'told', child: { status: 'idle' } });
      expect(await child.open()).toMatchObject({ waiting: 0 });
    });

    it('left in its queue while it is idle is found by its relatives, unless it was stopped or not started', async () => {
      const { store } = given();
      const parent = await openParent(store, 3);
      const [told, stopped, silent] = await Promise.all(
        [0, 1, 2].map((index) => createOpened(parent, { call: { step: 1, index } })),
      );
      if (!told || !stopped || !silent) throw new Error('no child');
      const unstarted = await create(parent, { call: null });
      for (const child of [told, stopped, silent]) {
        await store.reports.deliver(child.id, await work(child, {}, child === stopped ? 'stopped' : 'idle'));
        if (child !== silent) await store.queue.add(child.id, message(randomUUID(), 'and?'));
      }
      expect(unstarted).toMatchObject({ kind: 'created' });
      expect(await store.family.listForgotten(parent.id)).toEqual([told.id]);
      expect(await store.family.listForgotten(stopped.id)).toEqual([told.id]);
      expect(await store.family.listForgotten(told.id)).toEqual([]);
    });

    it('[definitions 13.3] from a thread that is not its parent, or after its end, is not delivered', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const child = await createOpened(parent);
      const stranger = await openParent(store);
      const tell = (parentId: string, childId: string) =>
        store.children.send({
          parentId,
          childId,
          message: message(randomUUID()),
          call: { step: 1, index: 0 },
          waits: true,
        });
      expect(await tell(stranger.id, child.id)).toEqual({ kind: 'unknown' });
      expect(await tell(parent.id, 'nobody')).toEqual({ kind: 'unknown' });
      expect(await tell(parent.id, stranger.id)).toEqual({ kind: 'unknown' });
      await child.rest('terminated');
      expect(await tell(parent.id, child.id)).toEqual({ kind: 'unknown' });
      expect(await child.transcript()).toEqual(['[user: find it]']);
      await parent.rest('terminated');
      expect(await tell(parent.id, child.id)).toEqual({ kind: 'terminated' });
    });

    it('is found by its call, as the child is by the call that created it', async () => {
      const { store } = given();
      const parent = await openParent(store, 2);
      expect(await store.children.readCall(parent.id, { step: 1, index: 0 })).toBeNull();
      const made = newChild();
      await create(parent, { child: made, waits: true });
      expect(await store.children.readCall(parent.id, { step: 1, index: 0 })).toMatchObject({
        child: { threadId: made.threadId },
        start: { threadId: made.threadId },
        started: false,
        waits: true,
        report: null,
      });
      const child = await openAgain(parent, made.threadId);
      const call = { step: 1, index: 1 };
      await store.children.send({
        parentId: parent.id,
        childId: child.id,
        message: message('told'),
        call,
        waits: false,
      });
      expect(await store.children.readCall(parent.id, call)).toMatchObject({
        child: { threadId: child.id },
        started: true,
        waits: false,
        report: null,
      });
      expect(await store.children.readCall(parent.id, { step: 2, index: 0 })).toBeNull();
    });
  });

  describe('the tree of a family', () => {
    it('lists each thread after its parent, and living threads with children first', async () => {
      const { store } = given();
      const root = await openParent(store, 2);
      const first = await createOpened(root);
      const grandchild = await createOpened(first, { call: null });
      const other = await createOpened(root, { call: { step: 1, index: 1 } });
      const records = await store.children.list(root.id);
      const depths = (await store.family.read(root.id)).map(({ thread, depth }) => [thread.id, depth]);
      const branches = [
        [
          [first.id, 1],
          [grandchild.id, 2],
        ],
        [[other.id, 1]],
      ];
      const inOrder = branches.toSorted(([a], [b]) => byAge(records)(a?.[0] as string, b?.[0] as string));
      expect(depths).toEqual([[root.id, 0], ...inOrder.flat()]);
      const family = await store.family.read(first.id);
      expect(family.map(({ thread }) => thread.id)).toEqual([first.id, grandchild.id]);
      expect(family[1]?.child).toMatchObject({ parentId: first.id, threadId: grandchild.id });
      expect(await store.family.read('nobody')).toEqual([]);
      const living = async () =>
        (await store.family.listDescendants(root.id)).map(({ threadId }) => threadId);
      expect((await living()).toSorted()).toEqual([first.id, grandchild.id, other.id].toSorted());
      const order = await living();
      expect(order.indexOf(first.id)).toBeLessThan(order.indexOf(grandchild.id));
      await first.rest('terminated');
      expect((await living()).toSorted()).toEqual([grandchild.id, other.id].toSorted());
      expect(await store.family.listDescendants('nobody')).toEqual([]);
    });
  });
}
