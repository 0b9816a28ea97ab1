/** Families: children are made, within their limits (runtime §7, definitions §13). */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../../src/core/value/limit.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, ThreadDriver } from '../thread-driver.ts';
import { askCalls, create, createOpened, newChild, openParent } from './family-driver.ts';

export function registerFamily(given: () => Stores): void {
  describe('a child', () => {
    it('[definitions 13.4] is created with its messages, its registry entry, and an event in both logs', async () => {
      const { store } = given();
      const parent = new ThreadDriver(store);
      await parent.open({ userId: 'ann' });
      await askCalls(parent);
      const child = newChild({
        name: 'Anna',
        title: 'Researcher',
        arguments: { topic: 'tea' },
        maxInstances: 2,
        messages: [message('m-1', 'about tea', { silent: true }), message('m-2', 'find it')],
      });
      const made = await create(parent, { child });
      const start = {
        threadId: child.threadId,
        agent: 'researcher',
        userId: 'ann',
        rootId: parent.id,
      };
      expect(made).toEqual({
        kind: 'created',
        start,
        child: {
          parentId: parent.id,
          threadId: child.threadId,
          agent: 'researcher',
          name: 'Anna',
          title: 'Researcher',
          description: 'looks things up',
          resumable: true,
          blocking: true,
          explicit: false,
          hears: 'a',
          status: 'running',
          madeStep: 1,
          createdAt: expect.any(Number),
          terminatedAt: null,
        },
      });
      const thread = new ThreadDriver(store, child.threadId);
      expect(await store.threads.get(child.threadId)).toMatchObject({
        agent: 'researcher',
        name: 'Anna',
        userId: 'ann',
        arguments: { topic: 'tea' },
        status: 'idle',
        parentId: parent.id,
        rootId: parent.id,
        childCount: 0,
      });
      expect(await thread.transcript()).toEqual(['[user: about tea]', '[user: find it]']);
      expect((await thread.events()).map(({ type, data }) => [type, data])).toEqual([
        ['thread.created', { agent: 'researcher', parentId: parent.id, name: 'Anna' }],
        ['item.queued', { id: 'm-1', kind: 'message' }],
        ['item.queued', { id: 'm-2', kind: 'message' }],
      ]);
      expect(await parent.events('subagent.created')).toMatchObject([
        { step: 1, data: { childId: child.threadId, agent: 'researcher', name: 'Anna', callId: 'c0' } },
      ]);
      expect(await store.threads.get(parent.id)).toMatchObject({ childCount: 1 });
      expect(await store.children.get(child.threadId)).toEqual(made.kind === 'created' && made.child);
      expect(await store.children.get(parent.id)).toBeNull();
    });

    it('is created once for its call, however often and by whomever it is repeated', async () => {
      const { store, second } = given();
      const parent = await openParent(store);
      const child = newChild({ maxInstances: 1 });
      const twice = await Promise.all([
        create(parent, { child }),
        create(parent.as('run-1', second), { child }),
      ]);
      expect(twice[0]).toEqual(twice[1]);
      const before = await parent.everything();
      // The child is found by its call, whatever else the command says.
      expect(await create(parent, { child: { ...child, threadId: 'another' } })).toEqual(twice[0]);
      expect(await parent.everything()).toEqual(before);
      expect(await store.children.list(parent.id)).toHaveLength(1);
      const thread = new ThreadDriver(store, child.threadId);
      expect(await thread.transcript()).toEqual(['[user: find it]']);
    });

    it('is opened by its first run with its queued messages, and counts as started from then on', async () => {
      const { store } = given();
      const parent = await openParent(store, 2);
      const first = newChild();
      await create(parent, { child: first });
      const other = newChild();
      await create(parent, { child: other, call: { step: 1, index: 1 } });
      const unstarted = async () =>
        (await store.children.listUnstarted(parent.id, 10)).map(({ threadId }) => threadId);
      expect(await unstarted()).toEqual(
        [first.threadId, other.threadId].toSorted(byAge(await store.children.list(parent.id))),
      );
      expect(await store.children.listUnstarted(parent.id, 1)).toHaveLength(1);
      expect(await parent.open()).toMatchObject({ isChild: false, reportDue: false, unstarted: true });
      const child = new ThreadDriver(store, first.threadId, 'its first run');
      expect(await child.open({ parentId: parent.id, rootId: parent.id })).toMatchObject({
        kind: 'open',
        waiting: 1,
        isChild: true,
        reportDue: false,
        unstarted: false,
      });
      expect(await unstarted()).toEqual([other.threadId]);
      await store.threads.terminate(other.threadId);
      expect(await unstarted()).toEqual([]);
      expect(await parent.open()).toMatchObject({ unstarted: false });
    });

    it('without a first message is idle and owes no report', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const child = await createOpened(parent, { child: { messages: [] } });
      expect(await store.children.get(child.id)).toMatchObject({ status: 'idle' });
      await store.threads.terminate(child.id);
      expect(await store.reports.listDue(child.id)).toEqual([]);
    });

    it('is not created by a terminated thread', async () => {
      const parent = await openParent(given().store);
      await parent.rest('terminated');
      const before = await parent.everything();
      expect(await create(parent)).toEqual({ kind: 'terminated' });
      expect(await parent.everything()).toEqual(before);
    });

    it('is not created for a call ended by a stop; one that exists is found again', async () => {
      const { store } = given();
      const parent = await openParent(store, 2);
      const made = await create(parent);
      await parent.rest('stopped');
      expect(await create(parent)).toMatchObject({
        kind: 'created',
        child: made.kind === 'created' ? made.child : null,
      });
      expect(await create(parent, { call: { step: 1, index: 1 } })).toMatchObject({ kind: 'refused' });
      expect(await store.children.list(parent.id)).toHaveLength(1);
    });

    it('of its own child, as a start input that was written by hand may claim, is read once', async () => {
      const { store } = given();
      const [first, second] = [new ThreadDriver(store), new ThreadDriver(store)];
      await first.open({ parentId: second.id });
      await second.open({ parentId: first.id, rootId: first.id });
      const family = await store.family.read(first.id);
      expect(family.map(({ thread, depth }) => [thread.id, depth])).toEqual([
        [first.id, 0],
        [second.id, 1],
      ]);
      expect(await store.family.listDescendants(second.id)).toMatchObject([{ threadId: first.id }]);
    });
  });

  describe('limits on children', () => {
    it('[runtime 7.2] of one agent count the living ones, and name them', async () => {
      const { store } = given();
      const parent = await openParent(store, 4);
      const call = (index: number) => ({ step: 1, index });
      const first = await createOpened(parent, { child: { maxInstances: 1 } });
      const before = await parent.everything();
      expect(await create(parent, { child: { maxInstances: 1 }, call: call(1) })).toEqual({
        kind: 'full',
        limit: 1,
        living: [await store.children.get(first.id)],
      });
      expect(await parent.everything()).toEqual(before);
      // Children of another agent are counted separately.
      const other = { agent: 'writer', maxInstances: 1 };
      expect(await create(parent, { child: other, call: call(2) })).toMatchObject({ kind: 'created' });
      await first.rest('terminated');
      expect(await create(parent, { child: { maxInstances: 1 }, call: call(3) })).toMatchObject({
        kind: 'created',
      });
    });

    it('apply across concurrent calls', async () => {
      const { store, second } = given();
      const parent = await openParent(store, 6);
      const made = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          create(parent.as('run-1', index % 2 ? store : second), {
            child: { maxInstances: 2 },
            call: { step: 1, index },
          }),
        ),
      );
      expect(made.filter(({ kind }) => kind === 'created')).toHaveLength(2);
      expect(await store.children.list(parent.id)).toHaveLength(2);
      expect(await store.threads.get(parent.id)).toMatchObject({ childCount: 2 });
    });

    it('apply to the depth of nested threads', async () => {
      const { store } = given();
      let parent = await openThread(store);
      const rootId = parent.id;
      for (let depth = 1; depth <= LIMITS.threadDepth; depth++) {
        const made = await create(parent, { call: null });
        if (made.kind !== 'created') throw new Error(`At depth ${depth}: ${JSON.stringify(made)}`);
        parent = new ThreadDriver(store, made.child.threadId);
      }
      expect(await create(parent, { call: null })).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining(`${LIMITS.threadDepth} threads below its root`),
      });
      expect((await store.family.read(rootId)).at(-1)).toMatchObject({ depth: LIMITS.threadDepth });
    });
  });
}

/** Compares thread ids by their order in these records: children of one moment are ordered by id. */
export function byAge(records: readonly { readonly threadId: string }[]) {
  const ids = records.map(({ threadId }) => threadId);
  return (a: string, b: string) => ids.indexOf(a) - ids.indexOf(b);
}
