/** Files that messages name (definitions §15.4): looked up by the drain, staged, deleted with a message, and logged. */
import { describe, expect, it } from '@jest/globals';
import type { AttachmentRef } from '../../../src/core/message/message.ts';
import { png } from '../../support/image.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, stored, ThreadDriver } from '../thread-driver.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const write = (
  thread: ThreadDriver,
  path: string,
  content: Uint8Array = bytes('hi'),
  mimeType = 'text/plain',
  metadata?: object,
) => thread.store.files.write(thread.id, { path, content, mimeType, metadata: metadata as never });
const refTo = (path: string): AttachmentRef => ({
  id: path,
  type: 'file',
  path,
  name: 'x',
  mimeType: 'text/plain',
  size: 2,
});

export function registerAttachment(given: () => Stores): void {
  describe('attachments', () => {
    it('[definitions 15.4] of a queued message are looked up as it is drained', async () => {
      const thread = await openThread(given().store);
      await write(thread, '/attachments/a.png', png(4, 3), 'image/png', {
        name: 'cat.png',
        description: 'a cat',
      });
      await write(thread, '/reports/b.txt');
      await thread.begin([message('m', 'look', { attachments: ['/attachments/a.png', 'reports//b.txt'] })]);
      expect((await thread.messages())[0]).toMatchObject({
        id: 'm',
        content: 'look',
        metadata: {},
        attachments: [
          {
            id: 'm:0',
            type: 'file',
            path: '/attachments/a.png',
            name: 'cat.png',
            mimeType: 'image/png',
            width: 4,
            height: 3,
            description: 'a cat',
          },
          { id: 'm:1', type: 'file', path: '/reports/b.txt', name: 'b.txt', mimeType: 'text/plain', size: 2 },
        ],
      });
    });

    it('[definitions 15.4] that are missing do not fail the message: it names them, and so does the log', async () => {
      const thread = await openThread(given().store);
      await write(thread, '/a.txt');
      await thread.store.files.mkdir(thread.id, '/folder');
      const attachments = ['/gone.txt', '/a.txt', '/folder', '/../up'];
      await thread.begin([message('m', 'look', { attachments, metadata: { n: 1 } })]);
      const missing = ['/gone.txt', '/folder', '/../up'];
      expect((await thread.messages())[0]).toMatchObject({
        attachments: [{ path: '/a.txt' }],
        metadata: { n: 1, missingAttachments: missing },
      });
      expect(await thread.events('attachment.missing')).toMatchObject([
        { data: { messageId: 'm', paths: missing } },
      ]);
    });

    it('of a queued message are listed by path', async () => {
      const thread = await openThread(given().store);
      await thread.stash(
        message('m', '', { attachments: ['/reports/b.txt', refTo('/c.txt')] }),
        message('n'),
      );
      expect(await thread.messages()).toMatchObject([
        { id: 'm', content: '', attachments: [{ path: '/reports/b.txt', name: 'b.txt' }, refTo('/c.txt')] },
        { id: 'n', attachments: null },
      ]);
      expect(await thread.store.messages.get(thread.id, 'm')).toMatchObject({
        attachments: [{ path: '/reports/b.txt' }, {}],
      });
    });

    it('[definitions 15.4] may be staged before their thread exists, with their message', async () => {
      const thread = new ThreadDriver(given().store);
      const content = new Uint8Array(1_500_000).fill(7);
      const file = { path: '/attachments/x.bin', content, mimeType: 'application/octet-stream' };
      expect(await thread.store.files.stage(thread.id, file)).toMatchObject({
        path: '/attachments/x.bin',
        size: 1_500_000,
      });
      await thread.store.files.stage(thread.id, file);
      await thread.store.queue.stage(
        thread.id,
        message('m', 'first', { attachments: ['/attachments/x.bin'] }),
      );
      await thread.open();
      await thread.begin([stored('m')]);
      expect((await thread.messages())[0]).toMatchObject({
        attachments: [{ path: '/attachments/x.bin', size: 1_500_000 }],
      });
      expect(await thread.store.files.getStats(thread.id)).toEqual({
        fileCount: 1,
        directoryCount: 1,
        totalSize: 1_500_000,
      });
      await expect(thread.store.files.stage(thread.id, { ...file, path: '/' })).rejects.toMatchObject({
        code: 'FileConflict',
      });
    });
  });

  describe('a deleted message', () => {
    const inject = (thread: ThreadDriver, id: string, ...paths: string[]) =>
      thread.store.messages.inject(thread.id, {
        id,
        role: 'user',
        content: id,
        attachments: paths.map(refTo),
        executionId: null,
      });
    const files = async (thread: ThreadDriver) => (await thread.store.files.find(thread.id, '/**')).paths;

    it('[definitions 14.2] deletes its files, except those of another message', async () => {
      const thread = await openThread(given().store);
      for (const name of ['own', 'shared', 'queued', 'left']) await write(thread, `/attachments/${name}.txt`);
      await inject(
        thread,
        'a',
        '/attachments/own.txt',
        '/attachments/shared.txt',
        '/attachments/queued.txt',
        '/attachments/gone.txt',
      );
      await inject(thread, 'b', '/attachments/shared.txt');
      await thread.stash(message('q', 'later', { attachments: ['/attachments/queued.txt'] }));
      expect(await thread.store.messages.delete(thread.id, 'a')).toBe(true);
      expect(await files(thread)).toEqual([
        '/attachments/left.txt',
        '/attachments/queued.txt',
        '/attachments/shared.txt',
      ]);
      expect((await thread.events('file.deleted')).map(({ data }) => data)).toEqual([
        { path: '/attachments/own.txt', mimeType: 'text/plain', size: 2 },
      ]);
      expect(await thread.store.messages.delete(thread.id, 'b')).toBe(true);
      expect(await thread.store.messages.delete(thread.id, 'q')).toBe(true);
      expect(await files(thread)).toEqual(['/attachments/left.txt']);
    });

    it("[definitions 14.2] keeps files outside /attachments: they are the thread's work", async () => {
      const thread = await openThread(given().store);
      await write(thread, '/reports/report.txt');
      await inject(thread, 'a', '/reports/report.txt');
      expect(await thread.store.messages.delete(thread.id, 'a')).toBe(true);
      expect(await files(thread)).toEqual(['/reports/report.txt']);
    });

    it("[definitions 14.2] deletes the files of its calls' results", async () => {
      const thread = await openThread(given().store);
      await write(thread, '/attachments/drawn.png');
      const toolCalls = [{ id: 'c', type: 'function', function: { name: 'draw', arguments: '{}' } }] as const;
      const { step } = await thread.answer([message('m')], { messageId: 'asks', toolCalls });
      await thread.beginTool(step, 0);
      await thread.commitTool(step, 0, { message: { attachments: [refTo('/attachments/drawn.png')] } });
      expect(await thread.store.messages.delete(thread.id, 'asks')).toBe(true);
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['m']);
      expect(await files(thread)).toEqual([]);
    });
  });

  describe('the log', () => {
    it('[runtime 12] records changed files and values, and nothing for unchanged ones', async () => {
      const { store, id } = await openThread(given().store);
      const thread = new ThreadDriver(store, id);
      await write(thread, '/a.txt');
      await write(thread, '/a.txt');
      await write(thread, '/a.txt', bytes('more'));
      await write(thread, '/a.txt', bytes('more'), 'text/markdown');
      await thread.store.files.unlink(id, '/a.txt');
      await thread.store.files.unlink(id, '/a.txt');
      await store.values.set(id, 'k', 1);
      await store.values.set(id, 'k', 1);
      await store.values.set(id, 'k', 2);
      await store.values.set(id, 'k', null);
      await store.values.set(id, 'k', null);
      const told = await thread.events('file.created', 'file.updated', 'file.deleted', 'value.changed');
      expect(told.map(({ type, data }) => [type, data])).toEqual([
        ['file.created', { path: '/a.txt', mimeType: 'text/plain', size: 2 }],
        ['file.updated', { path: '/a.txt', mimeType: 'text/plain', size: 4 }],
        ['file.updated', { path: '/a.txt', mimeType: 'text/markdown', size: 4 }],
        ['file.deleted', { path: '/a.txt', mimeType: 'text/markdown', size: 4 }],
        ['value.changed', { key: 'k' }],
        ['value.changed', { key: 'k' }],
        ['value.changed', { key: 'k' }],
      ]);
    });
  });
}
