/** WalSync: waiters share syncs, each with one that began after it, and hear of a disk that refuses. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { WalSync } from '../../src/store/sqlite/wal-sync.ts';

function database(): string {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  return join(folder, 'store.db');
}

describe('WalSync', () => {
  it('answers those who wait together with one sync, and those who come later with the next', async () => {
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

  it('gives whoever comes while a sync runs a sync of its own', async () => {
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

  it('rejects when there is nothing to sync, and works again once there is', async () => {
    const path = database();
    const sync = new WalSync(path);
    await expect(sync.wait()).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(`${path}-wal`, 'log');
    await sync.wait();
    await sync.close();
  });
});
