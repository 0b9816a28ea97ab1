/** definitions §10: code of a thread schedules, lists and removes effects. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineEffect } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { openFilledThread } from '../contract/filled-thread.ts';
import { ended } from '../support/effects.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const nothing = defineEffect('does nothing', () => undefined);

async function resultOf(runtime: TestRuntime, thread: string): Promise<unknown> {
  const last = (await runtime.messages(thread)).findLast(({ role }) => role === 'tool');
  if (last?.tool_status !== 'success') throw new Error(String(last?.content));
  return JSON.parse(last.content as string);
}

describe('definitions §10 Effects: scheduling', () => {
  it('[definitions 10] a delay is a minimum, arguments arrive unchanged, and there is no execution', async () => {
    const fired: unknown[] = [];
    const remind = defineEffect(
      'reminds',
      z.object({ of: z.array(z.string()), deep: z.any() }),
      (state, args) => {
        const { execution, context, arguments: own } = state;
        fired.push({ at: Date.now(), args, execution, context, own });
      },
    );
    const args = { of: ['tea', 'ü'], deep: { list: [1, null, { x: true }] } };
    let scheduled = 0;
    const plan = toolOf(async (state) => {
      scheduled = Date.now();
      await state.scheduleEffect('remind', args, 400);
      return state.getScheduledEffects();
    });
    const model = scriptedModel([calls('plan'), says('planned')]);
    const runtime = await testRuntime({ model, tools: { plan }, effects: { remind } });
    const thread = await runtime.start('plan');
    const [listed] = (await resultOf(runtime, thread)) as { scheduledAt: number; createdAt: number }[];
    expect(listed).toMatchObject({ id: expect.any(String), name: 'remind', args });
    expect((listed?.scheduledAt ?? 0) - (listed?.createdAt ?? 0)).toBeGreaterThanOrEqual(400_000);
    await eventually('it fires', () => fired.length > 0);
    expect(fired).toEqual([{ at: expect.any(Number), args, execution: null, context: {}, own: {} }]);
    expect((fired[0] as { at: number }).at - scheduled).toBeGreaterThanOrEqual(400);
    await ended(runtime, thread, 1);
    expect(fired).toHaveLength(1);
  });

  it('[definitions 10] waiting effects are listed by due time or name, and removed once', async () => {
    const work = toolOf(async (state) => {
      const late = await state.scheduleEffect('b', { n: 1 }, 90_000);
      const early = await state.scheduleEffect('a', { n: 2 }, 30_000);
      const middle = await state.scheduleEffect('b', { n: 3 }, 60_000);
      const name = (id: string) => ({ [late]: 'late', [early]: 'early', [middle]: 'middle' })[id];
      const list = async (of?: string) => (await state.getScheduledEffects(of)).map(({ id }) => name(id));
      return {
        all: await list(),
        b: await list('b'),
        removed: [
          await state.removeScheduledEffect(middle),
          await state.removeScheduledEffect(middle),
          await state.removeScheduledEffect('unknown'),
        ],
        left: await list(),
      };
    });
    const model = scriptedModel([calls('work'), says('done')]);
    const runtime = await testRuntime({ model, tools: { work }, effects: { a: nothing, b: nothing } });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread)).toEqual({
      all: ['early', 'middle', 'late'],
      b: ['middle', 'late'],
      removed: [true, false, false],
      left: ['early', 'late'],
    });
  });

  it('[definitions 10] a removed effect never fires', async () => {
    const fired: string[] = [];
    const note = defineEffect('notes', z.object({ id: z.string() }), (_state, { id }) => void fired.push(id));
    const work = toolOf(async (state) => {
      const removed = await state.scheduleEffect('note', { id: 'removed' }, 200);
      await state.scheduleEffect('note', { id: 'kept' }, 300);
      return state.removeScheduledEffect(removed);
    });
    const model = scriptedModel([calls('work'), says('done')]);
    const runtime = await testRuntime({ model, tools: { work }, effects: { note } });
    await ended(runtime, await runtime.start('go'), 1);
    expect(fired).toEqual(['kept']);
  });

  it('[definitions 10] an unknown name, an invalid delay and arguments that are not a JSON object are refused', async () => {
    const codes = (state: ThreadState) =>
      Promise.all(
        [
          state.scheduleEffect('unknown'),
          state.scheduleEffect('toString'),
          ...[-1, Number.NaN, Number.POSITIVE_INFINITY, 400 * 24 * 3_600_000, '5' as never].map((delay) =>
            state.scheduleEffect('known', {}, delay),
          ),
          ...[[], null, 'text', { big: 1n }, { text: 'x'.repeat(LIMITS.effectArgumentBytes) }].map((args) =>
            state.scheduleEffect('known', args as never),
          ),
        ].map((each) =>
          each.then(
            () => 'taken',
            (error: { code: string }) => error.code,
          ),
        ),
      );
    const work = toolOf(async (state) => [await codes(state), (await state.getScheduledEffects()).length]);
    const model = scriptedModel([calls('work'), says('done')]);
    const runtime = await testRuntime({ model, tools: { work }, effects: { known: nothing } });
    const thread = await runtime.start('go');
    const [given, waiting] = (await resultOf(runtime, thread)) as [string[], number];
    expect(given.slice(0, 2)).toEqual(['EffectNotFound', 'EffectNotFound']);
    expect(new Set(given.slice(2, 11))).toEqual(new Set(['InvalidValue']));
    expect(given[11]).toMatch(/InvalidValue|LimitExceeded/);
    expect(waiting).toBe(0);
  });

  it('[definitions 10] at most ten thousand may wait, and a repeated id does not count', async () => {
    const { store, id: thread, copyRow } = await openFilledThread();
    const schedule = (id: string) =>
      store.effects.schedule(thread, { id, name: 'remind', args: {}, delayMs: 3_600_000 });
    const ids = Array.from({ length: LIMITS.effectsPerThread }, (_, n) => `e${n}`);
    await schedule('e0');
    copyRow('effects', 'id', 'e0', ids.slice(1, -20));
    for (const id of ids.slice(-20)) await schedule(id);
    expect(await store.effects.list(thread)).toHaveLength(LIMITS.effectsPerThread);
    await expect(schedule('more')).rejects.toMatchObject({ code: 'LimitExceeded' });
    await schedule('e0');
    await store.effects.remove(thread, 'e0');
    await schedule('more');
    await expect(schedule('one more')).rejects.toMatchObject({ code: 'LimitExceeded' });
  });
});
