/** The tables of file contents after writers that succeeded, were refused, or died. On SQLite, where it shows best. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { readWholeFile } from '../../src/store/file/file-content.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { openThread, type ThreadDriver } from './thread-driver.ts';

let store: ThreadStore;
let thread: ThreadDriver;
let database: DatabaseSync;

beforeEach(async () => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  store = await openStore('sqlite:store.db?synchronous=normal', folder);
  thread = await openThread(store);
  database = new DatabaseSync(join(folder, 'store.db'));
});
afterEach(async () => {
  database.close();
  await store.close();
});

/** Content of several chunks, all bytes `fill`. */
const large = (fill: number) => new Uint8Array(2 * LIMITS.fileChunkBytes + 1).fill(fill);
const write = (path: string, content: Uint8Array) =>
  store.files.write(thread.id, { path, content, mimeType: 'application/octet-stream' });
const stream = (path: string, content: AsyncIterable<Uint8Array>) =>
  store.files.write(thread.id, { path, content, mimeType: 'application/octet-stream' });
async function* partsOf(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
const count = (table: string) =>
  (database.prepare(`select count(*) as count from ${table}`).get() as { count: number }).count;
const counts = () => [count('blobs'), count('blob_chunks'), count('blob_uploads')];

describe('the tables of file contents', () => {
  it('hold equal content once, and nothing after its last file is removed', async () => {
    for (const path of ['/a', '/b', '/c']) await write(path, large(1));
    await write('/small', new Uint8Array(5));
    await write('/empty', new Uint8Array(0));
    expect(counts()).toEqual([2, 4, 0]);
    await write('/a', large(2));
    await write('/b', large(2));
    expect(counts()).toEqual([3, 7, 0]);
    for (const path of ['/a', '/b', '/c', '/small', '/empty']) await store.files.unlink(thread.id, path);
    expect(counts()).toEqual([0, 0, 0]);
  });

  it('hold one copy of content that several writers upload at once', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, n) => write(`/${n}`, large(1))));
    expect(counts()).toEqual([1, 3, 0]);
    expect(database.prepare('select names from blobs').get()).toEqual({ names: 5 });
  });

  it('hold nothing of a refused write', async () => {
    await store.files.mkdir(thread.id, '/dir');
    await expect(write('/dir', large(1))).rejects.toMatchObject({ code: 'FileConflict' });
    // Refused at the last moment: the directory is made while the content is being written.
    const writing = write('/late', large(1));
    await store.files.mkdir(thread.id, '/late/child');
    await expect(writing).rejects.toMatchObject({ code: 'FileConflict' });
    await thread.rest('terminated');
    await expect(write('/b', large(1))).rejects.toMatchObject({ code: 'ThreadTerminated' });
    expect(counts()).toEqual([0, 0, 0]);
  });

  it('take a stream no faster than they store it, and hold its content once', async () => {
    await write('/known', large(1));
    let ahead = 0;
    let sent = 3 * LIMITS.fileChunkBytes;
    async function* parts() {
      for await (const part of partsOf(large(1), 300_000)) {
        ahead = Math.max(ahead, sent - count('blob_chunks') * LIMITS.fileChunkBytes);
        sent += part.length;
        yield part;
      }
    }
    const written = await stream('/a', parts());
    expect(written).toMatchObject({ path: '/a', size: large(1).length });
    // At most two chunks are buffered, and the part with which the second one ended.
    expect(ahead).toBeLessThanOrEqual(2 * LIMITS.fileChunkBytes + 300_000);
    expect(counts()).toEqual([1, 3, 0]);
    await stream('/b', partsOf(large(2), 1_500_000));
    expect(counts()).toEqual([2, 6, 0]);
    expect(
      Buffer.from((await readWholeFile(store, thread.id, '/b')) ?? new ArrayBuffer(0)).equals(large(2)),
    ).toBe(true);
    for (const bytes of [0, 1, LIMITS.fileChunkBytes, LIMITS.fileChunkBytes + 1]) {
      const of = new Uint8Array(bytes).fill(3);
      await stream('/c', partsOf(of, 400_000));
      expect(
        Buffer.from((await readWholeFile(store, thread.id, '/c')) ?? new ArrayBuffer(0)).equals(of),
      ).toBe(true);
    }
  });

  it('hold nothing of a stream that broke, was too long, or was refused', async () => {
    const broken = (async function* () {
      yield large(1);
      throw new Error('the connection broke');
    })();
    await expect(stream('/a', broken)).rejects.toThrow('the connection broke');
    let closed = false;
    const endless = (async function* () {
      const part = new Uint8Array(16 * LIMITS.fileChunkBytes);
      try {
        for (;;) yield part;
      } finally {
        closed = true;
      }
    })();
    await expect(stream('/a', endless)).rejects.toMatchObject({ code: 'LimitExceeded' });
    expect(closed).toBe(true);
    await store.files.mkdir(thread.id, '/dir');
    let taken = 0;
    const refused = (async function* () {
      for await (const part of partsOf(large(1), LIMITS.fileChunkBytes)) {
        taken += 1;
        yield part;
      }
    })();
    await expect(stream('/dir', refused)).rejects.toMatchObject({ code: 'FileConflict' });
    // Refused as soon as the stream is known to be large, before all of it has been read.
    expect(taken).toBe(2);
    expect(await store.files.stat(thread.id, '/a')).toBeNull();
    expect(counts()).toEqual([0, 0, 0]);
  });

  it('are cleaned of uploads whose writer died, and of nothing newer', async () => {
    const leave = (id: string, hoursAgo: number) => {
      database
        .prepare('insert into blob_uploads values (?, ?)')
        .run(id, (Date.now() - hoursAgo * 3_600_000) * 1000);
      for (const idx of [0, 1])
        database.prepare('insert into blob_chunks values (?, ?, ?)').run(id, idx, new Uint8Array(9));
    };
    leave('old', 25);
    leave('new', 1);
    await write('/a', large(1));
    expect(counts()).toEqual([1, 5, 1]);
    expect(database.prepare('select id from blob_uploads').get()).toEqual({ id: 'new' });
  });
});
