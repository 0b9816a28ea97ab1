/** Several real processes on one SQLite file (decisions: Processes and the store). */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import type { Answer, Task } from './store-process.ts';
import { isGapFree, message, openThread, ThreadDriver } from './thread-driver.ts';

const PROGRAM = fileURLToPath(new URL('./store-process.ts', import.meta.url));
const PROCESSES = 4;
const LOCKED_MS = 2000;
/** The engine waits 50 ms inside SQLite; the rest is for a machine with other things to do. */
const MOST_BLOCKED_MS = 150;

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER ?? tmpdir(), 'processes-'));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** The next thing that a process says; its own error text when it dies instead. */
function hear(child: ChildProcess): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  child.once('message', resolve);
  child.once('exit', (code) =>
    reject(new Error(`the process ended with ${code}: ${errors.get(child) ?? ''}`)),
  );
  return promise;
}

const errors = new Map<ChildProcess, string>();

/** Processes with their code loaded, waiting for `go`. */
async function start(tasks: readonly Task[]): Promise<ChildProcess[]> {
  const started = tasks.map((task) => {
    const child = fork(PROGRAM, [folder, JSON.stringify(task)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (data) => errors.set(child, `${errors.get(child) ?? ''}${data}`));
    return child;
  });
  children.push(...started);
  await Promise.all(started.map(hear));
  return started;
}

function go(started: readonly ChildProcess[]): Promise<unknown[]> {
  return Promise.all(
    started.map((child) => {
      const heard = hear(child);
      child.send('go');
      return heard;
    }),
  );
}

const openHere = () => openStore('sqlite:store.db?synchronous=normal', folder);

describe('several processes on one SQLite file', () => {
  it.each([1, 2, 3])('may open a new file at the same time (round %i)', async () => {
    const answers = (await go(await start(Array(PROCESSES).fill({ do: 'open' })))) as Answer[];
    expect(new Set(answers.map(({ storeId }) => storeId)).size).toBe(1);
    const store = await openHere();
    expect(store.id).toBe(answers[0]?.storeId);
    expect(await store.listThreads()).toHaveLength(PROCESSES);
    await store.close();
  });

  it('lose nothing, double nothing and leave no gap on threads that they share', async () => {
    const writes = 25;
    const store = await openHere();
    const threads = [await openThread(store), await openThread(store), await openThread(store)];
    const threadIds = threads.map(({ id }) => id);
    const tasks = Array.from(
      { length: PROCESSES },
      (_, n): Task => ({ do: 'write', process: n, writes, threadIds }),
    );
    await go(await start(tasks));
    for (const thread of threads) {
      const messages = await thread.messages();
      const ids = messages.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      // Per process: its own items and what it injected; once for all: the shared items.
      expect(ids.length).toBe(PROCESSES * writes * 2 + writes);
      const events = await thread.events();
      expect(isGapFree(events)).toBe(true);
      expect(events.at(-1)?.seq).toBe(1 + ids.length);
      const times = messages.filter(({ status }) => status === 'completed').map(({ created_at: at }) => at);
      expect(times.every((at, n) => n === 0 || at > (times[n - 1] ?? 0))).toBe(true);
    }
    await store.close();
  });

  it('keep their event loops free while another process holds the write lock, and write when it is gone', async () => {
    await (await openHere()).close();
    const waiting = await start([{ do: 'wait' }, { do: 'wait' }, { do: 'wait' }]);
    expect(await go(waiting)).toEqual(['open', 'open', 'open']);
    const holder = new DatabaseSync(join(folder, 'store.db'));
    holder.exec('begin immediate');
    const answers = go(waiting) as Promise<Answer[]>;
    await delay(LOCKED_MS);
    holder.exec('commit');
    holder.close();
    for (const { blockedMs, tookMs } of await answers) {
      expect(tookMs).toBeGreaterThan(LOCKED_MS / 2);
      expect(blockedMs).toBeLessThan(MOST_BLOCKED_MS);
    }
    const store = await openHere();
    expect(await store.listThreads()).toHaveLength(3);
    await store.close();
  });

  it('see what another process wrote, at once', async () => {
    const store = await openHere();
    const thread = await openThread(store);
    await go(await start([{ do: 'write', process: 0, writes: 1, threadIds: [thread.id] }]));
    expect(await new ThreadDriver(store, thread.id).stash(message('mine'))).toEqual({ waiting: 3 });
    await store.close();
  });
});
