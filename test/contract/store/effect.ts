/** Effects: scheduled, listed, removed, begun when due, ended once (definitions §10). */
import { describe, expect, it } from '@jest/globals';
import type { BegunEffect, NewEffect } from '../../../src/store/effect/effect-record.ts';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';
import { message, openThread, type ThreadDriver } from '../thread-driver.ts';

type Run = Extract<BegunEffect, { kind: 'run' }>;

function schedule(thread: ThreadDriver, id: string, fields: Partial<NewEffect> = {}): Promise<number> {
  return thread.store.effects.schedule(thread.id, { id, name: 'remind', args: {}, delayMs: 0, ...fields });
}

function begin(thread: ThreadDriver): Promise<BegunEffect> {
  return thread.store.effects.begin(thread.from);
}

async function beginRun(thread: ThreadDriver): Promise<Run> {
  const begun = await begin(thread);
  if (begun.kind !== 'run') throw new Error(`An effect should begin, not ${JSON.stringify(begun)}.`);
  return begun;
}

function end(
  thread: ThreadDriver,
  { effect, attempt }: Run,
  fields: { error?: { code: string; message: string } } = {},
) {
  return thread.store.effects.end({ ...thread.from, id: effect.id, attempt, queuedTools: [], ...fields });
}

const ids = async (thread: ThreadDriver, name?: string) =>
  (await thread.store.effects.list(thread.id, name)).map(({ id }) => id);

export function registerEffect(given: () => Stores): void {
  describe('effects', () => {
    it('[definitions 10] keep their arguments and their time, and the next due is listed first', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'late', { delayMs: 60_000, args: { nested: { list: [1, 'ü', null] } } });
      await schedule(thread, 'early', { delayMs: 30_000 });
      await schedule(thread, 'other', { name: 'sweep', delayMs: 40_000 });
      const all = await thread.store.effects.list(thread.id);
      expect(all.map(({ id }) => id)).toEqual(['early', 'other', 'late']);
      expect(all[2]).toEqual({
        id: 'late',
        name: 'remind',
        args: { nested: { list: [1, 'ü', null] } },
        scheduledAt: expect.any(Number),
        createdAt: expect.any(Number),
      });
      expect(await ids(thread, 'sweep')).toEqual(['other']);
      expect(await ids(thread, 'nothing')).toEqual([]);
      for (const { scheduledAt, createdAt, id } of all) {
        const delay = { late: 60_000, early: 30_000, other: 40_000 }[id] as number;
        expect(scheduledAt - createdAt).toBeGreaterThanOrEqual(delay * 1000);
        expect(scheduledAt - createdAt).toBeLessThan(delay * 1000 + 1000);
      }
    });

    it('are unique by id: the same id schedules nothing again, even after it ran', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'a');
      const before = await thread.events();
      await schedule(thread, 'a', { args: { other: true }, delayMs: 5000 });
      expect(await thread.events()).toEqual(before);
      await end(thread, await beginRun(thread));
      await schedule(thread, 'a');
      expect(await ids(thread)).toEqual([]);
      expect((await thread.events('effect.scheduled')).length).toBe(1);
    });

    it('due at the same time run in the order of scheduling', async () => {
      const thread = await openThread(given().store);
      const scheduled = ['z', 'm', 'a', 'q', 'b', 'y'];
      for (const id of scheduled) await schedule(thread, id);
      expect(await ids(thread)).toEqual(scheduled);
      const run: string[] = [];
      while (run.length < scheduled.length) {
        const begun = await begin(thread);
        if (begun.kind !== 'run') continue;
        run.push(begun.effect.id);
        await end(thread, begun);
      }
      expect(run).toEqual(scheduled);
    });

    it('report when the next one is due', async () => {
      const thread = await openThread(given().store);
      const next = () => thread.store.effects.next(thread.id);
      expect(await next()).toBeNull();
      const answered = await schedule(thread, 'hour', { delayMs: 3_600_000 });
      expect(answered).toBeGreaterThan(3_590_000);
      expect(answered).toBeLessThanOrEqual(3_600_000);
      expect(await schedule(thread, 'minute', { delayMs: 60_000 })).toBeLessThanOrEqual(60_000);
      expect(await schedule(thread, 'two hours', { delayMs: 7_200_000 })).toBeLessThanOrEqual(60_000);
      expect(await next()).toBeGreaterThan(50_000);
      await thread.store.effects.remove(thread.id, 'minute');
      expect(await next()).toBeGreaterThan(3_590_000);
      await schedule(thread, 'now');
      expect(await next()).toBe(0);
    });

    it('[definitions 10] do not start before they are due', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'late', { delayMs: 60_000 });
      expect(await begin(thread)).toEqual({ kind: 'none', waiting: 0 });
      await schedule(thread, 'soon', { delayMs: 150 });
      const begun = await eventually('it is due', async () => {
        const found = await begin(thread);
        return found.kind === 'run' && found;
      });
      expect(Date.now() * 1000).toBeGreaterThanOrEqual(begun.effect.scheduledAt - 1000);
      expect(begun).toMatchObject({ attempt: 1, thread: { id: thread.id, agent: 'helper' } });
    });

    it('can be removed only while they wait', async () => {
      const thread = await openThread(given().store);
      const remove = (id: string) => thread.store.effects.remove(thread.id, id);
      await schedule(thread, 'a', { delayMs: 60_000 });
      expect(await remove('a')).toBe(true);
      expect(await remove('a')).toBe(false);
      expect(await remove('unknown')).toBe(false);
      expect(await ids(thread)).toEqual([]);
      await schedule(thread, 'b');
      const begun = await beginRun(thread);
      expect(await remove('b')).toBe(false);
      await end(thread, begun);
      expect(await remove('b')).toBe(false);
      expect(await thread.events('effect.cancelled')).toMatchObject([{ data: { id: 'a', name: 'remind' } }]);
    });

    it('end once, with their error and queued tools', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'a');
      const begun = await beginRun(thread);
      const error = { code: 'EffectFailed', message: 'no' };
      const command = {
        ...thread.from,
        id: 'a',
        attempt: begun.attempt,
        error,
        queuedTools: [{ id: 't', name: 'look', arguments: { at: 1 } }],
      };
      expect(await thread.store.effects.end(command)).toEqual({ kind: 'stored', waiting: 1 });
      const before = await thread.everything();
      expect(await thread.store.effects.end(command)).toEqual({ kind: 'stored', waiting: 1 });
      expect(await thread.everything()).toEqual(before);
      expect(await thread.events('effect.started', 'effect.failed')).toMatchObject([
        { type: 'effect.started', data: { id: 'a', name: 'remind', attempt: 1 } },
        { type: 'effect.failed', data: { id: 'a', name: 'remind', error } },
      ]);
      expect(await begin(thread)).toEqual({ kind: 'none', waiting: 1 });
    });

    it('[definitions 10] of a lost worker are retried before the others, at most three times', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'lost');
      await schedule(thread, 'next');
      const first = await beginRun(thread);
      expect(await thread.store.effects.next(thread.id, { begun: true })).toBe(0);
      const second = await beginRun(thread);
      expect([first, second].map(({ effect, attempt }) => [effect.id, attempt])).toEqual([
        ['lost', 1],
        ['lost', 2],
      ]);
      expect(await end(thread, first)).toEqual({ kind: 'late' });
      expect(await beginRun(thread)).toMatchObject({ effect: { id: 'lost' }, attempt: 3 });
      expect(await beginRun(thread)).toMatchObject({ effect: { id: 'next' }, attempt: 1 });
      expect(await thread.events('effect.failed')).toMatchObject([
        { data: { id: 'lost', error: { code: 'EffectLost' } } },
      ]);
      expect(await end(thread, second)).toEqual({ kind: 'late' });
    });

    it('report queued items whose signal may be missing', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'a');
      const begun = await beginRun(thread);
      await thread.store.queue.add(thread.id, message('m'));
      expect(await end(thread, begun)).toEqual({ kind: 'stored', waiting: 1 });
      expect(await begin(thread)).toEqual({ kind: 'none', waiting: 1 });
    });

    it('[definitions 10] end with their thread', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'running');
      await schedule(thread, 'waiting', { delayMs: 60_000 });
      const begun = await beginRun(thread);
      await thread.rest('terminated');
      expect(await ids(thread)).toEqual([]);
      expect(await thread.store.effects.next(thread.id, { begun: true })).toBeNull();
      expect(await end(thread, begun)).toEqual({ kind: 'terminated' });
      expect(await begin(thread)).toEqual({ kind: 'terminated' });
      expect(await thread.store.effects.remove(thread.id, 'waiting')).toBe(false);
      await expect(schedule(thread, 'more')).rejects.toMatchObject({ code: 'ThreadTerminated' });
    });

    it('end with a thread terminated by its own code', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'waiting', { delayMs: 60_000 });
      await thread.store.threads.terminate(thread.id, 'over');
      expect(await ids(thread)).toEqual([]);
    });

    it('are refused to a replaced run', async () => {
      const thread = await openThread(given().store);
      await schedule(thread, 'a');
      await thread.as('run-2').open();
      await expect(begin(thread)).rejects.toMatchObject({ name: 'StaleRun' });
    });

    it('belong to one thread, and are the same on every connection', async () => {
      const { store, second } = given();
      const [thread, other] = [await openThread(store), await openThread(store)];
      await schedule(thread, 'a');
      expect(await ids(other)).toEqual([]);
      expect(await begin(other)).toMatchObject({ kind: 'none' });
      expect(await ids(thread.as(thread.runId, second))).toEqual(['a']);
      await expect(
        store.effects.schedule('nobody', { id: 'a', name: 'x', args: {}, delayMs: 0 }),
      ).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });

    it('start once, however many connections begin them at the same time', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      for (let n = 0; n < 3; n++) await schedule(thread, `e${n}`);
      const asked = Array.from({ length: 3 }, (_, n) =>
        begin(thread.as(thread.runId, n % 2 ? second : store)),
      );
      const begun = (await Promise.all(asked)).map((each) =>
        each.kind === 'run' ? `${each.effect.id} ${each.attempt}` : each.kind,
      );
      // A caller that finds an effect running takes its worker for lost; no attempt is handed out twice.
      expect(begun.sort()).toEqual(['e0 1', 'e0 2', 'e0 3']);
    });
  });
}
