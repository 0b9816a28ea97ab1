/** The fence: only the newest run of a thread may write. */
import { describe, expect, it } from '@jest/globals';
import type { ActivityAttempt } from '../../../src/store/transaction/from-run.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };

/** Every command of a workflow that the fence refuses, applied to step 1. */
const COMMANDS: readonly [string, (thread: ThreadDriver) => Promise<unknown>][] = [
  ['openThread', (thread) => thread.open()],
  ['stashItems', (thread) => thread.stash(message('late'))],
  ['beginStep', (thread) => thread.begin([message('late')], { ordinal: 9 })],
  ['commitStep', (thread) => thread.commit({ ...thread.from, step: 1, attempt: 1 })],
  [
    'failStep',
    ({ store, from }) =>
      store.steps.fail({ ...from, step: 1, attempt: 1, error: { code: 'x', message: 'x' } }),
  ],
  [
    'startModelCall',
    ({ store, from }) =>
      store.modelCalls.start({ ...from, step: 1, attempt: 1, call: 9, model: 'm', modelId: 'm' }),
  ],
  [
    'endModelCall',
    ({ store, from }) => store.modelCalls.end({ ...from, step: 1, attempt: 1, call: 1, ok: true, usage }),
  ],
  ['beginTool', (thread) => thread.beginTool(1, 0)],
  ['settleLostTool', (thread) => thread.settleLostTool(1, 0)],
  ['commitStatus', (thread) => thread.rest('stopped')],
];

/** Every command that begins or ends work of the thread's flow. */
const FLOW: readonly [string, (thread: ThreadDriver, activity: ActivityAttempt) => Promise<unknown>][] = [
  ['beginStep', (thread, activity) => thread.begin([message('late')], { ordinal: 9, activity })],
  [
    'beginTool',
    ({ store, from }, activity) =>
      store.toolCalls.begin({ ...from, step: 1, index: 0, attempt: 'x', idempotent: () => true, activity }),
  ],
  [
    'settleLostTool',
    ({ store, from }, activity) => store.toolCalls.settleLost({ ...from, step: 1, index: 0, activity }),
  ],
  [
    'openSubprompt',
    ({ store, from }, activity) =>
      store.subprompts.open({
        ...from,
        step: 1,
        index: 0,
        parentId: 'p',
        prompt: 'p',
        arguments: {},
        activity,
      }),
  ],
  ['commitStatus', (thread, activity) => thread.rest('stopped', { activity })],
];

export function registerFence(given: () => Stores): void {
  describe('the fence', () => {
    it.each(COMMANDS)(
      'refuses %s from a retired run as StaleRun, and writes nothing',
      async (_name, command) => {
        const thread = await openThread(given().store);
        await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
        await thread.as('run-2').open();
        const before = await thread.everything();
        await expect(command(thread)).rejects.toMatchObject({ name: 'StaleRun' });
        await expect(command(thread.as('run-1', given().second))).rejects.toMatchObject({ name: 'StaleRun' });
        expect(await thread.everything()).toEqual(before);
      },
    );

    it('admits a new run with its first command, whichever it is', async () => {
      const thread = await openThread(given().store);
      await thread.as('run-2').stash(message('a'));
      await thread.as('run-3').rest();
      await expect(thread.as('run-2').open()).rejects.toMatchObject({ name: 'StaleRun' });
      await expect(thread.open()).rejects.toMatchObject({ name: 'StaleRun' });
      expect(await thread.as('run-3').open()).toMatchObject({ kind: 'open', waiting: 1 });
    });

    it('drops the streamed text of a retired run silently', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      await thread.as('run-2').open();
      expect(await thread.chunk(ref, 'late')).toBe(false);
      expect(await thread.events('model.chunk')).toEqual([]);
    });

    it('stores the result of a tool started by a retired run while the call is still its own', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
      await thread.beginTool(1, 0);
      await thread.as('run-2').open();
      expect(await thread.commitTool(1, 0)).toEqual({ kind: 'stored', queued: 0 });
      expect(await thread.as('run-2').settleLostTool(1, 0)).toMatchObject({ kind: 'settled', state: 'done' });
    });

    it.each(FLOW)(
      'refuses %s from an attempt that was replaced as StaleAttempt, and writes nothing',
      async (_name, command) => {
        const thread = await openThread(given().store);
        await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
        const newest = { number: 5, since: 1000 };
        await thread.store.toolCalls.settleLost({ ...thread.from, step: 1, index: 0, activity: newest });
        const before = await thread.everything();
        for (const activity of [
          { number: 5, since: 999 },
          { number: 4, since: 2000 },
        ]) {
          for (const store of [given().store, given().second])
            await expect(command(thread.as('run-1', store), activity)).rejects.toMatchObject({
              name: 'StaleAttempt',
            });
        }
        expect(await thread.everything()).toEqual(before);
        await command(thread, newest);
      },
    );

    it('refuses a model call from an attempt at a step that was replaced as StaleAttempt', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      const again = await thread.beginCall([message('a')], { ordinal: 1 });
      const asked = { call: 1, model: 'm', modelId: 'm' };
      await expect(thread.store.modelCalls.start({ ...ref, ...asked })).rejects.toMatchObject({
        name: 'StaleAttempt',
      });
      expect(await thread.store.modelCalls.start({ ...again, ...asked })).toMatchObject({ kind: 'started' });
    });

    it('admits a later attempt, a later activity, and any activity of a new run', async () => {
      const thread = await openThread(given().store);
      for (const activity of [
        { number: 5, since: 1000 },
        { number: 5, since: 1001 },
        { number: 6, since: 900 },
      ])
        await thread.rest('idle', { activity });
      await thread.as('run-2').rest('idle', { activity: { number: 1, since: 1 } });
    });

    it('stores the answer and the result of an attempt that was replaced', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')], { activity: { number: 5, since: 1000 } });
      await thread.rest('idle', { activity: { number: 6, since: 1000 }, more: true });
      expect(await thread.commit(ref)).toMatchObject({ kind: 'stored' });
    });

    it.each([
      ['begins', 1000, 'started'],
      ['does not begin', 999, 'scheduled'],
    ])(
      '%s the first call with the answer of an attempt of %p, if one of 1000 is the newest',
      async (_does, since, state) => {
        const thread = await openThread(given().store);
        const ref = await thread.beginCall([message('a')], { activity: { number: 5, since: 1000 } });
        const begins = { ...thread.from, step: ref.step, index: 0, attempt: 'one', idempotent: () => false };
        const committed = await thread.commit(ref, {
          toolCalls: [call('c1', 'look')],
          begins: { ...begins, activity: { number: 5, since } },
        });
        expect(committed).toMatchObject({ kind: 'stored', record: { calls: ['look'] } });
        expect('begun' in committed && committed.begun !== undefined).toBe(state === 'started');
        const settled = await thread.store.toolCalls.settleLost({ ...thread.from, step: ref.step, index: 0 });
        expect(settled.kind).toBe(state === 'started' ? 'settled' : 'redispatch');
      },
    );

    it('separates the runs of different threads', async () => {
      const [one, other] = [await openThread(given().store), await openThread(given().store)];
      await one.as('run-2').open();
      expect(await other.open()).toMatchObject({ kind: 'open' });
    });
  });
}
