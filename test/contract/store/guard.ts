/** What the store keeps and decides for the guards of a turn: loops among calls, rounds. */
import { describe, expect, it } from '@jest/globals';
import { toLoopGuard } from '../../../src/core/guard/loop.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';

const loops = toLoopGuard({ warning: 3, critical: 4 });
const seen = { status: 'success', result: 'seen' } as const;

/** Takes a step with one call, and stores its result. */
async function callOnce(thread: ThreadDriver, n: number, first = false): Promise<unknown> {
  const toolCalls = [call(`c${n}`, 'look', n % 2 ? '{"a":1,"b":2}' : '{"b":2,"a":1}')];
  const { step } = await thread.answer(first ? [message(`m${n}`)] : [], { content: null, toolCalls });
  thread.afterStep = step;
  await thread.beginTool(step, 0);
  return thread.commitTool(step, 0, { result: seen, loops });
}

export function registerGuard(given: () => Stores): void {
  describe('guards', () => {
    it('[AX-75] find a loop among the calls of an execution, and give each later attempt the same verdict', async () => {
      const thread = await openThread(given().store);
      for (let n = 1; n < 4; n++)
        expect(await callOnce(thread, n, n === 1)).toEqual({ kind: 'stored', queued: 0 });
      const error = { code: 'LoopDetected', message: expect.stringContaining('generic_repeat') };
      expect(await callOnce(thread, 4)).toEqual({ kind: 'stored', queued: 0, denied: error });
      const again = { result: seen, loops };
      expect(await thread.commitTool(4, 0, again)).toEqual({ kind: 'stored', queued: 0, denied: error });
      expect(await thread.beginTool(4, 0)).toMatchObject({ kind: 'settled', state: 'done', denied: error });
      expect(await thread.events('loop.warning', 'loop.critical')).toMatchObject([
        { type: 'loop.warning', data: { detector: 'generic_repeat', count: 3 } },
        { type: 'loop.critical', data: { detector: 'generic_repeat', count: 4 } },
      ]);
    });

    it('[AX-76] remind the request after the warning, and no other', async () => {
      const thread = await openThread(given().store);
      for (let n = 1; n < 4; n++) await callOnce(thread, n, n === 1);
      const { step } = await thread.beginCall();
      const read = async () => (await given().store.steps.readContext(thread.id, step)).loops;
      expect(await read()).toEqual([{ name: 'look', detector: 'generic_repeat', count: 3 }]);
      await thread.commit({ ...thread.from, step, attempt: 1 });
      expect(await read()).toBeUndefined();
    });

    it('[AX-101] keep the round limit of the start of an execution, and pause a child by one key', async () => {
      const rounds = (max: number) => ({ rules: () => ({ rounds: { a: max } }) });
      const root = await openThread(given().store);
      const child = new ThreadDriver(given().store);
      await child.open({ parentId: root.id, rootId: root.id });
      for (const thread of [root, child]) {
        const ref = await thread.beginCall([message('m1')], rounds(1));
        await thread.commit(ref, { content: null, toolCalls: [call('c1', 'look')] });
        thread.afterStep = ref.step;
        await thread.runTool(ref.step, 0);
      }
      expect(await root.begin([], rounds(9))).toMatchObject({
        kind: 'failed',
        error: { code: 'RoundsExhausted' },
      });
      const paused = await child.begin([], rounds(9));
      expect(paused).toMatchObject({
        kind: 'paused',
        pause: { agent: 'helper', rounds: { round: 1, maxRounds: 1, executedTools: ['look'] } },
      });
      expect(await child.begin([], rounds(9))).toEqual(paused);
      // A new message brings new rounds.
      expect(await child.begin([message('m2')], rounds(9))).toMatchObject({ kind: 'call' });
    });
  });
}
