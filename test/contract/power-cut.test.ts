/** Every acknowledged command survives a power cut, and only the newest others may be missing (SQLite's I4, Y1). */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StepRef } from '../../src/store/transaction/from-run.ts';
import { CutStore } from './power-cut.ts';
import { call, message, openThread, stored, ThreadDriver } from './thread-driver.ts';

let cut: CutStore;
let thread: ThreadDriver;

beforeEach(async () => {
  cut = await CutStore.open(join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID()));
  thread = await openThread(cut.store);
});
afterEach(() => cut.close());

/** Reads the thread from the store as it is once the power is back. */
async function afterCut<T>(read: (found: ThreadDriver) => Promise<T>): Promise<T> {
  const store = await cut.afterCut();
  try {
    return await read(new ThreadDriver(store, thread.id));
  } finally {
    await store.close();
  }
}

const survivors = () => afterCut((found) => found.transcript());

/** A step with two calls: `once` may run only once, `again` may be repeated. */
async function stepOfTwoCalls(): Promise<StepRef> {
  const ref = await thread.beginCall([message('a')]);
  await thread.commit(ref, { toolCalls: [call('c0', 'once'), call('c1', 'again')] });
  return ref;
}

describe('after a power cut', () => {
  it('a new thread and each acknowledged item exist', async () => {
    expect(await afterCut((found) => cutThread(found))).toMatchObject({ id: thread.id });
    for (const id of ['a', 'b', 'c']) {
      await thread.stash(message(id, id));
      expect((await survivors()).at(-1)).toBe(`[user: ${id}]`);
    }
    await cut.store.queue.add(thread.id, message('d', 'd'));
    expect((await survivors()).at(-1)).toBe('[user: d]');
  });

  it('a staged item exists before its signal is sent', async () => {
    await cut.store.queue.stage(thread.id, message('a', 'large'));
    const found = await afterCut(async (store) => {
      await store.stash(stored('a'));
      return store.transcript();
    });
    expect(found).toEqual(['[user: large]']);
  });

  it('an answer exists with its calls, as do a result and the end of the turn', async () => {
    await stepOfTwoCalls();
    const asked = ['user: content of a', 'assistant: an answer -> once -> again'];
    expect(await survivors()).toEqual(asked);
    await thread.runTool(1, 0);
    expect(await survivors()).toEqual([...asked, 'once success: done']);
    await thread.runTool(1, 1);
    await thread.rest('failed', { error: { code: 'Test', message: 'over' } });
    expect(await afterCut((found) => cutThread(found))).toMatchObject({ status: 'failed' });
  });

  it('a run-once tool is recorded as started before its body runs', async () => {
    await stepOfTwoCalls();
    await thread.beginTool(1, 0);
    const again = await afterCut((found) => found.beginTool(1, 0, 'attempt-2'));
    expect(again).toMatchObject({ kind: 'begun_elsewhere' });
  });

  it('unacknowledged writes may be missing, only the newest, and never caused a wait', async () => {
    await stepOfTwoCalls();
    const before = cut.syncs;
    // The call may be repeated, so its begin need not be durable.
    await thread.beginTool(1, 1, 'attempt-1', true);
    expect(cut.syncs).toBe(before);
    expect((await afterCut((found) => found.events('tool.started'))).length).toBe(0);
    await thread.commitTool(1, 1);
    expect((await afterCut((found) => found.events('tool.started'))).length).toBe(1);
  });

  it('a write committed during a sync exists once it is acknowledged', async () => {
    cut.slow = true;
    await thread.stash(message('slow', 'slow'));
    const { begun, letGo } = cut.hold();
    const first = thread.stash(message('a', 'a'));
    await begun;
    // Committed now, after the held sync has begun, so not covered by it.
    const second = thread.stash(message('b', 'b'));
    while ((await thread.transcript()).length < 3) await new Promise(setImmediate);
    let told = false;
    void second.then(() => {
      told = true;
    });
    letGo();
    await first;
    // If the first sync had acknowledged it, the answer would have arrived by now.
    await new Promise(setImmediate);
    if (told) expect(await survivors()).toEqual(['[user: slow]', '[user: a]', '[user: b]']);
    await second;
    expect(await survivors()).toEqual(['[user: slow]', '[user: a]', '[user: b]']);
  });
});

const cutThread = (found: ThreadDriver) => found.store.threads.get(found.id);
