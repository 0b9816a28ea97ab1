/** Executions that code of one process produces, and the presence of that process. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message, openThread, type ThreadDriver } from '../thread-driver.ts';

const LONG_MS = 60_000;
const line = (n: number) => ({ type: 'delta', data: { n } });

/** A thread with a claimed producer, whose execution has begun unless `begins` is false. */
async function produced({ store }: Stores, { begins = true, presenceMs = LONG_MS } = {}) {
  const thread = await openThread(store);
  const executionId = `x:${randomUUID()}`;
  const presence = { threadId: thread.id, executionId, holder: randomUUID(), presenceMs };
  expect(await store.producers.claim(presence)).toBe(true);
  const item = message('x', 'hello', { executionId });
  const begin = async () => {
    const begun = await thread.begin([item], {
      ordinal: 0,
      request: () => ({
        window: { includeChat: true, includePastTools: false, recentImages: 0 },
        call: { model: 'm', modelId: 'm-1' },
      }),
    });
    if (begun.kind !== 'call') throw new Error(`It is ${begun.kind}.`);
    return begun;
  };
  return { thread, executionId, presence, begun: begins ? await begin() : undefined, begin };
}

const told = async (thread: ThreadDriver) =>
  (await thread.events('produced.line')).map(({ data }) => data.data);

export function registerProducer(given: () => Stores): void {
  describe('an execution produced by code of a process', () => {
    it('is claimed once for good; its step calls no model, at any attempt', async () => {
      const { store, second } = given();
      const { thread, executionId, presence, begun, begin } = await produced(given());
      expect(begun).toMatchObject({ produced: true, executionId });
      expect(begun).not.toHaveProperty('called');
      expect(await begin()).toMatchObject({ produced: true, attempt: 2, executionId });
      expect(await thread.events('model.called')).toEqual([]);
      expect(await thread.events('execution.started')).toMatchObject([{ data: { produced: true } }]);
      expect(await second.producers.claim({ ...presence, holder: 'other' })).toBe(false);
      expect(await second.producers.claim(presence)).toBe(true);
      await store.producers.settle({
        ...presence,
        produced: { ok: false, error: { code: 'X', message: 'x' } },
      });
      expect(await second.producers.claim({ ...presence, holder: 'other' })).toBe(false);
    });

    it('has its lines in order, each once however often sent, between start and end', async () => {
      const { store } = given();
      const { thread, presence, begin } = await produced(given(), { begins: false });
      const tell = (from: number, ...lines: number[]) =>
        store.producers.append({ ...presence, from, lines: lines.map(line) });
      expect(await tell(0, 1)).toBe(false);
      const { step, attempt } = await begin();
      expect(await tell(0, 1, 2)).toBe(true);
      // The answer was lost, so the same lines are sent again.
      expect(await tell(0, 1, 2)).toBe(true);
      expect(await tell(2, 3)).toBe(true);
      // Lines are missing in between.
      expect(await tell(9, 9)).toBe(false);
      expect(await store.producers.append({ ...presence, holder: 'other', from: 3, lines: [line(4)] })).toBe(
        false,
      );
      expect(await told(thread)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      await thread.commit({ ...thread.from, step, attempt }, { directive: 'produced' });
      thread.afterStep = step;
      await thread.rest();
      expect(await tell(3, 4)).toBe(false);
      expect(await told(thread)).toHaveLength(3);
    });

    it('ends once, with the first end', async () => {
      const { store, second } = given();
      const { thread, executionId, presence } = await produced(given());
      const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
      expect(
        await store.producers.settle({ ...presence, produced: { ok: true, text: 'Done.', usage } }),
      ).toBe(true);
      const late = { ok: false, error: { code: 'Late', message: 'late' } } as const;
      expect(await store.producers.settle({ ...presence, produced: late })).toBe(false);
      expect(await second.producers.find(thread.id, executionId)).toMatchObject({
        state: 'ended',
        produced: { ok: true, text: 'Done.', usage },
        overdue: false,
      });
      expect((await thread.events('produced.ended')).map(({ data }) => data)).toEqual([{ executionId }]);
    });

    it('is lost once its process stops renewing it, and no other process continues it', async () => {
      const { store, second } = given();
      const { thread, executionId, presence } = await produced(given(), { presenceMs: -1 });
      const kept = await produced(given());
      expect(await store.producers.find(thread.id, executionId)).toMatchObject({
        state: 'open',
        overdue: true,
      });
      // Any worker may look; both may find it.
      const closed = await Promise.all([store.producers.closeLost(), second.producers.closeLost()]);
      expect(Math.max(...closed)).toBeGreaterThanOrEqual(1);
      expect(await store.producers.find(thread.id, executionId)).toMatchObject({
        produced: {
          ok: false,
          error: { code: 'ProducerLost', message: expect.stringContaining(executionId) },
        },
      });
      expect(await thread.events('produced.ended')).toMatchObject([
        { data: { error: { code: 'ProducerLost' } } },
      ]);
      expect(await store.producers.renew(presence)).toBe(false);
      expect(await store.producers.append({ ...presence, from: 0, lines: [line(1)] })).toBe(false);
      expect(await kept.thread.events('produced.ended')).toEqual([]);
      expect(await store.producers.renew(kept.presence)).toBe(true);
    });

    it('is taken over once its process is silent: its lines are withdrawn, and it has no more say', async () => {
      const { store, second } = given();
      const { thread, executionId, presence } = await produced(given());
      const heir = { ...presence, holder: randomUUID() };
      await store.producers.append({ ...presence, from: 0, lines: [line(1), line(2)] });
      expect(await second.producers.takeOver(heir)).toBe(false);
      expect(await store.producers.takeOver(presence)).toBe(true);
      // It has missed two of its three renewals, and has not expired.
      await store.producers.renew({ ...presence, presenceMs: LONG_MS / 3 - 1 });
      const rivals = [heir, { ...presence, holder: randomUUID() }];
      const taken = await Promise.all(rivals.map((rival) => second.producers.takeOver(rival)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      const [winner = heir] = rivals.filter((_, n) => taken[n]);
      expect(await store.producers.renew(presence)).toBe(false);
      expect(await store.producers.append({ ...presence, from: 2, lines: [line(3)] })).toBe(false);
      expect(await store.producers.append({ ...winner, from: 0, lines: [line(4)] })).toBe(true);
      expect((await thread.events('produced.line')).map(({ data }) => data)).toEqual([
        ...[line(1), line(2)],
        { type: 'message.discarded', data: { reason: 'ProducerLost' } },
        line(4),
      ]);
      const ended = { ok: false, error: { code: 'X', message: 'x' } } as const;
      expect(await store.producers.settle({ ...presence, produced: ended })).toBe(false);
      expect(await store.producers.settle({ ...winner, produced: ended })).toBe(true);
      expect(await store.producers.takeOver(heir)).toBe(false);
      expect(await store.producers.find(thread.id, executionId)).toMatchObject({ state: 'ended' });
    });

    it('is lost also if its thread was never created', async () => {
      const { store } = given();
      const presence = { threadId: randomUUID(), executionId: 'x', holder: 'me', presenceMs: -1 };
      expect(await store.producers.claim(presence)).toBe(true);
      await store.producers.closeLost();
      expect(await store.producers.find(presence.threadId, 'x')).toMatchObject({
        state: 'ended',
        lastSeq: 0,
      });
    });
  });
}
