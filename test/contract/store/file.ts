/** The tree of a thread's files: names, directories, what is refused. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { Stores } from '../store-contract.ts';
import { openThread } from '../thread-driver.ts';

const encoder = new TextEncoder();

/** A new thread, and operations on its files. */
export async function filesOf(store: ThreadStore) {
  const thread = await openThread(store);
  const { id } = thread;
  return {
    thread,
    id,
    write: (path: string, content: string | Uint8Array = path, mimeType = 'text/plain', more = {}) =>
      store.files.write(id, {
        path,
        content: typeof content === 'string' ? encoder.encode(content) : content,
        mimeType,
        ...more,
      }),
    list: async (path: string) =>
      (await store.files.readdir(id, path)).entries.map(
        (entry) => entry.path + (entry.isDirectory ? '/' : ''),
      ),
    stats: () => store.files.getStats(id),
  };
}

export function registerFile(given: () => Stores): void {
  describe('files', () => {
    it('are written, described and removed', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      const written = await write('docs//note.md', 'hello', 'text/markdown; charset=utf-8', {
        metadata: { by: 'me' },
      });
      expect(written).toEqual({
        path: '/docs/note.md',
        name: 'note.md',
        mimeType: 'text/markdown; charset=utf-8',
        storage: 'local',
        size: 5,
        metadata: { by: 'me' },
        isDirectory: false,
        createdAt: expect.any(Number),
        updatedAt: written.createdAt,
      });
      expect(Math.abs(Date.now() - written.createdAt)).toBeLessThan(60_000);
      expect(await store.files.stat(id, '/docs/note.md/')).toEqual(written);
      await store.files.unlink(id, 'docs/note.md');
      expect(await store.files.stat(id, '/docs/note.md')).toBeNull();
      await store.files.unlink(id, 'docs/note.md');
    });

    it('are replaced completely by a second write, except their creation time', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      const first = await write('/a', 'first', 'text/plain', {
        metadata: { n: 1 },
        thumbnail: new Uint8Array(3),
        width: 2,
        height: 3,
      });
      expect(first).toMatchObject({ width: 2, height: 3 });
      const second = await write('/a', 'the second', 'application/json');
      expect(second).toEqual({
        ...(await store.files.stat(id, '/a')),
        path: '/a',
        mimeType: 'application/json',
        size: 10,
        metadata: null,
        createdAt: first.createdAt,
      });
      expect(second).toEqual(expect.not.objectContaining({ width: expect.anything() }));
      expect(second.updatedAt).toBeGreaterThanOrEqual(first.updatedAt);
      expect(await store.files.getThumbnail(id, '/a')).toBeNull();
    });

    it('create their parent directories, which are removed with the last file', async () => {
      const { store } = given();
      const { id, write, list, stats } = await filesOf(store);
      await write('/a/b/c/one');
      await write('/a/b/two');
      await write('/a/three');
      expect([await list('/'), await list('/a'), await list('/a/b'), await list('a/b/c/')]).toEqual([
        ['/a/'],
        ['/a/b/', '/a/three'],
        ['/a/b/c/', '/a/b/two'],
        ['/a/b/c/one'],
      ]);
      expect(await store.files.stat(id, '/a/b')).toMatchObject({
        name: 'b',
        mimeType: 'inode/directory',
        isDirectory: true,
        size: 0,
      });
      expect(await stats()).toMatchObject({ fileCount: 3, directoryCount: 3 });
      await store.files.unlink(id, '/a/b/c/one');
      expect([await list('/a/b'), await store.files.stat(id, '/a/b/c')]).toEqual([['/a/b/two'], null]);
      await store.files.unlink(id, '/a/three');
      await store.files.unlink(id, '/a/b/two');
      expect(await list('/')).toEqual([]);
      expect(await stats()).toEqual({ fileCount: 0, directoryCount: 0, totalSize: 0 });
    });

    it('leave explicitly created directories in place', async () => {
      const { store } = given();
      const { id, write, list } = await filesOf(store);
      const made = await store.files.mkdir(id, '/kept/too');
      expect(made).toMatchObject({
        path: '/kept/too',
        name: 'too',
        mimeType: 'inode/directory',
        isDirectory: true,
      });
      expect(await store.files.mkdir(id, '/kept/too/')).toEqual(made);
      await write('/kept/too/deep/file');
      await write('/implied/file');
      expect(await store.files.mkdir(id, '/implied')).toMatchObject({ path: '/implied', isDirectory: true });
      await store.files.unlink(id, '/kept/too/deep/file');
      await store.files.unlink(id, '/implied/file');
      expect([await list('/'), await list('/kept'), await list('/kept/too'), await list('/implied')]).toEqual(
        [['/implied/', '/kept/'], ['/kept/too/'], [], []],
      );
      await store.files.rmdir(id, '/kept/too');
      expect(await list('/')).toEqual(['/implied/']);
    });

    it('are listed directories first, then by name, in the same order on each engine', async () => {
      const { store } = given();
      const { write, list } = await filesOf(store);
      for (const name of ['b', 'A', 'a', 'B', '_', 'ä', 'z/x', 'Z/x', '1']) await write(`/${name}`);
      expect(await list('/')).toEqual(['/Z/', '/z/', '/1', '/A', '/B', '/_', '/a', '/b', '/ä']);
    });

    it('with paths that a database might equate are distinct', async () => {
      const { store } = given();
      const { write, list } = await filesOf(store);
      for (const name of ['a', 'A', 'a ', 'a%', 'a_', 'a*', "a'", 'a\\', '\u00e9', 'e\u0301'])
        await write(`/d/${name}`);
      await write('/d_/x');
      await write('/d%/x');
      expect(await list('/d')).toHaveLength(10);
      expect(await list('/')).toHaveLength(3);
    });

    it('keep a non-empty directory from being removed', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      await write('/a/b');
      await expect(store.files.rmdir(id, '/a')).rejects.toMatchObject({
        code: 'FileConflict',
        message: 'directory not empty: /a',
      });
      await store.files.rmdir(id, '/missing');
    });

    type Act = (store: ThreadStore, id: string) => Promise<unknown>;
    const write = (path: string): Act => {
      return (store, id) =>
        store.files.write(id, { path, content: new Uint8Array(1), mimeType: 'text/plain' });
    };
    it.each<[string, Act, string]>([
      ['a file where a directory is', write('/dir'), 'is a directory: /dir'],
      ['a file at /', write('/'), 'is a directory: /'],
      ['a file below a file', write('/file/x/y'), 'not a directory: /file'],
      [
        'a directory where a file is',
        (store, id) => store.files.mkdir(id, '/file'),
        'not a directory: /file',
      ],
      ['a directory below a file', (store, id) => store.files.mkdir(id, '/file/x'), 'not a directory: /file'],
      ['unlink of a directory', (store, id) => store.files.unlink(id, '/dir'), 'is a directory: /dir'],
      ['unlink of /', (store, id) => store.files.unlink(id, '/'), 'is a directory: /'],
      ['rmdir of a file', (store, id) => store.files.rmdir(id, '/file'), 'not a directory: /file'],
      ['rmdir of /', (store, id) => store.files.rmdir(id, '/'), '/ cannot be removed'],
      ['readdir of a file', (store, id) => store.files.readdir(id, '/file'), 'not a directory: /file'],
    ])('refuse %s', async (_, act, message) => {
      const { store } = given();
      const files = await filesOf(store);
      await files.write('/file');
      await store.files.mkdir(files.id, '/dir');
      const before = [await files.list('/'), await files.stats()];
      await expect(act(store, files.id)).rejects.toMatchObject({ code: 'FileConflict', message });
      expect([await files.list('/'), await files.stats()]).toEqual(before);
    });

    it('have a root that always exists', async () => {
      const { store } = given();
      const { id, list } = await filesOf(store);
      const root = { path: '/', name: '/', isDirectory: true, mimeType: 'inode/directory' };
      expect(await store.files.stat(id, '')).toMatchObject(root);
      expect(await store.files.mkdir(id, '/')).toMatchObject(root);
      expect([await list('/'), await list('/nothing/here')]).toEqual([[], []]);
    });

    it('belong to one thread', async () => {
      const { store } = given();
      const [mine, other] = [await filesOf(store), await filesOf(store)];
      await mine.write('/secret/plan', 'needle');
      const file = await store.files.open(mine.id, '/secret/plan');
      expect([await other.list('/'), await store.files.stat(other.id, '/secret/plan')]).toEqual([[], null]);
      expect(await store.files.open(other.id, '/secret/plan')).toBeNull();
      expect(await store.files.find(other.id, '*')).toEqual({ paths: [] });
      expect(await store.files.grep(other.id, 'needle')).toEqual([]);
      await other.write('/secret/plan', 'another');
      // The id of a content that has leaked opens nothing in another thread.
      const chunk = { path: '/secret/plan', contentId: file?.contentId as string, index: 0 };
      expect(await store.files.readChunk(other.id, chunk)).toBeNull();
      expect(await store.files.readChunk(mine.id, chunk)).toEqual(encoder.encode('needle'));
      await store.files.unlink(other.id, '/secret/plan');
      expect(await mine.stats()).toEqual({ fileCount: 1, directoryCount: 1, totalSize: 6 });
    });

    it('of an unknown thread are absent, and cannot be written', async () => {
      const { store } = given();
      expect(await store.files.stat('nobody', '/')).toBeNull();
      expect(await store.files.readdir('nobody', '/')).toEqual({ entries: [] });
      expect(await store.files.open('nobody', '/a')).toBeNull();
      for (const act of [write('/a'), (s: ThreadStore, id: string) => s.files.mkdir(id, '/a')])
        await expect(act(store, 'nobody')).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });

    it('of a terminated thread can be read and not changed', async () => {
      const { store } = given();
      const files = await filesOf(store);
      await files.write('/a/b', 'text');
      await files.thread.rest('terminated');
      const acts: Act[] = [
        write('/new'),
        write('/a/b'),
        (s, id) => s.files.mkdir(id, '/c'),
        (s, id) => s.files.rmdir(id, '/a'),
        (s, id) => s.files.unlink(id, '/a/b'),
      ];
      for (const act of acts)
        await expect(act(store, files.id)).rejects.toMatchObject({ code: 'ThreadTerminated' });
      expect([await files.list('/a'), await store.files.find(files.id, 'b')]).toEqual([
        ['/a/b'],
        { paths: ['/a/b'] },
      ]);
    });
  });
}
