/** The event log of a thread, and the clock of its messages. */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, isGapFree, message, openThread, tool } from '../thread-driver.ts';

export function registerLog(given: () => Stores): void {
  describe('the log', () => {
    it('numbers events from one, without gaps', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a'), message('b')], { toolCalls: [call('c0', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      await thread.begin([tool('t', 'count')]);
      await thread.rest('stopped');
      const events = await thread.events();
      expect(events[0]?.seq).toBe(1);
      expect(isGapFree(events)).toBe(true);
      expect((await thread.store.threads.get(thread.id))?.lastSeq).toBe(events.length);
    });

    it('is read in pages after a sequence number', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.begin(Array.from({ length: 30 }, (_, n) => message(`m${n}`)));
      const all = await thread.events();
      const paged = [];
      for (let after = 0; ; ) {
        const page = await store.events.read(thread.id, after, 7);
        expect(page.length).toBeLessThanOrEqual(7);
        if (page.length === 0) break;
        paged.push(...page);
        after = page.at(-1)?.seq ?? after;
      }
      expect(paged).toEqual(all);
      expect(await store.events.read(thread.id, all.length)).toEqual([]);
      expect((await store.events.read(thread.id, all.length - 1)).map(({ seq }) => seq)).toEqual([
        all.length,
      ]);
    });

    it('holds more events of one command than fit one SQL statement', async () => {
      const thread = await openThread(given().store);
      const rejections = Array.from(
        { length: 5000 },
        () => ({ code: 'InvalidMessage', reason: 'bad' }) as const,
      );
      await thread.rest('idle', { rejections });
      const events = await thread.events();
      expect(events.length).toBeGreaterThan(5000);
      expect(isGapFree(events)).toBe(true);
    });

    it('gives each message a later time than the one before, also within one command', async () => {
      const thread = await openThread(given().store);
      await thread.answer(Array.from({ length: 50 }, (_, n) => message(`m${n}`)));
      for (let n = 0; n < 20; n++) {
        await thread.store.messages.inject(thread.id, {
          id: `i${n}`,
          role: 'system',
          content: 'x',
          executionId: null,
        });
      }
      const times = (await thread.messages()).map(({ created_at: at }) => at);
      expect(times).toHaveLength(71);
      expect(times.every((at, n) => Number.isSafeInteger(at) && (n === 0 || at > (times[n - 1] ?? 0)))).toBe(
        true,
      );
    });
  });
}
