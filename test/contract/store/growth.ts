/** Waits for a log to grow: a waiter is woken by any write, also by one that was made before it began to wait. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ThreadEvent } from '../../../src/core/event/thread-event.ts';
import type { EventListener } from '../../../src/store/transaction/event-record.ts';
import type { Stores } from '../store-contract.ts';
import { openThread, ThreadDriver } from '../thread-driver.ts';

const inject = ({ store, id }: ThreadDriver) =>
  store.messages.inject(id, { id: randomUUID(), role: 'system', content: 'x', executionId: null });

export function registerGrowth(given: () => Stores): void {
  describe('a wait for a log to grow', () => {
    it('ends at once for existing rows, and with a write by this or another process', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const { length } = await thread.events();
      await store.events.awaitGrowth(thread.id, length - 1);
      for (const reader of [store, second]) {
        const before = (await thread.events()).length;
        const waits = Array.from({ length: 3 }, () => reader.events.awaitGrowth(thread.id, before));
        await inject(thread);
        await Promise.all(waits);
        expect((await thread.events()).length).toBeGreaterThan(before);
      }
    });

    it('ends with the first row of a new thread, its signal, its timeout, and its store', async () => {
      const { store, engine } = given();
      const thread = new ThreadDriver(store);
      const opens = store.events.awaitGrowth(thread.id, 0);
      await thread.open();
      await opens;
      const { length } = await thread.events();
      const leaving = new AbortController();
      const left = store.events.awaitGrowth(thread.id, length, { signal: leaving.signal });
      leaving.abort();
      await left;
      await store.events.awaitGrowth(thread.id, length, { signal: leaving.signal });
      await store.events.awaitGrowth(thread.id, length, { withinMs: 1 });
      const own = await engine.open();
      const ends = own.store.events.awaitGrowth(thread.id, length);
      await own.close();
      await ends;
    });

    it('notifies listeners of this process after the commit, and ignores what they throw', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const told: ThreadEvent[] = [];
      const listener = (hear: (event: ThreadEvent) => void): EventListener => ({
        kinds: new Set(['message.created']),
        told: ({ threadId }, event) => {
          if (threadId === thread.id) hear(event);
        },
      });
      const ends = [
        listener(() => {
          throw new Error('a listener');
        }),
        listener((event) => told.push(event)),
      ].map(store.events.listen);
      await inject(thread);
      const [last] = (await thread.events()).slice(-1);
      expect(told).toEqual([last]);
      for (const end of ends) end();
      await inject(thread);
      expect(told).toHaveLength(1);
    });
  });
}
