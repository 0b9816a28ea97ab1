/** WalSync: waiters share a sync that began after they came, and receive the error of a disk that refuses. */
import { randomUUID } from 'node:crypto';
import fs, { mkdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { WalSync } from '../../src/store/sqlite/wal-sync.ts';

function database(): string {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  return join(folder, 'store.db');
}

describe('WalSync', () => {
  it('serves concurrent waiters with one sync, and later ones with the next', async () => {
    const path = database();
    writeFileSync(`${path}-wal`, 'log');
    const sync = new WalSync(path);
    const first = sync.wait();
    expect(sync.wait()).toBe(first);
    await first;
    const later = sync.wait();
    expect(later).not.toBe(first);
    await later;
    await sync.close();
  });

  it('starts another sync for a waiter that arrives during one', async () => {
    const path = database();
    writeFileSync(`${path}-wal`, 'log');
    const sync = new WalSync(path);
    const order: string[] = [];
    const first = sync.wait().then(() => order.push('first'));
    // The first sync has begun when the microtasks before it have run.
    await new Promise((resolve) => setImmediate(resolve));
    const second = sync.wait().then(() => order.push('second'));
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
    await sync.close();
  });

  it('rejects if there is nothing to sync, and works again once there is', async () => {
    const path = database();
    const sync = new WalSync(path);
    await expect(sync.wait()).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(`${path}-wal`, 'log');
    await sync.wait();
    await sync.close();
  });

  it('blocks for a fast disk, and moves to another thread for a while on a slow one', async () => {
    const path = database();
    writeFileSync(`${path}-wal`, 'log');
    let disk = 0.1;
    let time = 0;
    let inPlace = 0;
    const { fdatasyncSync } = fs;
    fs.fdatasyncSync = (descriptor) => {
      fdatasyncSync(descriptor);
      inPlace += 1;
      time += disk;
    };
    syncBuiltinESMExports();
    try {
      const sync = new WalSync(path, () => time);
      const waits = async (count: number) => {
        const before = inPlace;
        for (let n = 0; n < count; n++) await sync.wait();
        return inPlace - before;
      };
      // The first wait opens the log, so it is not in place.
      expect(await waits(1)).toBe(0);
      expect(await waits(10)).toBe(10);
      disk = 4;
      expect(await waits(1)).toBe(1);
      expect(await waits(200)).toBe(0);
      disk = 0.1;
      expect(await waits(10)).toBe(10);
      await sync.close();
    } finally {
      fs.fdatasyncSync = fdatasyncSync;
      syncBuiltinESMExports();
    }
  });
});
