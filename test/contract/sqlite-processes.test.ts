/** Several real processes on one SQLite file (decisions: Processes and the store). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { isLong } from '../support/long-form.ts';
import type { Answer } from './store-process.ts';
import { go, killProcesses, registerProcesses, type StorePlace, start } from './store-processes.ts';

const ADDRESS = 'sqlite:store.db?synchronous=normal';
const WAITING = isLong ? 3 : 2;
const LOCKED_MS = 2000;
/** The engine waits 50 ms inside SQLite; the rest, far less than the lock lasts, is for a machine with other things to do. */
const MOST_BLOCKED_MS = LOCKED_MS / 4;
const EVER_BLOCKED_MS = LOCKED_MS / 2;

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

  it('keep their event loops free while another process holds the write lock, and write when it is gone', async () => {
    await (await place.open()).close();
    const waiting = await start(place, Array(WAITING).fill({ do: 'wait' }));
    expect(await go(waiting)).toEqual(Array(WAITING).fill('open'));
    const holder = new DatabaseSync(join(place.folder, 'store.db'));
    holder.exec('begin immediate');
    const answers = go(waiting) as Promise<Answer[]>;
    await delay(LOCKED_MS);
    holder.exec('commit');
    holder.close();
    const blocked: number[] = [];
    for (const { blockedMs = Number.NaN, tookMs } of await answers) {
      expect(tookMs).toBeGreaterThan(LOCKED_MS / 2);
      expect(blockedMs).toBeLessThan(EVER_BLOCKED_MS);
      blocked.push(blockedMs);
    }
    // What the engine does it does in each of them; a busy machine may leave one of them without a processor.
    expect(Math.min(...blocked)).toBeLessThan(MOST_BLOCKED_MS);
    const store = await place.open();
    expect(await store.listThreads()).toHaveLength(WAITING);
    await store.close();
  });
});
