/** Files sent along with messages between threads of a family (runtime §7.4, §8; definitions §13.6). */
import { describe, expect, it } from '@jest/globals';
import { readWholeFile } from '../../../src/store/file/file-content.ts';
import { png } from '../../support/image.ts';
import type { Stores } from '../store-contract.ts';
import { message, ThreadDriver } from '../thread-driver.ts';
import { create, createOpened, newChild, openParent, work } from './family-driver.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

export function registerFamilyFiles(given: () => Stores): void {
  const write = (thread: ThreadDriver, path: string, content: string, metadata?: Record<string, unknown>) =>
    thread.store.files.write(thread.id, { path, content: bytes(content), mimeType: 'text/plain', metadata });
  const read = async ({ store, id }: ThreadDriver, path: string) => {
    const content = await readWholeFile(store, id, path);
    return content && new TextDecoder().decode(content);
  };
  const pending = async (thread: ThreadDriver) =>
    (await thread.messages()).filter(({ status }) => status === 'pending');

  describe('files in a family', () => {
    it('[runtime 8] are copied to a child under a path of its own, with the metadata shown to people', async () => {
      const { store } = given();
      const parent = await openParent(store);
      await store.files.write(parent.id, {
        path: '/attachments/p1.png',
        content: png(4, 3),
        mimeType: 'image/png',
        metadata: { name: 'Die Katze (1).png', description: 'a cat', n: 1 },
        thumbnail: bytes('small'),
      });
      await write(parent, '/notes.txt', 'parental');
      const attachments = ['/attachments/p1.png', '/notes.txt'];
      const child = newChild({
        messages: [message('m', 'see /attachments/p1.png and /notes.txt.', { attachments })],
      });
      await create(parent, { child });
      const thread = new ThreadDriver(store, child.threadId);
      const [told] = await pending(thread);
      const [cat, notes] = told?.attachments ?? [];
      expect(cat).toMatchObject({
        id: 'm:0',
        name: 'Die Katze (1).png',
        mimeType: 'image/png',
        description: 'a cat',
        width: 4,
        height: 3,
        path: expect.stringMatching(/^\/attachments\/Die_Katze_1_-[0-9a-f]{8}\.png$/),
      });
      expect(notes).toMatchObject({
        id: 'm:1',
        name: 'notes.txt',
        size: 8,
        path: expect.stringMatching(/^\/attachments\/notes-[0-9a-f]{8}\.txt$/),
      });
      expect(told?.content).toBe(`see ${cat?.path} and ${notes?.path}.`);
      expect(await store.files.stat(child.threadId, cat?.path ?? '')).toMatchObject({
        metadata: { name: 'Die Katze (1).png', description: 'a cat', n: 1 },
      });
      expect(await store.files.getThumbnail(child.threadId, cat?.path ?? '')).toEqual(bytes('small'));
      expect(await thread.events('file.created')).toHaveLength(2);
      // Each thread has its own copy: removing one leaves the other.
      await store.files.unlink(parent.id, '/notes.txt');
      expect(await read(thread, notes?.path ?? '')).toBe('parental');
      await write(thread, notes?.path ?? '', 'changed');
      expect(await read(parent, '/notes.txt')).toBeNull();
    });

    it('are copied once for a repeated message, and again for another one', async () => {
      const { store } = given();
      const parent = await openParent(store);
      await write(parent, '/a.txt', 'a');
      const child = newChild({ messages: [message('m', 'x', { attachments: ['/a.txt', '/a.txt'] })] });
      await create(parent, { child });
      await create(parent, { child });
      const told = (id: string) => ({
        parentId: parent.id,
        childId: child.threadId,
        message: message(id, 'y', { attachments: ['/a.txt'] }),
        call: { step: 1, index: 0 },
        waits: false,
      });
      await store.children.send(told('n'));
      await store.children.send(told('n'));
      expect(await store.files.getStats(child.threadId)).toMatchObject({ fileCount: 2 });
      const paths = (await pending(new ThreadDriver(store, child.threadId))).flatMap(
        ({ attachments }) => attachments?.map(({ path }) => path) ?? [],
      );
      expect(paths).toHaveLength(3);
      expect(new Set(paths).size).toBe(2);
    });

    it('that are missing do not fail the message, which names them', async () => {
      const { store } = given();
      const parent = await openParent(store);
      await write(parent, '/a.txt', 'a');
      const attachments = ['/gone.txt', '/a.txt', '/../up'];
      const child = newChild({ messages: [message('m', 'x', { attachments, metadata: { n: 1 } })] });
      expect(await create(parent, { child })).toMatchObject({ kind: 'created' });
      const thread = new ThreadDriver(store, child.threadId);
      expect(await pending(thread)).toMatchObject([
        { metadata: { n: 1, missingAttachments: ['/gone.txt', '/../up'] }, attachments: [{ name: 'a.txt' }] },
      ]);
      expect(await thread.events('attachment.missing')).toHaveLength(1);
    });

    it.each([true, false])(
      '[runtime 8] are delivered to the parent with a report; to a call: %s',
      async (waits) => {
        const { store, second } = given();
        const parent = await openParent(store);
        const child = await createOpened(parent, { waits });
        await write(child, '/out/report.md', 'done', { name: 'Report.md' });
        const attachments = ['/out/report.md', '/gone'];
        const id = await work(child, { content: 'see /out/report.md', attachments });
        await Promise.all([store.reports.deliver(child.id, id), second.reports.deliver(child.id, id)]);
        expect(await store.files.getStats(parent.id)).toMatchObject({ fileCount: 1 });
        const [queued] = await pending(parent);
        const { report } = (await store.children.readCall(parent.id, { step: 1, index: 0 })) ?? {};
        const refs = (waits ? report?.attachments : queued?.attachments) ?? [];
        expect(refs).toMatchObject([
          { name: 'Report.md', path: expect.stringMatching(/^\/attachments\/Report-[0-9a-f]{8}\.md$/) },
        ]);
        const [ref] = refs;
        expect(await read(parent, ref?.path ?? '')).toBe('done');
        expect(waits ? report?.content : queued?.content).toContain(`see ${ref?.path}`);
        expect(Boolean(queued)).toBe(!waits);
        if (!waits) {
          expect(queued?.content).toContain(`Attachments:\n${ref?.path}`);
          expect(queued?.metadata).toMatchObject({ missingAttachments: ['/gone'] });
          // The reference is still valid when the message is taken.
          parent.afterStep = 1;
          await parent.commitTool(1, 0, { attempt: 'subagent' });
          await parent.begin([]);
          expect((await parent.messages()).at(-1)).toMatchObject({ status: 'completed', attachments: [ref] });
        }
      },
    );

    it('of an unsolicited message of a child are delivered with it', async () => {
      const { store } = given();
      const parent = await openParent(store);
      const child = await createOpened(parent);
      await write(child, '/a.txt', 'a');
      await store.children.sendToParent(child.id, message('n', 'look', { attachments: ['/a.txt'] }));
      const [queued] = await pending(parent);
      expect(await read(parent, queued?.attachments?.[0]?.path ?? '')).toBe('a');
    });
  });
}
