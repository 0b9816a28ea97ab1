/** Two connections at once: what both write is numbered in one order. */
import { describe, expect, it } from '@jest/globals';
import { SEEDS, seededRandom } from '../../support/seeded-random.ts';
import type { Stores } from '../store-contract.ts';
import { isGapFree, message, openThread, ThreadDriver } from '../thread-driver.ts';

export function registerConcurrency(given: () => Stores): void {
  describe('two connections', () => {
    it('write to one thread without gaps, losses or duplicates', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('first')]);
      const handles = [store, second];
      await Promise.all(
        Array.from({ length: 120 }, (_, n) => {
          const handle = handles[n % 2] as typeof store;
          const id = `i${Math.floor(n / 3)}`; // Each id occurs three times.
          if (n % 5 === 0) return handle.modelCalls.appendChunk({ ...ref, call: 1, delta: 'x' });
          if (n % 5 < 3) return handle.queue.add(thread.id, message(id));
          return handle.messages.inject(thread.id, {
            id: `m${n}`,
            role: 'system',
            content: `${n}`,
            executionId: null,
          });
        }),
      );
      const events = await thread.events();
      expect(isGapFree(events)).toBe(true);
      expect(events[0]?.seq).toBe(1);
      expect(events.filter((event) => event.type === 'model.chunk')).toHaveLength(24);
      const messages = await thread.messages();
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
      const times = messages.filter(({ status }) => status === 'completed').map(({ created_at: at }) => at);
      expect(times.every((at, n) => n === 0 || at > (times[n - 1] ?? 0))).toBe(true);
    });

    it('show a reader events in order, none inserted before one already read', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      let writing = true;
      const writers = Promise.all(
        [store, second].map(async (handle, which) => {
          for (let n = 0; n < 40; n++) await handle.queue.add(thread.id, message(`w${which}-${n}`));
        }),
      ).finally(() => {
        writing = false;
      });
      let after = 0;
      while (writing) {
        for (const { seq } of await second.events.read(thread.id, after, 10)) {
          expect(seq).toBe(after + 1);
          after = seq;
        }
      }
      await writers;
      expect((await store.threads.get(thread.id))?.lastSeq).toBe(81);
    });

    it('show a reader each message once while it moves from queue to history', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const rows = Array.from({ length: 60 }, (_, n) => message(`m${n}`));
      for (const item of rows) await thread.stash(item);
      let draining = true;
      const drains = (async () => {
        for (const item of rows) {
          await thread.stash(message(`${item.id}-more`));
          await thread.begin();
        }
      })().finally(() => {
        draining = false;
      });
      let pages = 0;
      while (draining) {
        const { messages, total } = await second.messages.list(thread.id, { limit: 1000 });
        const ids = messages.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.length).toBe(total);
        expect(rows.every(({ id }) => ids.includes(id))).toBe(true);
        expect(await second.messages.get(thread.id, 'm0')).not.toBeNull();
        pages += 1;
      }
      await drains;
      expect(pages).toBeGreaterThan(0);
    });

    it('stage and queue the same items at the same time, each once', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const ids = Array.from({ length: 40 }, (_, n) => `m${n}`);
      await Promise.all(
        ids.flatMap((id, n) => [
          second.queue.stage(thread.id, message(id)),
          thread.stash(message(id)),
          second.queue.stage(thread.id, message(id)),
          n % 2 ? thread.as('run-1', second).stash(message(id)) : second.queue.add(thread.id, message(id)),
        ]),
      );
      expect((await thread.messages()).map(({ id }) => id).sort()).toEqual([...ids].sort());
      expect(await thread.events('item.queued')).toHaveLength(40);
      expect(await thread.begin()).toMatchObject({ kind: 'call', swept: 40 });
    });

    it('open one thread at the same time', async () => {
      const { store, second } = given();
      const driver = new ThreadDriver(store);
      const opened = await Promise.all(
        Array.from({ length: 12 }, (_, n) => driver.as('run-1', n % 2 ? second : store).open()),
      );
      expect(opened.map(({ kind }) => kind)).toEqual(Array(12).fill('open'));
      expect((await driver.events()).map(({ seq, type }) => [seq, type])).toEqual([[1, 'thread.created']]);
    });

    it('start one step once', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const begun = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          thread.as('run-1', n % 2 ? second : store).begin([message('a')], { ordinal: 7 }),
        ),
      );
      expect(begun.map((one) => one.kind === 'call' && one.step)).toEqual(Array(6).fill(1));
      expect(begun.map((one) => one.kind === 'call' && one.attempt).sort()).toEqual([1, 2, 3, 4, 5, 6]);
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['a']);
      expect(await thread.events('step.started')).toHaveLength(1);
    });

    it('start a call once', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const toolCalls = [
        { id: 'c0', type: 'function', function: { name: 'look', arguments: '{}' } },
      ] as const;
      await thread.answer([message('a')], { toolCalls });
      const begun = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          thread.as('run-1', n % 2 ? second : store).beginTool(1, 0, `attempt-${n}`),
        ),
      );
      expect(begun.filter(({ kind }) => kind === 'run')).toHaveLength(1);
      expect(begun.filter(({ kind }) => kind === 'begun_elsewhere')).toHaveLength(5);
    });

    it('commit an answer once', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')]);
      const commits = [store, second, store, second].map((handle, n) =>
        thread.as('run-1', handle).commit(ref, { content: `answer ${n}` }),
      );
      expect((await Promise.all(commits)).map(({ kind }) => kind)).toEqual(Array(4).fill('stored'));
      expect((await thread.messages()).filter(({ role }) => role === 'assistant')).toHaveLength(1);
    });

    it.each(SEEDS.slice(0, 4))('let the newest run win, in any order (seed %i)', async (seed) => {
      const { store, second } = given();
      const random = seededRandom(seed);
      const thread = await openThread(store);
      const admitted: string[] = ['run-1'];
      for (let n = 2; n < 30; n++) {
        const runId = random.chance(0.3) ? `run-${n}` : random.pick(admitted);
        if (!admitted.includes(runId)) admitted.push(runId);
        const write = thread.as(runId, random.chance(0.5) ? second : store).stash(message(`m${n}`));
        if (runId === admitted.at(-1)) await expect(write).resolves.toHaveProperty('waiting');
        else await expect(write).rejects.toMatchObject({ name: 'StaleRun' });
      }
    });
  });
}
