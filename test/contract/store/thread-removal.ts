/** Deletion of threads. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message, openThread } from '../thread-driver.ts';

const bytes = new TextEncoder().encode('of two threads');

export function registerThreadRemoval(given: () => Stores): void {
  describe('a deleted thread', () => {
    it('leaves only its id and its end; other threads are unchanged, and a second deletion does nothing', async () => {
      const { store, second } = given();
      const [thread, other] = [await openThread(store), await openThread(store)];
      const tag = randomUUID();
      for (const each of [thread, other]) {
        await each.answer([message(`m-${each.id}`)]);
        await store.files.write(each.id, { path: '/a.txt', content: bytes, mimeType: 'text/plain' });
        await store.env.set({ owner: { thread: each.id }, name: 'KEY', value: 'x' });
        await store.values.set(each.id, 'k', 1);
        await store.threads.setTags(each.id, [tag]);
      }
      // More rows than are deleted in one transaction.
      await thread.stash(...Array.from({ length: 600 }, (_, n) => message(`queued-${n}`)));
      await expect(store.threads.remove(thread.id)).rejects.toMatchObject({ code: 'ThreadBusy' });
      await store.threads.terminate(thread.id, 'its owner wants it so');
      await store.threads.remove(thread.id);
      const gone = await store.threads.get(thread.id);
      expect(gone).toMatchObject({
        status: 'terminated',
        tags: [],
        arguments: {},
        userId: null,
        messageCount: 0,
        deletedAt: expect.any(Number),
      });
      expect(await thread.messages()).toEqual([]);
      expect(await thread.events()).toMatchObject([{ type: 'thread.terminated', data: { reason: null } }]);
      expect(await store.executions.list({ threadId: thread.id })).toEqual([]);
      expect((await store.files.getStats(thread.id)).fileCount).toBe(0);
      expect(await store.env.list({ thread: thread.id })).toEqual([]);
      expect(await store.values.get(thread.id, 'k')).toBeNull();
      expect(await store.threads.list({ tag })).toMatchObject([{ id: other.id }]);
      // Both threads had the content: it stays with the one that is left.
      const file = await store.files.open(other.id, '/a.txt');
      expect(
        await store.files.readChunk(other.id, { path: '/a.txt', contentId: file?.contentId ?? '', index: 0 }),
      ).toEqual(bytes);
      await second.threads.remove(thread.id);
      expect(await store.threads.get(thread.id)).toEqual(gone);
      // The id stays used up, and nothing can be written to the thread.
      expect(await thread.open()).toMatchObject({ kind: 'terminated' });
      await expect(store.values.set(thread.id, 'k', 2)).rejects.toMatchObject({ code: 'ThreadTerminated' });
      await expect(store.threads.setTags(thread.id, ['x'])).rejects.toMatchObject({ code: 'ThreadNotFound' });
      await expect(store.threads.remove('nobody')).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });
  });
}
