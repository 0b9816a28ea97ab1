/** getThread, listThreads, getMessages, getMessage, readContext, injectMessage. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { GetMessagesOptions } from '../../../src/core/author/thread-message.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, ThreadDriver, tool } from '../thread-driver.ts';

/** Messages m0 to m5, m2 silent, then the pending ones p6 and p7, p7 silent. */
async function withMessages(given: () => Stores): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  for (let n = 0; n < 6; n++) {
    const message = { role: 'user', content: `${n}`, silent: n === 2 } as const;
    await thread.store.messages.inject(thread.id, { id: `m${n}`, ...message, executionId: null });
  }
  await thread.stash(message('p6', 'six'), message('p7', 'seven', { silent: true }));
  return thread;
}

export function registerRead(given: () => Stores): void {
  describe('threads', () => {
    it('that are unknown are null, without messages and events', async () => {
      const { store } = given();
      expect(await store.threads.get('nobody')).toBeNull();
      expect(await store.messages.list('nobody')).toEqual({ messages: [], total: 0, hasMore: false });
      expect(await store.messages.get('nobody', 'a')).toBeNull();
      expect(await store.events.read('nobody', 0)).toEqual([]);
      await expect(store.steps.readContext('nobody', 1)).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });

    it('are listed by last change, by status and by agent', async () => {
      const { store } = given();
      const agent = `agent-${randomUUID()}`;
      const threads = Array.from({ length: 4 }, () => new ThreadDriver(store));
      for (const thread of threads) await thread.open({ agent });
      const [one, two, three, four] = threads as [ThreadDriver, ThreadDriver, ThreadDriver, ThreadDriver];
      await one.answer([message('a')]);
      await two.rest('terminated');
      await three.rest('stopped');
      const list = async (options: Parameters<typeof store.threads.list>[0]) =>
        (await store.threads.list({ agent, ...options })).map(({ id }) => id);
      expect(new Set(await list({}))).toEqual(new Set(threads.map(({ id }) => id)));
      expect(await list({ status: 'running' })).toEqual([one.id]);
      expect(await list({ status: 'terminated' })).toEqual([two.id]);
      expect(await list({ status: 'stopped' })).toEqual([three.id]);
      expect(await list({ status: 'idle' })).toEqual([four.id]);
      expect(await list({ status: 'failed' })).toEqual([]);
      expect(await list({ limit: 2 })).toHaveLength(2);
      const times = (await store.threads.list({ limit: 1000 })).map(({ updatedAt }) => updatedAt);
      expect(times).toEqual([...times].sort((a, b) => b - a));
    });
  });

  describe('messages', () => {
    // The newest page, oldest first, unless the options say otherwise (definitions 22.11).
    it.each<[GetMessagesOptions, string, boolean, number]>([
      [{}, 'm0 m1 m3 m4 m5 p6', false, 6],
      [{ includeSilent: true }, 'm0 m1 m2 m3 m4 m5 p6 p7', false, 8],
      [{ order: 'desc' }, 'p6 m5 m4 m3 m1 m0', false, 6],
      [{ limit: 2 }, 'm5 p6', true, 6],
      [{ limit: 2, order: 'desc' }, 'p6 m5', true, 6],
      [{ limit: 2, offset: 1 }, 'm4 m5', true, 6],
      [{ limit: 3, offset: 4 }, 'm0 m1', false, 6],
      [{ limit: 3, offset: 3 }, 'm0 m1 m3', false, 6],
      [{ offset: 6 }, '', false, 6],
      [{ limit: 1, includeSilent: true }, 'p7', true, 8],
      [{ limit: 3, offset: 1, includeSilent: true }, 'm4 m5 p6', true, 8],
      [{ limit: 0 }, '', true, 6],
      // SQL engines treat these numbers differently.
      [{ limit: -1, offset: -2 }, '', true, 6],
      [{ limit: 2.9, offset: 0.5 }, 'm5 p6', true, 6],
      [{ limit: Number.POSITIVE_INFINITY }, 'm0 m1 m3 m4 m5 p6', false, 6],
    ])('[definitions 22.11] with %j are "%s"', async (options, ids, hasMore, total) => {
      const thread = await withMessages(given);
      const page = await thread.store.messages.list(thread.id, options);
      expect({ ...page, messages: page.messages.map(({ id }) => id).join(' ') }).toEqual({
        messages: ids,
        hasMore,
        total,
      });
    });

    it('are the newest hundred by default', async () => {
      const thread = await openThread(given().store);
      await thread.begin(Array.from({ length: 120 }, (_, n) => message(`m${n}`)));
      const page = await thread.store.messages.list(thread.id);
      expect(page).toMatchObject({ total: 120, hasMore: true });
      expect([page.messages.length, page.messages[0]?.id, page.messages.at(-1)?.id]).toEqual([
        100,
        'm20',
        'm119',
      ]);
    });

    it('that are pending are marked', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('a', 'soon', { metadata: { n: 1 } }), tool('t', 'look', { at: 'it' }));
      const [a, t] = await thread.messages();
      expect(a).toMatchObject({
        role: 'user',
        content: 'soon',
        status: 'pending',
        metadata: { n: 1, queued: true },
      });
      expect(t).toMatchObject({
        role: 'assistant',
        content: null,
        status: 'pending',
        metadata: { queued: true, queuedTool: true },
      });
      expect(JSON.parse(t?.tool_calls ?? '')).toMatchObject([
        { function: { name: 'look', arguments: '{"at":"it"}' } },
      ]);
      expect(await thread.store.messages.get(thread.id, 'a')).toEqual(a);
      await thread.begin();
      expect((await thread.messages())[0]).toMatchObject({
        id: 'a',
        status: 'completed',
        metadata: { n: 1 },
      });
      expect((await thread.messages())[0]?.metadata).not.toHaveProperty('queued');
    });

    it('are read one by one', async () => {
      const thread = await withMessages(given);
      expect(await thread.store.messages.get(thread.id, 'm3')).toMatchObject({
        id: 'm3',
        content: '3',
        status: 'completed',
      });
      expect(await thread.store.messages.get(thread.id, 'p7')).toMatchObject({ id: 'p7', status: 'pending' });
      expect(await thread.store.messages.get(thread.id, 'none')).toBeNull();
    });

    it('are injected once under their id, and start nothing', async () => {
      const thread = await openThread(given().store);
      const inject = (content: string) =>
        thread.store.messages.inject(thread.id, {
          id: 'i',
          role: 'user',
          content,
          silent: true,
          metadata: { n: 1 },
          executionId: 'execution-1',
        });
      const first = await inject('first');
      expect(first).toMatchObject({
        id: 'i',
        role: 'user',
        content: 'first',
        silent: true,
        metadata: { n: 1 },
      });
      const before = await thread.everything();
      expect(await inject('second')).toEqual(first);
      expect(await thread.everything()).toEqual(before);
      expect(await thread.begin()).toMatchObject({ kind: 'nothing_to_do' });
    });

    it('in the context of a step have their executions, oldest first, without pending ones', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.answer([message('a')]);
      await thread.rest();
      thread.afterStep = 1;
      thread.executionId = 'execution-2';
      const ref = await thread.beginCall([message('b')]);
      await thread.stash(message('c'));
      const context = await store.steps.readContext(thread.id, ref.step);
      expect(context).toMatchObject({ thread: { id: thread.id }, executionId: 'execution-2' });
      expect(context.messages.map(({ role, executionId, step }) => [role, executionId, step])).toEqual([
        ['user', 'execution-1', null],
        ['assistant', 'execution-1', 1],
        ['user', 'execution-2', null],
      ]);
    });
  });
}
