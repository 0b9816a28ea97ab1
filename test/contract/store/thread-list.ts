/** Lists of threads: filters, order and pages; and tags. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ListThreads, ThreadFilters, ThreadRecord } from '../../../src/store/thread/thread-record.ts';
import type { Stores } from '../store-contract.ts';
import { message, spend, ThreadDriver } from '../thread-driver.ts';

export function registerThreadList(given: () => Stores): void {
  describe('lists of threads', () => {
    it('match every filter, and several at once', async () => {
      const { store } = given();
      const mark = randomUUID();
      const root = new ThreadDriver(store);
      await root.open({
        agent: mark,
        userId: `ada-${mark}`,
        context: { organizationId: `acme-${mark}` },
        tags: [mark, 'red'],
      });
      const child = new ThreadDriver(store);
      await child.open({ agent: mark, parentId: root.id, rootId: root.id });
      const other = new ThreadDriver(store);
      await other.open({ agent: `${mark}-other`, userId: `ada-${mark}`, tags: [mark] });
      const { createdAt, updatedAt } = (await store.threads.get(child.id)) ?? {};
      const list = async (options: ListThreads) =>
        (await store.threads.list(options)).map(({ id }) => id).toSorted();
      const all = (...threads: ThreadDriver[]) => threads.map(({ id }) => id).toSorted();
      expect(await list({ agent: mark })).toEqual(all(root, child));
      expect(await list({ userId: `ada-${mark}` })).toEqual(all(root, other));
      expect(await list({ organizationId: `acme-${mark}` })).toEqual(all(root));
      expect(await list({ parentId: root.id })).toEqual(all(child));
      expect(await list({ agent: mark, rootsOnly: true })).toEqual(all(root));
      expect(await list({ tag: mark })).toEqual(all(root, other));
      expect(await list({ tag: mark, agent: mark })).toEqual(all(root));
      expect(await list({ agent: mark, createdAfter: createdAt })).not.toContain(child.id);
      expect(await list({ agent: mark, createdAfter: (createdAt ?? 0) - 1 })).toContain(child.id);
      expect(await list({ agent: mark, updatedBefore: updatedAt })).not.toContain(child.id);
      expect(await list({ agent: mark, updatedBefore: (updatedAt ?? 0) + 1 })).toContain(child.id);
    });

    it('are sorted by cost, by tokens and by the longest wait, each thread once at equal figures', async () => {
      const { store } = given();
      const agent = `agent-${randomUUID()}`;
      const costs = [0n, 3n, 7n, 3n, 3n, 9n];
      const ids: string[] = [];
      for (const cost of costs) {
        const thread = new ThreadDriver(store);
        await thread.open({ agent });
        ids.push(thread.id);
        if (cost > 0n) await spend(thread, cost * 10n ** 9n, Number(cost));
        await thread.rest();
      }
      const spending = ids.filter((_, at) => costs[at] !== 0n);
      const figureOf = (sort: ListThreads['sort']) => (thread: ThreadRecord) =>
        sort === 'cost' ? thread.listed.costUsd : thread.listed.tokens;
      for (const sort of ['cost', 'tokens'] as const) {
        const found: ThreadRecord[] = [];
        for (let before: ListThreads['before']; ; before = found.at(-1)) {
          const page = await store.threads.list({ agent, sort, before, limit: 2 });
          found.push(...page);
          if (page.length < 2) break;
        }
        expect(found.map(({ id }) => id).toSorted()).toEqual(spending.toSorted());
        const figures = found.map(figureOf(sort));
        expect(figures).toEqual(figures.toSorted((a, b) => b - a));
      }
      await expect(store.threads.list({ tag: 'vip', sort: 'cost' })).rejects.toMatchObject({
        code: 'InvalidValue',
      });
    });

    it('are counted by every filter, and only what matches', async () => {
      const { store } = given();
      const mark = randomUUID();
      const [acme, other] = [`acme-${mark}`, `other-${mark}`];
      const open = async (fields: Parameters<ThreadDriver['open']>[0]) => {
        const thread = new ThreadDriver(store);
        await thread.open({ agent: mark, ...fields });
        return thread;
      };
      const of = (organizationId: string) => ({ context: { organizationId } });
      const first = await open({ userId: `ada-${mark}`, tags: [mark], ...of(acme) });
      await open({ userId: `ada-${mark}`, tags: [mark, `red-${mark}`], ...of(acme) });
      await open({ agent: `${mark}-2`, ...of(acme) });
      const ended = await open(of(other));
      await first.begin([message('a')]);
      await store.threads.terminate(ended.id);
      const by = ['status', 'agent', 'userId', 'organizationId', 'tag'] as const;
      expect((await store.threads.counts({ organizationId: acme })).tag).toEqual({});
      expect(await store.threads.counts({ organizationId: acme, by })).toEqual({
        total: 3,
        status: { idle: 2, running: 1 },
        agent: { [mark]: 2, [`${mark}-2`]: 1 },
        userId: { [`ada-${mark}`]: 2 },
        organizationId: { [acme]: 3 },
        tag: { [mark]: 2, [`red-${mark}`]: 1 },
      });
      const totals = async (filters: ThreadFilters) => (await store.threads.counts(filters)).total;
      expect(await totals({ agent: mark })).toBe(3);
      expect(await totals({ agent: mark, status: 'terminated' })).toBe(1);
      expect(await totals({ userId: `ada-${mark}`, status: 'idle' })).toBe(1);
      expect(await totals({ tag: mark })).toBe(2);
      expect(await totals({ agent: mark, createdAfter: Date.now() * 1000 + 60_000_000 })).toBe(0);
      await store.threads.remove(ended.id);
      expect(await totals({ agent: mark })).toBe(2);
      const all = await store.threads.counts();
      expect(all.total).toBeGreaterThanOrEqual(3);
      expect(all.agent).toMatchObject({ [mark]: 2, [`${mark}-2`]: 1 });
    });

    it('are searched by id prefix, shortest first, by kind and case-sensitively', async () => {
      const { store } = given();
      const mark = `Mark-${randomUUID()}`;
      for (const id of [`${mark}-2%`, `${mark}-1`, mark]) await new ThreadDriver(store, id).open();
      const find = (prefix: string, limit = 10) => store.ids.find({ kind: 'thread', prefix, limit });
      expect(await find(mark)).toEqual([mark, `${mark}-1`, `${mark}-2%`]);
      expect(await find(mark, 1)).toEqual([mark]);
      expect(await find(`${mark}-2`)).toEqual([`${mark}-2%`]);
      expect([await find(`${mark}%`), await find(mark.toLowerCase())]).toEqual([[], []]);
      const kinds = ['task', 'execution', 'wait', 'action', 'effect', 'token', 'request'] as const;
      for (const kind of kinds) expect(await store.ids.find({ kind, prefix: mark, limit: 1 })).toEqual([]);
      await new ThreadDriver(store, `task/${mark}`).open();
      expect(await store.ids.find({ kind: 'task', prefix: mark, limit: 2 })).toEqual([mark]);
      expect(await find('task/')).toEqual([]);
    });

    it('continue after any page, each thread once, in either order', async () => {
      const { store } = given();
      const agent = `agent-${randomUUID()}`;
      const threads = Array.from({ length: 7 }, () => new ThreadDriver(store));
      for (const thread of threads) await thread.open({ agent, tags: [agent] });
      // The oldest thread is the last one that was changed. The clock of the store counts milliseconds: two changes may share one.
      const [oldest = '', newest = ''] = [threads[0]?.id, threads.at(-1)?.id];
      const timeOf = async (id: string) => (await store.threads.get(id))?.updatedAt ?? 0;
      for (let change = 0; (await timeOf(oldest)) <= (await timeOf(newest)); change += 1)
        await store.threads.setTags(oldest, [agent, `change ${change}`]);
      const walk = async (options: ListThreads) => {
        const found = [];
        for (let before: ListThreads['before']; ; before = found.at(-1)) {
          const page = await store.threads.list({ agent, ...options, before, limit: 3 });
          found.push(...page);
          if (page.length < 3) return found;
        }
      };
      for (const options of [{}, { sort: 'created' }, { tag: agent }] as const) {
        const found = await walk(options);
        expect(found.map(({ id }) => id).toSorted()).toEqual(threads.map(({ id }) => id).toSorted());
        const times = found.map(({ createdAt, updatedAt }) =>
          Object.keys(options).length === 0 ? updatedAt : createdAt,
        );
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      }
      expect((await walk({}))[0]?.id).toBe(threads[0]?.id);
    });

    it('match tags, which are replaced together, also on an ended thread', async () => {
      const { store, second } = given();
      const thread = new ThreadDriver(store);
      const [old, kept] = [randomUUID(), randomUUID()];
      await thread.open({ tags: [old, kept] });
      expect(await store.threads.get(thread.id)).toMatchObject({ tags: [old, kept] });
      await store.threads.terminate(thread.id);
      expect(await store.threads.setTags(thread.id, [kept, 'done'])).toMatchObject({ tags: [kept, 'done'] });
      const before = await store.threads.get(thread.id);
      await second.threads.setTags(thread.id, [kept, 'done']);
      expect(await store.threads.get(thread.id)).toEqual(before);
      expect(await store.threads.list({ tag: old })).toEqual([]);
      expect(await store.threads.list({ tag: kept })).toMatchObject([{ id: thread.id }]);
      await store.threads.setTags(thread.id, []);
      expect(await store.threads.list({ tag: kept })).toEqual([]);
      await expect(store.threads.setTags('nobody', [])).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });
  });
}
