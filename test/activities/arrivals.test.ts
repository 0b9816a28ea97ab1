/** Spilling queued items to the store: an item that cannot be stored does not block the others. */
import { describe, expect, it } from '@jest/globals';
import { stashFitting } from '../../src/activities/step/arrivals.ts';
import type { MessageItem } from '../../src/core/thread/item.ts';
import { testStore } from '../support/runtime.ts';

const message = (id: string, metadata?: Record<string, unknown>): MessageItem => ({
  kind: 'message',
  id,
  role: 'user',
  content: `content of ${id}`,
  ...(metadata ? { metadata } : {}),
});

/** A message that throws when serialised, as a value too deep or too long for JSON.stringify does. */
const unwritable = (id: string) =>
  message(id, {
    toJSON() {
      throw new RangeError('Invalid string length');
    },
  });

async function aThread() {
  const store = await testStore();
  const run = { threadId: 't', runId: 'run-1' };
  const thread = {
    agent: 'helper',
    userId: null,
    arguments: {},
    parentId: null,
    rootId: 't',
    mustExist: false,
  };
  await store.threads.open({ ...run, ...thread });
  const pending = async () => (await store.messages.list('t', { limit: 100 })).messages.map(({ id }) => id);
  const events = async () =>
    (await store.events.read('t', 0))
      .filter((event) => event.type === 'item.rejected')
      .map(({ data }) => data);
  return { store, run, pending, events };
}

describe('a batch of queued items', () => {
  it('loses only items that the store cannot take, each with a reason', async () => {
    const { store, run, pending, events } = await aThread();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const items = ids.map((id) => (id === 'c' || id === 'g' ? unwritable(id) : message(id)));
    expect(await stashFitting(store, run, { items })).toEqual({ waiting: 5 });
    expect(await pending()).toEqual(['a', 'b', 'd', 'e', 'f']);
    const reason = 'it cannot be stored: Invalid string length';
    expect(await events()).toEqual(['c', 'g'].map((id) => ({ id, code: 'InvalidMessage', reason })));
  });

  it('is kept completely if the fault is not in its items', async () => {
    const { run, pending, events } = await aThread();
    for (const fault of [new TypeError('a fault of ours'), new Error('disk I/O error')]) {
      const broken = { queue: { spill: () => Promise.reject(fault) } };
      await expect(stashFitting(broken, run, { items: [message('a'), message('b')] })).rejects.toBe(fault);
    }
    expect(await pending()).toEqual([]);
    expect(await events()).toEqual([]);
  });
});
