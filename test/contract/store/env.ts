/** Variables of threads, users and the instance (definitions §16). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { StoredVariable } from '../../../src/core/project/env.ts';
import type { EnvOwner } from '../../../src/store/env/env-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import { FALSE_KEYS, NEW_AND_OLD_KEYS, NEW_KEYS } from '../env-keys.ts';
import type { Stores } from '../store-contract.ts';
import { openThread, ThreadDriver } from '../thread-driver.ts';
import { create, createOpened, openParent } from './family-driver.ts';

const SECRET = 'swordfish-4711';
const named = (variables: readonly StoredVariable[], name: string) =>
  variables.filter((each) => each.name === name).map(({ scope, type, value }) => ({ scope, type, value }));
const own = (store: ThreadStore, owner: EnvOwner, name = 'A', value = SECRET) =>
  store.env.set({ owner, name, value });

export function registerEnv(given: () => Stores): void {
  describe('variables', () => {
    it('of a thread, its user and the instance are read with their scopes, and hidden from others', async () => {
      const { store, second } = given();
      const [thread, user, name] = [randomUUID(), randomUUID(), `V_${Date.now()}`];
      await own(store, { thread }, name, 'of the thread');
      await own(store, { user }, name, 'of the user');
      await own(store, { instance: true }, name, '');
      expect(named(await second.env.read(thread, user), name).toSorted(byScope)).toEqual([
        { scope: 'instance', type: 'secret', value: '' },
        { scope: 'thread', type: 'secret', value: 'of the thread' },
        { scope: 'user', type: 'secret', value: 'of the user' },
      ]);
      // A thread without a user; and both ids swapped, since ids of threads and of users do not mix.
      expect(named(await store.env.read(thread, null), name)).toHaveLength(2);
      expect(named(await store.env.read(user, thread), name)).toHaveLength(1);
      await store.env.unset({ instance: true }, name);
    });

    it('keep their type; an untyped new one is a secret', async () => {
      const { store } = given();
      const owner = { thread: randomUUID() };
      expect(await own(store, owner)).toBe('secret');
      expect(await store.env.set({ owner, name: 'A', value: 'shown', type: 'text' })).toBe('text');
      expect(await own(store, owner)).toBe('text');
      expect(await store.env.set({ owner, name: 'A', value: SECRET, type: 'secret' })).toBe('secret');
      expect(await own(store, owner)).toBe('secret');
    });

    it('are listed by name, secrets without their value', async () => {
      const { store } = given();
      const owner = { user: randomUUID() };
      await own(store, owner, 'B_SECRET');
      await store.env.set({ owner, name: 'C_EMPTY', value: '', type: 'text' });
      await store.env.set({ owner, name: 'A_TEXT', value: 'x\0\uFDD0ü🐟', type: 'text' });
      const at = { keyId: 'k1', updatedAt: expect.any(Number) };
      expect(await store.env.list(owner)).toEqual([
        { name: 'A_TEXT', type: 'text', value: 'x\0\uFDD0ü🐟', ...at },
        { name: 'B_SECRET', type: 'secret', ...at },
        { name: 'C_EMPTY', type: 'text', value: '', ...at },
      ]);
      expect(await store.env.unset(owner, 'A_TEXT')).toBe(true);
      expect(await store.env.unset(owner, 'A_TEXT')).toBe(false);
      expect(await store.env.list(owner)).toHaveLength(2);
    });

    it('can be set before their thread exists, and not once it is terminated', async () => {
      const { store } = given();
      const thread = new ThreadDriver(store);
      await own(store, { thread: thread.id });
      await thread.open();
      expect(await store.env.read(thread.id, null)).toMatchObject([{ name: 'A', value: SECRET }]);
      await thread.rest('terminated');
      await expect(own(store, { thread: thread.id }, 'A', 'late')).rejects.toMatchObject({
        code: 'ThreadTerminated',
      });
      expect(await store.env.read(thread.id, null)).toMatchObject([{ value: SECRET }]);
    });

    it.each<[string, string, unknown, unknown]>([
      ['a name with a space', 'A B', SECRET, undefined],
      ['a name that assigns', 'A=b', SECRET, undefined],
      ['an empty name', '', SECRET, undefined],
      ['a name that is too long', 'A'.repeat(129), SECRET, undefined],
      ['a value that is not text', 'A', 4711, undefined],
      ['half a character', 'A', `${SECRET}\uD800`, undefined],
      ['a value that is too long', 'A', SECRET.repeat(5000), undefined],
      ['another type', 'A', SECRET, 'hidden'],
    ])('refuse %s without showing the value', async (_what, name, value, type) => {
      const { store } = given();
      const owner = { thread: randomUUID() };
      const refused = store.env.set({ owner, name, value: value as string, type: type as never });
      const error = await refused.catch((thrown) => thrown as Error);
      expect(error).toMatchObject({ code: 'InvalidVariable' });
      expect((error as Error).message).not.toContain('swordfish');
      expect(await store.env.list(owner)).toEqual([]);
    });

    it('set concurrently end with one of the values, complete', async () => {
      const { store, second } = given();
      const owner = { thread: randomUUID() };
      const values = Array.from({ length: 12 }, (_, n) => `value ${n}`);
      await Promise.all(
        values.map((value, n) =>
          (n % 2 ? store : second).env.set({ owner, name: 'A', value, type: n % 3 ? 'text' : 'secret' }),
        ),
      );
      const [variable, ...more] = await store.env.read(owner.thread, null);
      expect(more).toEqual([]);
      expect(values).toContain(variable?.value);
    });
  });

  describe('variables of a family of threads', () => {
    const inherits = (agent: string) => agent !== 'scoping';

    it('reach living descendants, except below an agent that scopes them', async () => {
      const { store } = given();
      const family = await openFamily(store);
      await store.env.set({ owner: { thread: family.child.id }, name: 'A', value: 'its own', type: 'text' });
      await store.env.set({ owner: { thread: family.root.id }, name: 'A', value: SECRET, inherits });
      const seen = Object.entries(family).map(async ([name, { id }]) => [
        name,
        (await store.env.read(id, null)).map(({ type, value }) => `${type} ${value}`),
      ]);
      expect(Object.fromEntries(await Promise.all(seen))).toEqual({
        root: [`secret ${SECRET}`],
        // A secret of the parent never becomes a text variable of the child.
        child: [`secret ${SECRET}`],
        grandchild: [`secret ${SECRET}`],
        dead: [],
        childOfDead: [`secret ${SECRET}`],
        scoping: [],
        childOfScoping: [],
        stranger: [],
      });
    });

    it('reach neither parents nor siblings, and no child unless a rule of inheritance is given', async () => {
      const { store } = given();
      const { root, child, grandchild, childOfDead } = await openFamily(store);
      await store.env.set({ owner: { thread: child.id }, name: 'A', value: SECRET, inherits });
      await store.env.set({ owner: { thread: root.id }, name: 'B', value: SECRET });
      const names = async ({ id }: ThreadDriver) => (await store.env.read(id, null)).map(({ name }) => name);
      expect(await Promise.all([root, child, grandchild, childOfDead].map(names))).toEqual([
        ['B'],
        ['A'],
        ['A'],
        [],
      ]);
    });
  });

  describe('variables of a family that grows', () => {
    it('reach a grandchild created at the same time', async () => {
      const { store, second } = given();
      const root = await openParent(store);
      const child = await createOpened(root);
      const missed: string[] = [];
      for (let round = 0; round < 20; round++) {
        const value = `value ${round}`;
        const [made] = await Promise.all([
          create(child, { call: null }),
          second.env.set({ owner: { thread: root.id }, name: 'A', value, inherits: () => true }),
        ]);
        const grandchild = made.kind === 'created' ? made.child.threadId : '';
        const [variable] = await store.env.read(grandchild, null);
        if (variable?.value !== value) missed.push(`${value}: ${variable?.value}`);
      }
      expect(missed).toEqual([]);
    });
  });

  describe('keys of variables', () => {
    it('are rotated: new values use the first key, old ones their own until they are re-encrypted', async () => {
      const opened = await given().engine.open();
      try {
        const owner = { instance: true } as const;
        await own(opened.store, owner, 'OLD');
        const rotating = await opened.second(NEW_AND_OLD_KEYS);
        await own(rotating, owner, 'NEW', 'new');
        expect(await rotating.env.read('t', null)).toMatchObject([{ value: 'new' }, { value: SECRET }]);
        const after = await opened.second(NEW_KEYS);
        await expect(after.env.read('t', null)).rejects.toMatchObject({
          code: 'InvalidConfiguration',
          message: expect.stringContaining('"k1"'),
        });
        await expect(after.env.rotate()).rejects.toMatchObject({ code: 'InvalidConfiguration' });
        expect(await rotating.env.rotate()).toEqual({ keyId: 'k2', rotated: 1 });
        expect(await rotating.env.rotate()).toEqual({ keyId: 'k2', rotated: 0 });
        expect(await after.env.read('t', null)).toMatchObject([{ value: 'new' }, { value: SECRET }]);
        expect((await after.env.list(owner)).map(({ keyId }) => keyId)).toEqual(['k2', 'k2']);
      } finally {
        await opened.close();
      }
    });

    it('replaced under the same name decrypt nothing, and report that without a value', async () => {
      const opened = await given().engine.open();
      try {
        await opened.store.env.set({ owner: { user: 'u' }, name: 'A', value: SECRET, type: 'text' });
        const other = await opened.second(FALSE_KEYS);
        const error = await other.env.read('t', 'u').catch((thrown) => thrown as Error);
        expect(error).toMatchObject({ code: 'InvalidConfiguration' });
        expect(String(error)).toContain('"A" of user "u"');
        expect(String(error)).not.toContain(SECRET);
        // Listing still works, and shows which variable must be set again.
        const [entry] = await other.env.list({ user: 'u' });
        expect(entry).toMatchObject({ name: 'A', keyId: 'k1' });
        expect(entry).not.toHaveProperty('value');
      } finally {
        await opened.close();
      }
    });
  });
}

const byScope = (a: { scope: string }, b: { scope: string }) => a.scope.localeCompare(b.scope);

/** A root with children, grandchildren, a terminated child, one whose agent scopes the variable, and another family. */
async function openFamily(store: ThreadStore) {
  const root = await openThread(store);
  const make = async (parent: ThreadDriver, agent = 'helper') => {
    const made = new ThreadDriver(store);
    await made.open({ parentId: parent.id, rootId: root.id, agent });
    return made;
  };
  const child = await make(root);
  const dead = await make(root);
  const scoping = await make(root, 'scoping');
  const family = {
    root,
    child,
    grandchild: await make(child),
    dead,
    childOfDead: await make(dead),
    scoping,
    childOfScoping: await make(scoping),
    stranger: await openThread(store),
  };
  await dead.rest('terminated');
  return family;
}
