/** Tasks of remote agents, keyed by the calls that created them. */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const ids = (thread: ThreadDriver, index = 0) => ({
  ...{ threadId: thread.id, step: 1, index, agent: 'expert' },
  ...{ contextId: `et-${thread.id}`, messageId: `et-m-${thread.id}-${index}` },
});
const endpoint = { url: 'http://127.0.0.1:1/a2a', binding: 'JSONRPC' };

async function calling(given: () => Stores, ...names: string[]): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  const toolCalls = names.map((name, n) => call(`c${n}`, name, '{}'));
  await thread.answer([message('a')], { content: null, toolCalls });
  return thread;
}

export function registerA2a(given: () => Stores): void {
  describe('a task of a remote agent', () => {
    it('is created once for its call, before its address is known, and read from another process', async () => {
      const { store, second } = given();
      const thread = await calling(given, 'a2a__expert');
      const begun = await store.a2a.begin(ids(thread));
      expect(begun).toMatchObject({ ...ids(thread), endpoint: null, taskId: null, answers: 0, open: true });
      const key = { threadId: thread.id, step: 1, index: 0 };
      await store.a2a.note({ ...key, endpoint });
      const again = await second.a2a.begin({ ...ids(thread), messageId: 'another', contextId: 'another' });
      expect(again).toEqual({ ...begun, endpoint });
      // The message has certainly not been received, so the row is as before it was sent.
      expect(await second.a2a.note({ ...key, endpoint: null })).toMatchObject({ endpoint: null });
      expect(await store.a2a.note({ ...key, index: 7, taskId: 't' })).toBeNull();
    });

    it('keeps the first task id, logged once', async () => {
      const { store, second } = given();
      const thread = await calling(given, 'a2a__expert');
      await store.a2a.begin(ids(thread));
      const key = { threadId: thread.id, step: 1, index: 0 };
      await Promise.all(
        [store, second].map((each) => each.a2a.note({ ...key, taskId: 'task-1', reached: true })),
      );
      expect(await store.a2a.note({ ...key, taskId: 'task-2' })).toMatchObject({ taskId: 'task-1' });
      expect((await thread.events('a2a.task')).map(({ data }) => data)).toEqual([
        { agent: 'expert', taskId: 'task-1', contextId: `et-${thread.id}` },
      ]);
    });

    it('counts answers possibly received, and goes back only for one certainly not received', async () => {
      const { store } = given();
      const thread = await calling(given, 'a2a__expert');
      await store.a2a.begin(ids(thread));
      const note = async (news: object) =>
        (await store.a2a.note({ threadId: thread.id, step: 1, index: 0, ...news }))?.answers;
      expect(await note({ answers: 1 })).toBe(1);
      expect(await note({ answers: 2 })).toBe(2);
      expect(await note({ answers: 1 })).toBe(2);
      expect(await note({ unsent: 1 })).toBe(1);
      expect(await note({ unsent: 1 })).toBe(1);
      expect(await note({ unsent: 4 })).toBe(1);
    });

    it('records since when it is unreachable, and clears that once it is reached', async () => {
      const { store } = given();
      const thread = await calling(given, 'a2a__expert');
      await store.a2a.begin(ids(thread));
      const note = async (reached: boolean) =>
        (await store.a2a.note({ threadId: thread.id, step: 1, index: 0, reached }))?.silentSince;
      const since = await note(false);
      expect(since).toEqual(expect.any(Number));
      expect(await note(false)).toBe(since);
      expect(await note(true)).toBeNull();
    });

    it('is wanted while its call is open and its thread lives, and listed until it ended or failed a hundred times', async () => {
      const { store, second } = given();
      const thread = await calling(given, 'a2a__expert', 'a2a__expert');
      const unwanted = async () => (await second.a2a.listUnwanted(thread.id)).map(({ index }) => index);
      for (const index of [0, 1]) {
        await store.a2a.begin(ids(thread, index));
        await thread.beginTool(1, index);
      }
      expect(await unwanted()).toEqual([]);
      await thread.commitTool(1, 0, { result: { status: 'error', error: 'too late' } });
      expect(await unwanted()).toEqual([0]);
      const key = { threadId: thread.id, step: 1 };
      for (let look = 0; look < 99; look++) await store.a2a.note({ ...key, index: 0, cancelFailed: true });
      expect(await unwanted()).toEqual([0]);
      await store.a2a.note({ ...key, index: 0, cancelFailed: true });
      expect(await unwanted()).toEqual([]);
      await store.threads.terminate(thread.id, 'its owner wants it so');
      expect(await unwanted()).toEqual([1]);
      await expect(store.a2a.begin(ids(thread, 2))).rejects.toMatchObject({ code: 'ThreadTerminated' });
      await store.a2a.note({ ...key, index: 1, over: true });
      expect(await unwanted()).toEqual([]);
    });
  });
}
