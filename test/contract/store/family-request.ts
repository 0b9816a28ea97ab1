/** The variables that a child starts with, and requests for missing ones (runtime §7.5, definitions §13.7). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { SaveRequest } from '../../../src/store/family/family-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { Stores } from '../store-contract.ts';
import { message, ThreadDriver } from '../thread-driver.ts';
import { create, createOpened, newChild, openParent } from './family-driver.ts';

const SECRET = 'swordfish-4711';

const values = async (store: ThreadStore, threadId: string) =>
  (await store.env.read(threadId, null))
    .filter(({ scope }) => scope === 'thread')
    .map(({ name, type, value }) => `${type} ${name} ${value}`);

export function registerFamilyRequest(given: () => Stores): void {
  describe('variables of a new child', () => {
    it('[runtime 7.5] are its parent’s except scoped ones, plus those given to it', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const owner = { thread: parent.id };
      await store.env.set({ owner, name: 'SHARED', value: 'shared', type: 'text' });
      await store.env.set({ owner, name: 'SCOPED', value: SECRET });
      await store.env.set({ owner, name: 'HANDED', value: 'old', type: 'text' });
      const child = newChild();
      await create(parent, {
        child,
        inherits: (name) => name !== 'SCOPED',
        given: [
          { name: 'HANDED', value: SECRET },
          { name: 'NEW', value: 'new' },
          { name: 'TEXT', value: 'text', type: 'text' },
        ],
      });
      expect(await values(store, child.threadId)).toEqual([
        `text HANDED ${SECRET}`,
        'secret NEW new',
        'text SHARED shared',
        'text TEXT text',
      ]);
      expect(JSON.stringify(await parent.everything())).not.toContain(SECRET);
      expect(JSON.stringify(await new ThreadDriver(store, child.threadId).everything())).not.toContain(
        SECRET,
      );
    });

    it('stored before the child exists override inherited ones', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const child = newChild();
      for (const name of ['A', 'B']) {
        await store.env.set({ owner: { thread: parent.id }, name, value: 'of the parent' });
        await store.env.set({ owner: { thread: child.threadId }, name, value: 'its own' });
      }
      await create(parent, { child, given: [{ name: 'B', value: 'given' }] });
      expect(await values(store, child.threadId)).toEqual(['secret A its own', 'secret B given']);
    });

    it('that are invalid are refused, and no child is created', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const before = await parent.everything();
      const made = create(parent, { given: [{ name: 'A B', value: SECRET }] });
      const error = await made.catch((thrown) => thrown as Error);
      expect(error).toMatchObject({ code: 'InvalidVariable' });
      expect(String(error)).not.toContain(SECRET);
      expect(await store.children.list(parent.id)).toEqual([]);
      expect(await parent.everything()).toEqual(before);
    });

    it('reach living children if they are set later', async () => {
      const { store } = given();
      const parent = await openParent(store, 2);
      const child = await createOpened(parent);
      const scoping = await createOpened(parent, {
        child: { agent: 'scoping' },
        call: { step: 1, index: 1 },
      });
      const inherits = (agent: string) => agent !== 'scoping';
      await store.env.set({ owner: { thread: parent.id }, name: 'LATER', value: 'later', inherits });
      expect(await values(store, child.id)).toEqual(['secret LATER later']);
      expect(await values(store, scoping.id)).toEqual([]);
    });
  });

  describe('a request for variables', () => {
    const ask = (parent: ThreadDriver, fields: Partial<SaveRequest> = {}): SaveRequest => ({
      id: `request-${randomUUID()}`,
      parentId: parent.id,
      call: { step: 1, index: 0 },
      required: ['KEY', 'TOKEN'],
      missing: ['TOKEN'],
      scoped: ['KEY', 'TOKEN'],
      child: newChild({ messages: [message('m', 'find it', { attachments: ['/a.txt'] })] }),
      ...fields,
    });

    it('[runtime 7.5] is stored once and listed until it is fulfilled', async () => {
      const { store, second } = given();
      const parent = await openParent(store);
      const asked = ask(parent);
      const [kept, again] = await Promise.all([
        store.variableRequests.save(asked),
        second.variableRequests.save({ ...asked, id: 'another' }),
      ]);
      expect(kept).toEqual(again);
      expect(kept).toMatchObject({
        parentId: parent.id,
        agent: 'researcher',
        required: ['KEY', 'TOKEN'],
        missing: ['TOKEN'],
        childId: null,
      });
      expect(await store.variableRequests.get(kept.id)).toEqual(kept);
      expect(await store.variableRequests.get('nobody')).toBeNull();
      expect(await store.variableRequests.list(parent.id)).toEqual([kept]);
      expect(await parent.events('variables.requested')).toMatchObject([
        { step: 1, data: { requestId: kept.id, agent: 'researcher', missing: ['TOKEN'] } },
      ]);
      expect(await store.children.list(parent.id)).toEqual([]);
    });

    it('[runtime 7.5] creates its child with the values, once, without a waiting call', async () => {
      const { store, second } = given();
      const parent = await openParent(store);
      await store.env.set({ owner: { thread: parent.id }, name: 'KEY', value: 'not for the child' });
      await store.env.set({ owner: { thread: parent.id }, name: 'SHARED', value: 'shared' });
      const file = { path: '/a.txt', content: new TextEncoder().encode('a'), mimeType: 'text/plain' };
      await store.files.write(parent.id, file);
      const asked = ask(parent);
      const { id: requestId } = await store.variableRequests.save(asked);
      const own = { parentId: parent.id, requestId };
      const stranger = await openParent(store);
      expect(await store.variableRequests.fulfil({ ...own, given: [{ name: 'OTHER', value: 'x' }] })).toEqual(
        {
          kind: 'missing',
          names: ['TOKEN'],
        },
      );
      expect(await store.variableRequests.fulfil({ ...own, parentId: stranger.id, given: [] })).toEqual({
        kind: 'unknown',
      });
      expect(await store.variableRequests.list(parent.id)).toHaveLength(1);
      const serve = (through: ThreadStore) =>
        through.variableRequests.fulfil({ ...own, given: [{ name: 'TOKEN', value: SECRET }] });
      const served = await Promise.all([serve(store), serve(second)]);
      const { threadId: childId } = asked.child;
      expect(served.map(({ kind }) => kind).toSorted()).toEqual(['created', 'used']);
      expect(served).toContainEqual({ kind: 'used', childId });
      expect(await values(store, childId)).toEqual(['secret SHARED shared', `secret TOKEN ${SECRET}`]);
      expect(await store.variableRequests.get(requestId)).toMatchObject({ childId });
      expect(await store.variableRequests.list(parent.id)).toEqual([]);
      expect(await store.children.get(childId)).toMatchObject({ status: 'running', madeStep: null });
      expect(await store.children.readCall(parent.id, asked.call)).toBeNull();
      expect(await store.children.listUnstarted(parent.id, 5)).toMatchObject([{ threadId: childId }]);
      expect(await parent.events('subagent.created')).toMatchObject([{ data: { childId } }]);
      expect(await new ThreadDriver(store, childId).messages()).toMatchObject([
        { content: 'find it', attachments: [{ name: 'a.txt' }] },
      ]);
      for (const id of [parent.id, childId])
        expect(JSON.stringify(await new ThreadDriver(store, id).everything())).not.toContain(SECRET);
    });

    it('[runtime 7.5] is a wait that blocks nothing; its answer creates the child, and contains no value', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const asked = ask(parent, { types: { TOKEN: 'secret' } });
      const { id } = await store.variableRequests.save(asked);
      const [wait] = await store.waits.list({ threadId: parent.id });
      expect(wait).toMatchObject({ id, kind: 'variables', name: 'researcher', blocks: false });
      expect(wait?.data).toMatchObject({ missing: ['TOKEN'], types: { TOKEN: 'secret' } });
      expect(await store.threads.get(parent.id)).toMatchObject({ status: 'running' });
      const answer = (value: unknown) => store.waits.answer({ id, answer: { value, by: 'Ada' } });
      for (const value of ['x', { OTHER: 'x' }, { TOKEN: 1 }, { TOKEN: SECRET, 'A B': SECRET }]) {
        const judged = await answer(value);
        expect(judged).toMatchObject({ outcome: 'misfit' });
        expect(JSON.stringify(judged)).not.toContain(SECRET);
      }
      expect(await store.waits.answer({ id, answer: { approved: true } })).toMatchObject({
        outcome: 'misfit',
      });
      expect(await answer({ TOKEN: SECRET })).toMatchObject({
        outcome: 'taken',
        wait: { state: 'answered' },
      });
      expect(await values(store, asked.child.threadId)).toEqual([`secret TOKEN ${SECRET}`]);
      expect(await answer({ TOKEN: { value: SECRET } })).toMatchObject({ outcome: 'duplicate' });
      expect(await answer({ TOKEN: 'another' })).toMatchObject({ outcome: 'already_answered' });
      expect((await store.waits.get(id))?.answer).toEqual({ value: { given: ['TOKEN'] }, by: 'Ada' });
      expect(await store.variableRequests.list(parent.id)).toEqual([]);
      expect(JSON.stringify(await parent.everything())).not.toContain(SECRET);
    });

    it('[runtime 7.5] fulfilled through its own endpoint is an answered wait', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const { id: requestId } = await store.variableRequests.save(ask(parent));
      const variables = [{ name: 'TOKEN', value: SECRET }];
      await store.variableRequests.fulfil({ parentId: parent.id, requestId, given: variables });
      expect(await store.waits.list({ threadId: parent.id })).toEqual([]);
      expect(await parent.events('wait.answered')).toMatchObject([{ data: { waitId: requestId } }]);
    });

    it('[runtime 7.5] that is denied creates no child, and its parent is told once', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const { id } = await store.variableRequests.save(ask(parent));
      const refuse = () =>
        store.waits.answer({ id, answer: { approved: false, reason: 'none of theirs', by: 'Ada' } });
      expect(await refuse()).toMatchObject({ outcome: 'taken' });
      expect(await refuse()).toMatchObject({ outcome: 'duplicate' });
      expect(await store.waits.answer({ id, answer: { value: { TOKEN: SECRET } } })).toMatchObject({
        outcome: 'already_answered',
      });
      const variables = [{ name: 'TOKEN', value: SECRET }];
      expect(
        await store.variableRequests.fulfil({ parentId: parent.id, requestId: id, given: variables }),
      ).toEqual({ kind: 'closed' });
      expect(await store.variableRequests.list(parent.id)).toEqual([]);
      expect(await store.children.list(parent.id)).toEqual([]);
      expect(await store.queue.count(parent.id)).toBe(1);
    });

    it('stays open if its child cannot be created', async () => {
      const { store } = given();
      const parent = await openParent(store, 2);
      const other = await createOpened(parent, { call: { step: 1, index: 1 } });
      const { id: requestId } = await store.variableRequests.save(
        ask(parent, { child: newChild({ maxInstances: 1 }) }),
      );
      const serve = () =>
        store.variableRequests.fulfil({
          parentId: parent.id,
          requestId,
          given: [{ name: 'TOKEN', value: SECRET }],
        });
      expect(await serve()).toMatchObject({ kind: 'full', living: [{ threadId: other.id }] });
      await other.rest('terminated');
      expect(await serve()).toMatchObject({ kind: 'created' });
    });

    it('of an ended thread has no effect', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const { id: requestId } = await store.variableRequests.save(ask(parent));
      await parent.rest('terminated');
      const variables = [{ name: 'TOKEN', value: SECRET }];
      expect(
        await store.variableRequests.fulfil({ parentId: parent.id, requestId, given: variables }),
      ).toEqual({
        kind: 'terminated',
      });
      await expect(
        store.variableRequests.save(ask(parent, { call: { step: 1, index: 1 } })),
      ).rejects.toMatchObject({
        code: 'ThreadTerminated',
      });
    });
  });
}
