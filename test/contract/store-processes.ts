/** What several real processes on one store must do, whatever its engine, and how they are started. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import type { ThreadStore } from '../../src/store/store.ts';
import { isLong } from '../support/long-form.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import type { Answer, Task } from './store-process.ts';
import { isGapFree, message, openThread, ThreadDriver } from './thread-driver.ts';

const PROGRAM = fileURLToPath(new URL('./store-process.ts', import.meta.url));
/** The long form also repeats the opening of a new store, three times. */
const PROCESSES = isLong ? 4 : 2;

export interface StorePlace {
  readonly address: string;
  readonly folder: string;
  /** Opens the store in this process. */
  open(): Promise<ThreadStore>;
}

const children: ChildProcess[] = [];
const errors = new Map<ChildProcess, string>();

export function killProcesses(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL');
}

/** Resolves with the next message of a process; rejects with its error text if it exits instead. */
export function hear(child: ChildProcess): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  child.once('message', resolve);
  child.once('exit', (code) =>
    reject(new Error(`the process ended with ${code}: ${errors.get(child) ?? ''}`)),
  );
  return promise;
}

/** Starts processes; resolves when they have loaded their code and wait for `go`. */
export async function start(
  { address, folder }: StorePlace,
  tasks: readonly Task[],
): Promise<ChildProcess[]> {
  const started = tasks.map((task) => {
    const child = fork(PROGRAM, [address, folder, JSON.stringify(task)], {
      execArgv: [...PROGRAM_OPTIONS],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (data) => errors.set(child, `${errors.get(child) ?? ''}${data}`));
    return child;
  });
  children.push(...started);
  await Promise.all(started.map(hear));
  return started;
}

export function go(started: readonly ChildProcess[]): Promise<unknown[]> {
  return Promise.all(
    started.map((child) => {
      const heard = hear(child);
      child.send('go');
      return heard;
    }),
  );
}

/** Registers the tests; each one gets an empty place. */
export function registerProcesses(given: () => StorePlace): void {
  it.each(isLong ? [1, 2, 3] : [1])('may open a new store at the same time (round %i)', async () => {
    const place = given();
    const answers = (await go(await start(place, Array(PROCESSES).fill({ do: 'open' })))) as Answer[];
    expect(new Set(answers.map(({ storeId }) => storeId)).size).toBe(1);
    const store = await place.open();
    expect(store.id).toBe(answers[0]?.storeId);
    expect(await store.threads.list()).toHaveLength(PROCESSES);
    await store.close();
  });

  it('neither lose nor duplicate writes, nor leave gaps, on shared threads', async () => {
    const writes = 10;
    const place = given();
    const store = await place.open();
    const threads = [await openThread(store), await openThread(store), await openThread(store)];
    const threadIds = threads.map(({ id }) => id);
    const tasks = Array.from(
      { length: PROCESSES },
      (_, n): Task => ({ do: 'write', process: n, writes, threadIds }),
    );
    await go(await start(place, tasks));
    for (const thread of threads) {
      const messages = await thread.messages();
      const ids = messages.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      // Per process: its own items and the messages that it injected; once for all: the shared items.
      expect(ids.length).toBe(PROCESSES * writes * 2 + writes);
      const events = await thread.events();
      expect(isGapFree(events)).toBe(true);
      expect(events.at(-1)?.seq).toBe(1 + ids.length);
      const times = messages.filter(({ status }) => status === 'completed').map(({ created_at: at }) => at);
      expect(times.every((at, n) => n === 0 || at > (times[n - 1] ?? 0))).toBe(true);
    }
    await store.close();
  });

  it('see the writes of another process at once', async () => {
    const place = given();
    const store = await place.open();
    const thread = await openThread(store);
    await go(await start(place, [{ do: 'write', process: 0, writes: 1, threadIds: [thread.id] }]));
    expect(await new ThreadDriver(store, thread.id).stash(message('mine'))).toEqual({ waiting: 3 });
    await store.close();
  });

  it('leave only whole commands when killed, and no blocked process', async () => {
    const place = given();
    const store = await place.open();
    const thread = await openThread(store);
    const tasks = Array.from(
      { length: PROCESSES },
      (_, n): Task => ({ do: 'write', process: n, writes: 100_000, threadIds: [thread.id] }),
    );
    const started = await start(place, tasks);
    for (const child of started) child.send('go');
    for (const [n, child] of started.entries()) {
      const lastSeq = (n + 1) * 25;
      for (let after = 0; after < lastSeq; )
        after = (await store.events.read(thread.id, after)).at(-1)?.seq ?? after;
      child.kill('SIGKILL');
    }
    expect(await thread.stash(message('mine'))).toHaveProperty('waiting');
    const events = await thread.events();
    expect(isGapFree(events)).toBe(true);
    // One event for each message, besides the one of the new thread.
    expect(events).toHaveLength(1 + (await thread.messages()).length);
    await store.close();
  });
}
