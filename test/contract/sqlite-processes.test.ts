/** Several real processes on one SQLite file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { isLong } from '../support/long-form.ts';
import type { Answer } from './store-process.ts';
import { go, hear, killProcesses, registerProcesses, type StorePlace, start } from './store-processes.ts';

const ADDRESS = 'sqlite:store.db?synchronous=normal';
const WAITING = isLong ? 3 : 2;
let place: StorePlace;

beforeEach(() => {
  const folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), 'processes-'));
  place = { address: ADDRESS, folder, open: () => openStore(ADDRESS, folder) };
});

afterEach(() => {
  killProcesses();
  rmSync(place.folder, { recursive: true, force: true });
});

describe('several processes on one SQLite file', () => {
  registerProcesses(() => place);

  it('keep their event loops free while another process holds the write lock, then write', async () => {
    await (await place.open()).close();
    const waiting = await start(place, Array(WAITING).fill({ do: 'wait' }));
    expect(await go(waiting)).toEqual(Array(WAITING).fill('open'));
    const holder = new DatabaseSync(join(place.folder, 'store.db'));
    holder.exec('begin immediate');
    // Each process reports this while it waits for the lock; the lock is held until all of them have.
    expect(await go(waiting)).toEqual(Array(WAITING).fill('turning'));
    const answers = Promise.all(waiting.map(hear)) as Promise<Answer[]>;
    holder.exec('commit');
    holder.close();
    expect(new Set((await answers).map(({ storeId }) => storeId)).size).toBe(1);
    const store = await place.open();
    expect(await store.threads.list()).toHaveLength(WAITING);
    await store.close();
  });
});
