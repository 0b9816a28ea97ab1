/** A store on a disk that is really full (a small tmpfs): some writes are refused, others succeed, nothing is lost. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { ThreadDriver } from './thread-driver.ts';

const THREAD = 'full';
const VALUE = 'x'.repeat(100_000);
/** KiB that `free` releases: the room left when a value is refused may be less than the next write needs. */
const RESERVED = 512;
const onDisk = canMount() ? describe : describe.skip;

let disk: SmallDisk;
const stores: ThreadStore[] = [];

beforeEach(() => {
  disk = smallDisk(4096 + RESERVED) as SmallDisk;
  disk.reserve(RESERVED);
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  disk.close();
});

async function open(query = ''): Promise<ThreadStore> {
  const keys = parseKeys(generateKey('test'), 'the test');
  const store = await openStore(`sqlite:store.db${query}`, disk.folder, { keys });
  stores.push(store);
  return store;
}

async function openThread(store: ThreadStore): Promise<void> {
  await new ThreadDriver(store, THREAD).open();
}

/** Sets values until one is refused; returns the keys that were set and the error. */
async function fillUp(store: ThreadStore): Promise<{ kept: string[]; refusal: unknown }> {
  const kept: string[] = [];
  for (let index = 0; ; index++) {
    try {
      await store.values.set(THREAD, `${index}`, `${index}:${VALUE}`);
      kept.push(`${index}`);
    } catch (refusal) {
      return { kept, refusal };
    }
  }
}

async function expectKept(store: ThreadStore, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect(await store.values.get(THREAD, key)).toBe(`${key}:${VALUE}`);
}

onDisk('a store whose disk is full', () => {
  it.each(['', '?synchronous=normal'])(
    'refuses with StoreFull, keeps acknowledged writes, and recovers (%s)',
    async (query) => {
      const store = await open(query);
      await openThread(store);
      const { kept, refusal } = await fillUp(store);
      expect(refusal).toMatchObject({ name: 'RuntimeError', code: 'StoreFull' });
      expect((refusal as Error).message).toContain(`${join(disk.folder, 'store.db')} is full`);
      disk.fill();
      await expect(store.values.set(THREAD, 'again', VALUE)).rejects.toMatchObject({ code: 'StoreFull' });
      await expectKept(store, kept);
      expect(store.ended?.aborted).toBe(false);

      disk.free();
      // The log holds what did not fit into the database; it is moved there now.
      await store.values.set(THREAD, 'small', 'after');
      await expectKept(store, kept);
      await store.close();
      stores.splice(0);
      const reopened = await open(query);
      await expectKept(reopened, kept);
      expect(await reopened.values.get(THREAD, 'small')).toBe('after');
      expect(await reopened.values.get(THREAD, 'again')).toBeNull();
    },
  );

  it('lets other processes read, and refuses their writes too', async () => {
    const store = await open();
    await openThread(store);
    await store.values.set(THREAD, 'key', 'value');
    disk.fill();
    const other = await open();
    expect(await other.values.get(THREAD, 'key')).toBe('value');
    expect((await other.threads.list()).map(({ id }) => id)).toEqual([THREAD]);
    await expect(fillUp(other).then(({ refusal }) => Promise.reject(refusal))).rejects.toMatchObject({
      code: 'StoreFull',
    });
  });

  it('cannot be created on a full disk, reports why, and can be once there is space', async () => {
    disk.fill();
    await expect(open()).rejects.toMatchObject({ code: 'StoreFull' });
    disk.free();
    await openThread(await open());
  });

  it('rejects each write with StoreFull, and leaves concurrent reads and the next transaction intact', async () => {
    const store = await open();
    await openThread(store);
    const { kept } = await fillUp(store);
    disk.fill();
    const all = await Promise.allSettled([
      store.values.set(THREAD, 'a', VALUE),
      store.values.set(THREAD, 'b', VALUE),
      store.values.get(THREAD, '0'),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    for (const result of all.slice(0, 2))
      expect((result as PromiseRejectedResult).reason).toMatchObject({ code: 'StoreFull' });
    disk.free();
    await expectKept(store, kept);
  });
});
