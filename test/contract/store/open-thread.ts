/** openThread: the first command of each workflow run. */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message, openThread, ThreadDriver, tool } from '../thread-driver.ts';

export function registerOpenThread(given: () => Stores): void {
  describe('openThread', () => {
    it('creates the thread at its first run', async () => {
      const { store } = given();
      const thread = new ThreadDriver(store);
      const opened = await thread.open({
        userId: 'u1',
        arguments: { topic: 'sea' },
        parentId: 'p1',
        rootId: 'r1',
      });
      expect(opened).toMatchObject({ kind: 'open', afterStep: 0, turnOpen: false, waiting: 0 });
      const record = await store.threads.get(thread.id);
      expect(record).toMatchObject({
        id: thread.id,
        agent: 'helper',
        userId: 'u1',
        arguments: { topic: 'sea' },
        status: 'idle',
        parentId: 'p1',
        rootId: 'r1',
        terminatedAt: null,
        lastError: null,
        lastStep: 0,
      });
      expect(opened).toHaveProperty('thread', record);
      expect(Math.abs(Number(record?.createdAt) / 1000 - Date.now())).toBeLessThan(60_000);
    });

    it('repeated has no further effect', async () => {
      const thread = await openThread(given().store);
      const before = await thread.everything();
      expect(await thread.open()).toMatchObject({ kind: 'open' });
      expect(await thread.everything()).toEqual(before);
      expect(await thread.events()).toMatchObject([
        { seq: 1, type: 'thread.created', data: { agent: 'helper' } },
      ]);
    });

    it('keeps the thread’s initial settings, whatever a later run passes', async () => {
      const thread = await openThread(given().store);
      expect(await thread.as('run-2').open({ agent: 'other', userId: 'u2' })).toMatchObject({
        thread: { agent: 'helper', userId: null },
      });
    });

    it('creates a thread once if two connections open it at the same time', async () => {
      const { store, second } = given();
      const thread = new ThreadDriver(store);
      await Promise.all([thread.open(), thread.as('run-1', second).open(), thread.open()]);
      expect(await thread.events('thread.created')).toHaveLength(1);
    });

    it('refuses a missing thread that ran before, naming the store', async () => {
      const { store } = given();
      const thread = new ThreadDriver(store);
      await expect(thread.open({ mustExist: true })).rejects.toMatchObject({
        code: 'StoreMismatch',
        message: expect.stringContaining(store.id),
      });
      expect(await store.threads.get(thread.id)).toBeNull();
      await thread.open();
      expect(await thread.open({ mustExist: true })).toMatchObject({ kind: 'open' });
    });

    it('[runtime 10] reports a terminated thread to every run', async () => {
      const thread = await openThread(given().store);
      await thread.rest('terminated');
      expect(await thread.open()).toEqual({ kind: 'terminated' });
      expect(await thread.as('run-2').open()).toEqual({ kind: 'terminated' });
    });

    it('counts queued items, and returns the last step of an idle thread', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      await thread.rest();
      await thread.stash(message('b'), tool('c', 'look'));
      expect(await thread.as('run-2').open()).toMatchObject({ afterStep: 1, turnOpen: false, waiting: 2 });
    });

    it('returns the last step of an open turn, which may be unfinished', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], {
        toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
      });
      expect(await thread.as('run-2').open()).toMatchObject({ afterStep: 0, turnOpen: true });
      await thread.as('run-2').runTool(1, 0);
      const resumed = thread.as('run-2');
      resumed.afterStep = 1;
      await resumed.beginCall([], { ordinal: 1 });
      expect(await thread.as('run-3').open()).toMatchObject({ afterStep: 1, turnOpen: true });
    });

    it('finds the same thread after the store was reopened', async () => {
      const opened = await given().engine.open();
      try {
        const thread = await openThread(opened.store);
        await thread.answer([message('a')]);
        await thread.stash(message('b'));
        const before = await thread.everything();
        const store = await opened.reopen();
        expect(store.id).toBe(opened.store.id);
        expect(await thread.as('run-1', store).everything()).toEqual(before);
      } finally {
        await opened.close();
      }
    });

    it('gives each store its own id', async () => {
      const { store, second, engine } = given();
      const other = await engine.open();
      expect(second.id).toBe(store.id);
      expect(other.store.id).not.toBe(store.id);
      await other.close();
    });
  });
}
