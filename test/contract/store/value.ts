/** getValue, setValue, listValues. */
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../../src/core/value/limit.ts';
import type { ThreadRecord } from '../../../src/store/thread/thread-record.ts';
import type { Stores } from '../store-contract.ts';
import { openThread } from '../thread-driver.ts';

export function registerValue(given: () => Stores): void {
  describe('values', () => {
    it('are stored, replaced and deleted by key', async () => {
      const { store } = given();
      const { id } = await openThread(store);
      expect(await store.values.get(id, 'a')).toBeNull();
      await store.values.set(id, 'a', { n: 1 });
      await store.values.set(id, 'b', 'other');
      await store.values.set(id, 'a', [2]);
      expect([await store.values.get(id, 'a'), await store.values.get(id, 'b')]).toEqual([[2], 'other']);
      await store.values.set(id, 'a', null);
      await store.values.set(id, 'b', undefined);
      await store.values.set(id, 'never', null);
      expect([await store.values.get(id, 'a'), await store.values.get(id, 'b')]).toEqual([null, null]);
      expect(await store.values.list(id)).toEqual([]);
    });

    it.each<[string, unknown]>([
      ['falsy ones', [false, 0, '', {}, []]],
      ['numbers as precise as JSON has them', [0.1, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, -1]],
      ['texts of every kind', 'a\0b\u2028\ufdd0\ud800 "\\é😀'],
      ['keys of every kind', { '': 1, '\0': 2, __proto__x: 3, 'é😀': { ' ': [null] } }],
    ])('are read back unchanged: %s', async (_, value) => {
      const { store, second } = given();
      const { id } = await openThread(store);
      await store.values.set(id, 'k', value);
      expect(await second.values.get(id, 'k')).toEqual(value);
      for (const [n, part] of Object.entries(value as object)) {
        await store.values.set(id, `part ${n.codePointAt(0)}`, part);
        expect(await second.values.get(id, `part ${n.codePointAt(0)}`)).toEqual(part);
      }
    });

    it.each<[string, string]>([
      ['no character', ''],
      ['a blank', ' '],
      ['a line break', 'a\nb\t'],
      ['signs of SQL', "'; drop table thread_values; -- %_*?"],
      ['a name of JavaScript', '__proto__'],
      ['512 characters of emoji', '😀'.repeat(256)],
      ['512 characters of three bytes', '日'.repeat(512)],
    ])('may have a key of %s', async (_, key) => {
      const { store } = given();
      const { id } = await openThread(store);
      await store.values.set(id, key, key);
      expect(await store.values.get(id, key)).toBe(key);
      expect(await store.values.get(id, `${key} `)).toBeNull();
      expect((await store.values.list(id)).map((entry) => entry.key)).toEqual([key]);
    });

    it('have distinct keys that differ only in case or Unicode form', async () => {
      const { store } = given();
      const { id } = await openThread(store);
      const keys = ['k', 'K', 'k ', '\u00e9', 'e\u0301'];
      for (const key of keys) await store.values.set(id, key, key);
      expect(await Promise.all(keys.map((key) => store.values.get(id, key)))).toEqual(keys);
    });

    it.each<[string, unknown, unknown, string]>([
      ['a key that is too long', 'k'.repeat(513), 1, 'LimitExceeded'],
      ['a key that is not text', 7, 1, 'InvalidValue'],
      ['a key with NUL', 'a\0', 1, 'InvalidValue'],
      ['a key with half a character', 'a\ud800', 1, 'InvalidValue'],
      ['a value that is too large', 'k', 'x'.repeat(LIMITS.valueBytes), 'LimitExceeded'],
      ['a value that is not JSON', 'k', { at: new Date(0) }, 'InvalidValue'],
    ])('refuse %s, and keep the previous value', async (_, key, value, code) => {
      const { store } = given();
      const { id } = await openThread(store);
      await store.values.set(id, 'k', 'before');
      await expect(store.values.set(id, key as string, value)).rejects.toMatchObject({ code });
      expect(await store.values.list(id)).toMatchObject([{ key: 'k', value: 'before' }]);
      if (key !== 'k') expect(await store.values.get(id, key as string)).toBeNull();
    });

    it('may be as large as their limit', async () => {
      const { store } = given();
      const { id } = await openThread(store);
      const value = 'x'.repeat(LIMITS.valueBytes - 2);
      await store.values.set(id, 'k', value);
      expect(await store.values.get(id, 'k')).toBe(value);
    });

    it('belong to one thread', async () => {
      const { store } = given();
      const parent = await openThread(store);
      await store.values.set(parent.id, 'k', 'of the parent');
      const child = parent.as('run-1');
      const childId = `${parent.id}-child`;
      await child.store.threads.open({
        ...child.from,
        threadId: childId,
        agent: 'helper',
        userId: null,
        arguments: {},
        parentId: parent.id,
        rootId: parent.id,
        mustExist: false,
      });
      expect(await store.values.get(childId, 'k')).toBeNull();
      await store.values.set(childId, 'k', 'of the child');
      expect(await store.values.get(parent.id, 'k')).toBe('of the parent');
      await store.values.set(childId, 'k', null);
      expect(await store.values.get(parent.id, 'k')).toBe('of the parent');
    });

    it('of an unknown thread are null, and cannot be set', async () => {
      const { store } = given();
      expect(await store.values.get('nobody', 'k')).toBeNull();
      expect(await store.values.list('nobody')).toEqual([]);
      await expect(store.values.set('nobody', 'k', 1)).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });

    it('of a terminated thread can be read and not written', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await store.values.set(thread.id, 'k', 1);
      await thread.rest('terminated');
      for (const value of [2, null]) {
        await expect(store.values.set(thread.id, 'k', value)).rejects.toMatchObject({
          code: 'ThreadTerminated',
        });
      }
      expect(await store.values.get(thread.id, 'k')).toBe(1);
    });

    it('are logged, and change nothing else of the thread', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const seen = async () => {
        const { lastSeq, updatedAt, ...rest } = (await store.threads.get(thread.id)) as ThreadRecord;
        return { rest, messages: await thread.messages() };
      };
      const before = await seen();
      await store.values.set(thread.id, 'k', 1);
      await store.files.write(thread.id, {
        path: '/a',
        content: new Uint8Array(1),
        mimeType: 'text/plain',
      });
      expect(await seen()).toEqual(before);
      expect((await thread.events()).map(({ type }) => type)).toEqual([
        'thread.created',
        'value.changed',
        'file.created',
      ]);
    });

    it('are listed by key, in pages', async () => {
      const { store } = given();
      const { id } = await openThread(store);
      for (const key of ['c', 'a', 'e', 'b', 'd']) await store.values.set(id, key, { key });
      const page = await store.values.list(id, { limit: 2 });
      expect(page.map(({ key, value }) => [key, value])).toEqual([
        ['a', { key: 'a' }],
        ['b', { key: 'b' }],
      ]);
      expect(page[0]?.updatedAt).toBeGreaterThan(1_600_000_000_000_000);
      const rest = await store.values.list(id, { after: 'b' });
      expect(rest.map(({ key }) => key)).toEqual(['c', 'd', 'e']);
    });

    it('written by two connections at once end as the last one', async () => {
      const { store, second } = given();
      const { id } = await openThread(store);
      await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          (n % 2 ? store : second).values.set(id, `k${n % 3}`, n % 7 === 0 ? null : n),
        ),
      );
      await store.values.set(id, 'k0', 'last');
      expect(await second.values.get(id, 'k0')).toBe('last');
      expect((await second.values.list(id)).length).toBeLessThanOrEqual(3);
    });

    it('exist when the store is opened again', async () => {
      const opened = await given().engine.open();
      try {
        const { id } = await openThread(opened.store);
        await opened.store.values.set(id, 'k', { kept: true });
        const again = await opened.reopen();
        expect(await again.values.get(id, 'k')).toEqual({ kept: true });
      } finally {
        await opened.close();
      }
    });
  });
}
