/** File contents: chunked, shared by files with equal content, removed with the last of them; searches; limits. */
import { describe, expect, it } from '@jest/globals';
import type { FileChunk } from '../../../src/core/file/thread-file.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';
import { readWholeFile, streamFile } from '../../../src/store/file/file-content.ts';
import type { Stores } from '../store-contract.ts';
import { filesOf } from './file.ts';

const CHUNK = LIMITS.fileChunkBytes;

/** Bytes without long repeated sequences. */
function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let n = 0; n < length; n++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[n] = state >>> 24;
  }
  return bytes;
}

const same = (a: ArrayBuffer | null, b: Uint8Array) => a !== null && Buffer.from(a).equals(b);

export function registerFileContent(given: () => Stores): void {
  describe('the content of a file', () => {
    it.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7])(
      'of %i bytes is read back complete, and in chunks',
      async (size) => {
        const { store, second } = given();
        const { id, write } = await filesOf(store);
        const content = bytesOf(size);
        const record = await write('/data', content, 'application/octet-stream');
        const count = Math.ceil(size / CHUNK);
        expect(record.size).toBe(size);
        expect(record.chunkCount).toBe(count > 1 ? count : undefined);
        expect(await second.files.stat(id, '/data')).toEqual(record);
        expect(same(await readWholeFile(second, id, 'data'), content)).toBe(true);
        const chunks: FileChunk[] = [];
        for await (const chunk of (await streamFile(second, id, '/data')) ?? []) chunks.push(chunk);
        const total = Math.max(1, count);
        expect(chunks.map(({ index, totalChunks, isLast }) => [index, totalChunks, isLast])).toEqual(
          Array.from({ length: total }, (_, n) => [n, total, n === total - 1]),
        );
        expect(chunks.every(({ data }) => data.length <= CHUNK)).toBe(true);
        // The buffer behind a chunk holds nothing else.
        expect(chunks.every(({ data }) => data.buffer.byteLength === data.length)).toBe(true);
        expect(Buffer.concat(chunks.map(({ data }) => data)).equals(content)).toBe(true);
      },
    );

    it('is stored once for all files that share it, and removed with the last', async () => {
      const { store, second } = given();
      const [a, b] = [await filesOf(store), await filesOf(store)];
      for (const size of [100, CHUNK + 1]) {
        const content = bytesOf(size, size);
        const id = async ({ id: thread }: typeof a, path: string) =>
          (await store.files.open(thread, path))?.contentId as string;
        await a.write('/one', content);
        await a.write('/two', content);
        await b.write('/three', content);
        const contentId = await id(a, '/one');
        expect([await id(a, '/two'), await id(b, '/three')]).toEqual([contentId, contentId]);
        await a.write('/one', content);
        await store.files.unlink(a.id, '/one');
        await a.write('/two', 'something else');
        expect(same(await readWholeFile(second, b.id, '/three'), content)).toBe(true);
        await store.files.unlink(b.id, '/three');
        await b.write('/again', content);
        // The old content was removed, so this one has a new id.
        expect(await id(b, '/again')).not.toBe(contentId);
        expect(same(await readWholeFile(second, b.id, '/again'), content)).toBe(true);
        await store.files.unlink(b.id, '/again');
      }
    });

    it('survives concurrent writers and removers of equal content', async () => {
      const { store, second } = given();
      const threads = await Promise.all(Array.from({ length: 4 }, () => filesOf(store)));
      const content = bytesOf(CHUNK + 5, 42);
      await Promise.all(
        threads.map(async ({ id }, which) => {
          const handle = which % 2 ? store : second;
          for (let n = 0; n < 3; n++) {
            await handle.files.write(id, { path: '/same', content, mimeType: 'image/x-any' });
            expect(same(await readWholeFile(handle, id, '/same'), content)).toBe(true);
            if (n < 2) await handle.files.unlink(id, '/same');
          }
        }),
      );
      for (const { id } of threads) {
        expect(same(await readWholeFile(second, id, '/same'), content)).toBe(true);
        await store.files.unlink(id, '/same');
      }
    });

    it('is the old or the new one, never a mixture, while it is replaced', async () => {
      const { store, second } = given();
      const { id, write } = await filesOf(store);
      const contents = [1, 2].map((n) => new Uint8Array(2 * CHUNK).fill(n));
      await write('/data', contents[0]);
      let writing = true;
      const writer = (async () => {
        for (let n = 1; n <= 4; n++) await write('/data', contents[n % 2]);
      })().finally(() => {
        writing = false;
      });
      while (writing) {
        const read = await readWholeFile(second, id, '/data').catch(({ code }) => code as string);
        if (typeof read === 'string') expect(read).toBe('FileConflict');
        else expect(contents.some((content) => same(read, content))).toBe(true);
      }
      await writer;
    });

    it('replaced during a stream ends the stream, as does an abort signal', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      await write('/data', bytesOf(2 * CHUNK, 7));
      const stream = (await streamFile(store, id, '/data'))?.[Symbol.asyncIterator]();
      await stream?.next();
      await write('/data', 'new');
      await expect(stream?.next()).rejects.toMatchObject({ code: 'FileConflict' });
      await write('/data', bytesOf(2 * CHUNK, 7));
      const abort = new AbortController();
      const seen: number[] = [];
      const reading = (async () => {
        for await (const { index } of (await streamFile(store, id, '/data', abort.signal)) ?? []) {
          seen.push(index);
          abort.abort(new Error('enough'));
        }
      })();
      await expect(reading).rejects.toThrow('enough');
      expect(seen).toEqual([0]);
      await expect(streamFile(store, id, '/data', abort.signal)).rejects.toThrow('enough');
    });

    it('of a directory or missing file is null', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      await write('/dir/file');
      for (const path of ['/', '/dir', '/nothing', '/dir/file/x']) {
        expect(await readWholeFile(store, id, path)).toBeNull();
        expect(await streamFile(store, id, path)).toBeNull();
        expect(await store.files.getThumbnail(id, path)).toBeNull();
      }
    });

    it('that is too large is refused with the name of the limit, and nothing is written', async () => {
      const { store } = given();
      const { id, write, stats } = await filesOf(store);
      const refusal = (bytes: number) => ({
        code: 'LimitExceeded',
        message: expect.stringContaining(`${bytes} bytes`),
      });
      await expect(write('/a', new Uint8Array(LIMITS.fileBytes + 1))).rejects.toMatchObject(
        refusal(LIMITS.fileBytes),
      );
      const thumbnail = new Uint8Array(LIMITS.thumbnailBytes + 1);
      await expect(write('/a', 'x', 'image/png', { thumbnail })).rejects.toMatchObject(
        refusal(LIMITS.thumbnailBytes),
      );
      const metadata = { note: 'x'.repeat(LIMITS.fileMetadataBytes) };
      await expect(write('/a', 'x', 'text/plain', { metadata })).rejects.toMatchObject(
        refusal(LIMITS.fileMetadataBytes),
      );
      expect([await stats(), await store.files.stat(id, '/a')]).toMatchObject([{ fileCount: 0 }, null]);
    });

    it('is searched by file name', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      for (const path of ['/b.txt', '/a/b.txt', '/a/c/b.md', '/B.txt']) await write(path);
      await store.files.mkdir(id, '/dir.txt');
      const find = async (pattern: string) => (await store.files.find(id, pattern)).paths;
      expect(await find('*.txt')).toEqual(['/B.txt', '/a/b.txt', '/b.txt']);
      expect(await find('/a/**')).toEqual(['/a/b.txt', '/a/c/b.md']);
      expect(await find('/?.txt')).toEqual(['/B.txt', '/b.txt']);
      expect(await find('nothing')).toEqual([]);
      await expect(find('*'.repeat(1001))).rejects.toMatchObject({ code: 'LimitExceeded' });
    });

    it('is searched by line, across chunk boundaries', async () => {
      const { store } = given();
      const { id, write } = await filesOf(store);
      await write('/notes.md', 'first line\r\nneedle 1\n\nno\nneedle 2', 'text/markdown');
      await write('/data.json', '{\n"needle": "é"\n}', 'application/json');
      await write('/photo.png', 'needle', 'image/png');
      const filler = `${'x'.repeat(CHUNK - 4)}\n`;
      await write('/large.txt', `${filler}needle é 3\n${filler}`, 'text/plain');
      const grep = (pattern: string) => store.files.grep(id, pattern);
      expect(await grep('^needle \\d$')).toEqual([
        { path: '/notes.md', name: 'notes.md', matches: ['needle 1', 'needle 2'], lineNumbers: [2, 5] },
      ]);
      expect(await grep('needle.*é')).toEqual([
        { path: '/data.json', name: 'data.json', matches: ['"needle": "é"'], lineNumbers: [2] },
        { path: '/large.txt', name: 'large.txt', matches: ['needle é 3'], lineNumbers: [2] },
      ]);
      expect(await grep('absent')).toEqual([]);
    });
  });
}
