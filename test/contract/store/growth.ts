/** Waits for a log to grow: whoever waits is woken by what anybody writes, and by what was written before it waited. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { openThread, ThreadDriver } from '../thread-driver.ts';

export function registerGrowth(given: () => Stores): void {
  describe('a wait for a log to grow', () => {
    it('ends at once for what is there already, and with what this or another process writes', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const { length } = await thread.events();
      await store.events.awaitGrowth(thread.id, length - 1);
      for (const reader of [store, second]) {
        const before = (await thread.events()).length;
        const waits = Array.from({ length: 3 }, () => reader.events.awaitGrowth(thread.id, before));
        await store.messages.inject(thread.id, {
          id: randomUUID(),
          role: 'system',
          content: 'x',
          executionId: null,
        });
        await Promise.all(waits);
        expect((await thread.events()).length).toBeGreaterThan(before);
      }
    });

    it('ends with the first row of a thread that was not there, with its signal, with its time, and with its store', async () => {
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
  });
}
