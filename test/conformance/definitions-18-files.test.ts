/** definitions §18: paths, files and directories of a thread. Searches and storage are in definitions-18-storage. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createThreadFiles } from '../../src/author/state/thread-state.ts';
import type { FileChunk, FileContent, ThreadFiles } from '../../src/core/file/thread-file.ts';
import { openThread } from '../contract/thread-driver.ts';
import { gif, jpeg, png, webp } from '../support/image.ts';
import { testStore } from '../support/runtime.ts';

const MIB = 1024 * 1024;
const text = (buffer: ArrayBuffer | null) => (buffer ? new TextDecoder().decode(buffer) : null);
const buffer = (content: string): ArrayBuffer => new TextEncoder().encode(content).buffer as ArrayBuffer;

/** The files of a thread, through the interface that its tools have. */
let files: ThreadFiles;
beforeEach(async () => {
  const store = await testStore();
  files = createThreadFiles(store, (await openThread(store)).id);
});

const list = async (path: string) =>
  (await files.readdirFile(path)).entries.map(({ path, isDirectory }) => path + (isDirectory ? '/' : ''));

describe('definitions §18 paths', () => {
  it.each([
    ['a leading / is added', 'a/b', '/a/b'],
    ['repeated / are one', '//a///b', '/a/b'],
    ['a trailing / is dropped', '/a/b/', '/a/b'],
  ])('[definitions 18] %s: %j is %j', async (_, given, path) => {
    expect(await files.writeFile(given, 'x', 'text/plain')).toMatchObject({ path, name: 'b' });
    for (const same of [given, path]) {
      expect(await files.statFile(same)).toMatchObject({ path });
      expect(text(await files.readFile(same))).toBe('x');
    }
  });

  it.each([
    '/a/../b',
    '../../etc/passwd',
    '/./a',
    'a\0b',
    '/a\r\nb',
    `/${'n'.repeat(256)}`,
    '/abc'.repeat(300),
  ])('[definitions 18] %j is refused by every method', async (path) => {
    const acts: (() => Promise<unknown>)[] = [
      () => files.writeFile(path, 'x', 'text/plain'),
      () => files.readFile(path),
      () => files.readFileStream(path),
      () => files.statFile(path),
      () => files.readdirFile(path),
      () => files.unlinkFile(path),
      () => files.mkdirFile(path),
      () => files.rmdirFile(path),
      () => files.getFileThumbnail(path),
    ];
    for (const act of acts) await expect(act()).rejects.toMatchObject({ code: 'InvalidPath' });
  });
});

describe('definitions §18 files', () => {
  it.each<[string, FileContent, string]>([
    ['a text', 'héllo', 'text/plain'],
    ['a text for a binary type, as its UTF-8', 'héllo', 'application/octet-stream'],
    ['an ArrayBuffer', buffer('héllo'), 'text/markdown'],
    ['bytes', new Uint8Array(buffer('héllo')), 'application/pdf'],
    ['a view of a part of a buffer', new Uint8Array(buffer('--héllo--'), 2, 6), 'text/plain'],
    ['a Node buffer', Buffer.from('héllo'), 'text/plain'],
  ])(
    '[definitions 18] writeFile takes %s, and readFile returns an ArrayBuffer of it',
    async (_, data, type) => {
      const record = await files.writeFile('/f', data, type);
      expect(record).toMatchObject({
        size: 6,
        mimeType: type,
        storage: 'local',
        isDirectory: false,
        metadata: null,
      });
      const read = await files.readFile('/f');
      expect(Object.prototype.toString.call(read)).toBe('[object ArrayBuffer]');
      expect([read?.byteLength, text(read)]).toEqual([6, 'héllo']);
    },
  );

  it('[definitions 18] changes of the buffer after writeFile are not written', async () => {
    const mine = new Uint8Array(3 * MIB).fill(1);
    const writing = files.writeFile('/f', mine, 'application/octet-stream');
    mine.fill(2);
    await writing;
    expect(new Uint8Array((await files.readFile('/f')) as ArrayBuffer).every((byte) => byte === 1)).toBe(
      true,
    );
  });

  it('[definitions 18] a FileRecord has times in milliseconds; a second write replaces all but the creation time', async () => {
    const first = await files.writeFile('/f', 'one', 'text/plain', {
      metadata: { a: [1] },
      width: 4,
      height: 2,
    });
    expect(Math.abs(Date.now() - first.createdAt)).toBeLessThan(60_000);
    expect(first).toMatchObject({ metadata: { a: [1] }, width: 4, height: 2, name: 'f' });
    const second = await files.writeFile('/f', 'second', 'application/json');
    expect(second).toEqual({
      path: '/f',
      name: 'f',
      mimeType: 'application/json',
      storage: 'local',
      size: 6,
      metadata: null,
      isDirectory: false,
      createdAt: first.createdAt,
      updatedAt: second.updatedAt,
    });
    expect(await files.statFile('/f')).toEqual(second);
  });

  it('[definitions 18] readFile, readFileStream, statFile and getFileThumbnail return null for a missing file', async () => {
    await files.mkdirFile('/dir');
    expect([
      await files.readFile('/none'),
      await files.readFileStream('/none'),
      await files.statFile('/none'),
      await files.getFileThumbnail('/none'),
      await files.readFile('/dir'),
      await files.readFileStream('/dir'),
    ]).toEqual([null, null, null, null, null, null]);
  });

  it('[definitions 18] readFileStream yields chunks in order, the last one marked; a signal aborts it', async () => {
    const content = new Uint8Array(2.5 * MIB).map((_, n) => n % 251);
    const record = await files.writeFile('/f', content, 'application/octet-stream');
    expect(record).toMatchObject({ isChunked: true, chunkCount: 3 });
    const chunks: FileChunk[] = [];
    for await (const chunk of (await files.readFileStream('/f')) ?? []) chunks.push(chunk);
    expect(chunks.map(({ data, ...chunk }) => ({ ...chunk, bytes: data.length }))).toEqual([
      { index: 0, totalChunks: 3, isLast: false, bytes: MIB },
      { index: 1, totalChunks: 3, isLast: false, bytes: MIB },
      { index: 2, totalChunks: 3, isLast: true, bytes: MIB / 2 },
    ]);
    expect(Buffer.concat(chunks.map(({ data }) => data)).equals(content)).toBe(true);
    const abort = new AbortController();
    const stopped = (async () => {
      for await (const { index } of (await files.readFileStream('/f', { signal: abort.signal })) ?? []) {
        expect(index).toBe(0);
        abort.abort(new Error('enough'));
      }
    })();
    await expect(stopped).rejects.toThrow('enough');
  });

  it('[definitions 18] unlinkFile removes a file; a missing one is no error', async () => {
    await files.writeFile('/a/f', 'x', 'text/plain');
    await files.unlinkFile('/a/f');
    await files.unlinkFile('/a/f');
    expect([await files.readFile('/a/f'), await list('/')]).toEqual([null, []]);
  });

  it.each<[string, Uint8Array, string, unknown]>([
    ['a PNG', png(30, 20), 'image/png', { width: 30, height: 20 }],
    ['a JPEG', jpeg(30, 20), 'image/jpeg', { width: 30, height: 20 }],
    ['a GIF', gif(30, 20), 'image/gif', { width: 30, height: 20 }],
    ['a WebP', webp('VP8X', 30, 20), 'image/webp', { width: 30, height: 20 }],
    ['something else', png(30, 20), 'application/pdf', {}],
  ])('[definitions 18] width and height of %s are those of its header', async (_, content, type, size) => {
    const { width, height } = await files.writeFile('/f', content, type);
    expect({ width, height }).toEqual(size);
    const given = await files.writeFile('/f', content, type, { width: 7, height: 9 });
    expect(given).toMatchObject({ width: 7, height: 9 });
  });

  it('[definitions 18] getFileThumbnail returns the thumbnail of the write, and null after a write without one', async () => {
    await files.writeFile('/f', png(9, 9), 'image/png', { thumbnail: buffer('tiny') });
    const thumbnail = await files.getFileThumbnail('/f');
    expect([thumbnail?.byteLength, text(thumbnail)]).toEqual([4, 'tiny']);
    await files.writeFile('/f', png(9, 9), 'image/png');
    expect(await files.getFileThumbnail('/f')).toBeNull();
  });
});

describe('definitions §18 directories', () => {
  it('[definitions 18] readdirFile lists immediate children, directories first, then by name, with those that files imply', async () => {
    for (const path of ['/b', '/a', '/z/deep/x', '/y/x']) await files.writeFile(path, 'x', 'text/plain');
    await files.mkdirFile('/c');
    expect(await list('/')).toEqual(['/c/', '/y/', '/z/', '/a', '/b']);
    expect([await list('/z'), await list('/z/deep'), await list('/c'), await list('/missing')]).toEqual([
      ['/z/deep/'],
      ['/z/deep/x'],
      [],
      [],
    ]);
  });

  it('[definitions 18] mkdirFile is idempotent and gives inode/directory', async () => {
    const made = await files.mkdirFile('/a/b');
    expect(made).toMatchObject({ path: '/a/b', name: 'b', mimeType: 'inode/directory', isDirectory: true });
    expect(await files.mkdirFile('a/b/')).toEqual(made);
    expect(await list('/a')).toEqual(['/a/b/']);
  });

  it('[definitions 18] rmdirFile removes an empty directory, and reports a non-empty one as an error', async () => {
    await files.mkdirFile('/a');
    await files.writeFile('/a/f', 'x', 'text/plain');
    await expect(files.rmdirFile('/a')).rejects.toThrow('directory not empty');
    await files.unlinkFile('/a/f');
    await files.rmdirFile('/a');
    expect(await list('/')).toEqual([]);
  });

  it('[definitions 18] getFileStats counts files, directories and bytes', async () => {
    expect(await files.getFileStats()).toEqual({ fileCount: 0, directoryCount: 0, totalSize: 0 });
    await files.writeFile('/a/one', 'xx', 'text/plain');
    await files.writeFile('/a/two', 'xx', 'text/plain');
    await files.writeFile('/three', 'xxx', 'text/plain');
    await files.mkdirFile('/b');
    expect(await files.getFileStats()).toEqual({ fileCount: 3, directoryCount: 2, totalSize: 7 });
  });
});
