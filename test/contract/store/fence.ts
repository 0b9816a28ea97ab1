/** The fence: only the newest run of a thread may write. */
import { describe, expect, it } from '@jest/globals';
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

    it('separates the runs of different threads', async () => {
      const [one, other] = [await openThread(given().store), await openThread(given().store)];
      await one.as('run-2').open();
      expect(await other.open()).toMatchObject({ kind: 'open' });
    });
  });
}
