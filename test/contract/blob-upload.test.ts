/** What is in the tables of contents after writers that ended well, were refused, or died. SQLite shows it best. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/port/thread-store.ts';
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

/** Bytes of several chunks. */
const large = (fill: number) => new Uint8Array(2 * LIMITS.fileChunkBytes + 1).fill(fill);
const write = (path: string, content: Uint8Array) =>
  store.files.write(thread.id, { path, content, mimeType: 'application/octet-stream' });
const count = (table: string) =>
  (database.prepare(`select count(*) as count from ${table}`).get() as { count: number }).count;
const counts = () => [count('blobs'), count('blob_chunks'), count('blob_uploads')];

describe('the tables of contents', () => {
  it('hold a content once, and nothing after its last name has gone', async () => {
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

  it('hold one copy of what several writers bring at once', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, n) => write(`/${n}`, large(1))));
    expect(counts()).toEqual([1, 3, 0]);
    expect(database.prepare('select names from blobs').get()).toEqual({ names: 5 });
  });

  it('hold nothing of a write that was refused', async () => {
    await store.files.mkdir(thread.id, '/dir');
    await expect(write('/dir', large(1))).rejects.toMatchObject({ code: 'FileConflict' });
    // Refused at the last moment: the directory came while the content was on its way.
    const writing = write('/late', large(1));
    await store.files.mkdir(thread.id, '/late/child');
    await expect(writing).rejects.toMatchObject({ code: 'FileConflict' });
    await thread.rest('terminated');
    await expect(write('/b', large(1))).rejects.toMatchObject({ code: 'ThreadTerminated' });
    expect(counts()).toEqual([0, 0, 0]);
  });

  it('are rid of what a writer that died left behind, and of nothing newer', async () => {
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
