/** The feed of changes of threads. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { ChangedThread, ListChanges } from '../../../src/store/thread/thread-record.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, spend, ThreadDriver } from '../thread-driver.ts';

/** Reads the feed from its present end. */
async function reader(store: ThreadStore, owner: Omit<ListChanges, 'cursor'> = {}) {
  let { cursor } = await store.threads.changes(owner);
  const seen: ChangedThread[] = [];
  return {
    seen,
    /** Reads to the end; returns what has come. */
    async read(): Promise<ChangedThread[]> {
      const found: ChangedThread[] = [];
      for (let more = true; more; ) {
        const page = await store.threads.changes({ ...owner, cursor });
        more = page.threads.length > 0;
        found.push(...page.threads);
        cursor = page.cursor;
        if (page.threads.length < (owner.limit ?? 100)) more = false;
      }
      seen.push(...found);
      return found;
    },
  };
}

const idsOf = (changes: readonly ChangedThread[]) => changes.map(({ id }) => id);

export function registerThreadChanges(given: () => Stores): void {
  describe('the feed of changes', () => {
    it('has each thread that was opened or has changed, as it is now, and then no more', async () => {
      const { store, second } = given();
      const organizationId = randomUUID();
      const feed = await reader(second, { organizationId });
      const thread = new ThreadDriver(store);
      await thread.open({ context: { organizationId } });
      expect(await feed.read()).toMatchObject([{ id: thread.id, status: 'idle' }]);
      expect(await feed.read()).toEqual([]);
      await thread.begin([message('a')]);
      expect((await feed.read()).at(-1)).toMatchObject({
        id: thread.id,
        status: 'running',
        firstWords: 'content of a',
      });
      await thread.rest();
      await store.threads.setTags(thread.id, ['vip']);
      expect(await feed.read()).toMatchObject([{ id: thread.id, status: 'idle', tags: ['vip'] }]);
      expect(await feed.read()).toEqual([]);
    });

    it('has what changes while a thread runs, although its place in lists stays, and no mere text', async () => {
      const { store, second } = given();
      const organizationId = randomUUID();
      const thread = new ThreadDriver(store);
      await thread.open({ context: { organizationId } });
      const ref = await thread.beginCall([message('a')]);
      const feed = await reader(second, { organizationId });
      await thread.chunk(ref, 'Hel');
      expect(idsOf(await feed.read())).toEqual([]);
      await thread.commit(ref);
      thread.afterStep = ref.step;
      await spend(thread, 5n * 10n ** 9n, 7);
      expect((await feed.read()).at(-1)).toMatchObject({ id: thread.id, costUsd: 0.005, status: 'running' });
      await store.threads.setTags(thread.id, ['vip']);
      expect((await feed.read()).at(-1)).toMatchObject({ id: thread.id, tags: ['vip'] });
      expect(await feed.read()).toEqual([]);
      await thread.rest();
    });

    it('goes on after any page with what has changed since, within a page or behind it', async () => {
      const { store } = given();
      const organizationId = `acme-${randomUUID()}`;
      const threads = Array.from({ length: 7 }, () => new ThreadDriver(store));
      let { cursor } = await store.threads.changes({ organizationId });
      for (const thread of threads) await thread.open({ context: { organizationId } });
      const [early, late] = [threads[0] as ThreadDriver, threads[6] as ThreadDriver];
      const found: ChangedThread[] = [];
      for (let round = 0; round < 20; round += 1) {
        const page = await store.threads.changes({ organizationId, cursor, limit: 3 });
        found.push(...page.threads);
        cursor = page.cursor;
        if (round === 0)
          for (const thread of [early, late]) await store.threads.setTags(thread.id, ['moved']);
        if (page.threads.length === 0) break;
      }
      for (const { id } of threads) {
        const last = found.findLast((thread) => thread.id === id);
        expect(last).toEqual(await store.threads.get(id));
      }
    });

    it('is limited to an organisation or a user, and has deletions for readers of all threads alone', async () => {
      const { store } = given();
      const mark = randomUUID();
      const [organizationId, userId] = [`acme-${mark}`, `ada-${mark}`];
      const feeds = {
        all: await reader(store),
        organization: await reader(store, { organizationId }),
        user: await reader(store, { userId }),
      };
      const open = async (fields: Parameters<ThreadDriver['open']>[0]) => {
        const thread = new ThreadDriver(store);
        await thread.open(fields);
        return thread.id;
      };
      const ours = await open({ context: { organizationId } });
      const hers = await open({ userId });
      await open({});
      expect(idsOf(await feeds.organization.read())).toEqual([ours]);
      expect(idsOf(await feeds.user.read())).toEqual([hers]);
      expect(idsOf(await feeds.all.read())).toEqual(expect.arrayContaining([ours, hers]));
      await store.threads.terminate(ours);
      expect(await feeds.organization.read()).toMatchObject([{ id: ours, status: 'terminated' }]);
      await store.threads.remove(ours);
      expect(await feeds.organization.read()).toEqual([]);
      expect(await feeds.all.read()).toContainEqual({ id: ours, deleted: true });
    });

    it('wakes a reader that waits, whichever process has made the change', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const feed = await reader(second);
      for (let change = 1; change <= 3; change += 1) {
        await feed.read();
        const woken = second.threads.awaitChange();
        await store.threads.setTags(thread.id, [`change ${change}`]);
        for (let found = false; !found; ) {
          await woken;
          found = (await feed.read()).some(({ id }) => id === thread.id);
        }
      }
    });

    it('refuses cursors that are none, and those that lie ahead, as those of a store that was restored', async () => {
      const { store } = given();
      const refused = { code: 'InvalidCursor' };
      const { cursor } = await store.threads.changes();
      const ahead = cursor.replaceAll(/\d+/g, (digits) => `9${digits}`);
      for (const bad of ['', 'x', '~', '1', '::~', ahead, `${cursor}~${cursor}`])
        await expect(store.threads.changes({ cursor: bad })).rejects.toMatchObject(refused);
    });
  });
}
