/** Limits as the store counts them (core/thread/step-limit.ts): checked before a step, not reset by a thread's work. */
import { describe, expect, it } from '@jest/globals';
import type { StepLimits } from '../../../src/core/thread/step-limit.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

const within = (limits: StepLimits) => ({ rules: () => ({ limits }) });
const TWO = within({ maxSteps: { a: 2 } });
const own = (thread: ThreadDriver, id: string) =>
  thread.store.queue.add(thread.id, tool(id, 'look'), { own: true });

/** A thread with two steps, which is the limit, and a tool that it has queued itself. */
async function used(given: Stores): Promise<ThreadDriver> {
  const thread = await openThread(given.store);
  await thread.commit(await thread.beginCall([message('a')], TWO), { toolCalls: [call('c1', 'look')] });
  await thread.runTool(1, 0);
  thread.afterStep = 1;
  await thread.commit(await thread.beginCall([], TWO));
  thread.afterStep = 2;
  await own(thread, 'own');
  return thread;
}

export function registerLimit(given: () => Stores): void {
  describe('limits', () => {
    it('[runtime 6.4] deny a step before anything is drained, and deny it again when repeated', async () => {
      const thread = await used(given());
      const limited = { kind: 'limited', step: 2, reason: 'max_side_steps', swept: 0, waiting: 2 };
      const items = [message('late')];
      expect(await thread.begin(items, { ...TWO, ordinal: 9 })).toEqual(limited);
      const before = await thread.everything();
      expect(await thread.begin(items, { ...TWO, ordinal: 9 })).toEqual(limited);
      expect(await thread.everything()).toEqual(before);
      expect((await thread.messages()).filter(({ status }) => status === 'pending')).toHaveLength(2);
      expect((await thread.events('item.queued')).map(({ data }) => data.id)).toEqual(['own', 'late']);
    });

    it('[runtime 6.4] let an execution that they ended rest with items of the thread itself, and no others', async () => {
      const thread = await used(given());
      expect(await thread.rest('idle', { reason: 'max_side_steps' })).toMatchObject({
        kind: 'rest',
        waiting: 1,
      });
      await thread.stash(message('outside'));
      expect(await thread.rest('idle', { reason: 'max_side_steps' })).toMatchObject({
        kind: 'pending',
        waiting: 2,
      });
    });

    it('[runtime 6.4] restart when a person continues the thread with its own queued items', async () => {
      const thread = await used(given());
      await thread.rest('idle', { reason: 'max_side_steps' });
      thread.executionId = 'execution-2';
      expect(await thread.begin([], TWO)).toMatchObject({ kind: 'limited' });
      expect(await thread.begin([], { ...TWO, unprompted: true })).toMatchObject({
        kind: 'stored',
        record: { kind: 'tools' },
        taken: { a: 1, b: 0 },
      });
    });

    it('[runtime 6.4] continue for an execution started by the thread itself, and restart for one from outside', async () => {
      const thread = await used(given());
      expect(await thread.rest('idle', { reason: 'stop_on_response' })).toMatchObject({ kind: 'pending' });
      thread.executionId = 'execution-2';
      expect(await thread.begin([], TWO)).toMatchObject({ kind: 'limited' });
      expect(await thread.begin([message('b')], TWO)).toMatchObject({
        kind: 'stored',
        record: { kind: 'tools', moreInput: true },
        taken: { a: 1, b: 0 },
      });
    });

    it('[runtime 6.4] count the step that replaces an abandoned one of a killed run, not that one', async () => {
      const thread = await openThread(given().store);
      const one = within({ maxSteps: { a: 1 } });
      expect(await thread.begin([message('a')], one)).toMatchObject({ kind: 'call', step: 1 });
      const revived = thread.as('run-2');
      await revived.open();
      expect(await revived.begin([], one)).toMatchObject({ kind: 'call', step: 2, taken: { a: 1, b: 0 } });
    });

    it('[runtime 6.4] apply to queued tools as they start, also after a step that is taken over', async () => {
      const thread = await openThread(given().store);
      const one = within({ maxSteps: { a: 1 } });
      await thread.commit(await thread.beginCall([message('a')], one), { toolCalls: [call('c1', 'look')] });
      await own(thread, 'own');
      const revived = thread.as('run-2');
      await revived.open();
      expect(await revived.begin([], one)).toMatchObject({ kind: 'stored', swept: 0, record: { step: 1 } });
      await revived.runTool(1, 0);
      revived.afterStep = 1;
      expect(await revived.begin([], one)).toMatchObject({ kind: 'limited', step: 1, waiting: 1 });
    });

    it('[runtime 6.4] are those of the side that the first message activates', async () => {
      const thread = await openThread(given().store);
      const sides = { ...within({ maxSteps: { b: 1 }, maxSessionTurns: 9 }), twoSides: true };
      const said = (id: string) => message(id, id, { role: 'assistant' });
      await thread.commit(await thread.beginCall([said('a')], sides));
      thread.afterStep = 1;
      expect(await thread.begin([said('b')], sides)).toMatchObject({
        kind: 'limited',
        reason: 'max_side_steps',
      });
      expect(await thread.begin([message('c')], { ...sides, prepared: [] })).toMatchObject({ kind: 'call' });
    });

    it('[runtime 6.4] apply to a session with exhausted turns', async () => {
      const thread = await openThread(given().store);
      const session = { side: 'a', turns: 3 } as const;
      const sides = { ...within({ maxSteps: {}, maxSessionTurns: 3 }), twoSides: true, session };
      expect(await thread.begin([message('a')], sides)).toMatchObject({ reason: 'max_session_turns' });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ session: { side: 'a', turns: 0 } });
    });

    it('show hooks the queued rows, and that they would not be drained', async () => {
      const thread = await used(given());
      const query = { ...thread.from, ordinal: 9, afterStep: thread.afterStep, items: [] };
      expect(await thread.store.queue.readPending({ ...query, ...TWO })).toMatchObject({ limited: true });
      expect(await thread.store.queue.readPending(query)).toMatchObject({ limited: false });
    });

    it('[runtime 6.4] let hooks see messages that need no answer: a limit does not hold them back', async () => {
      const thread = await openThread(given().store);
      const one = within({ maxSteps: { a: 1 } });
      await thread.commit(await thread.beginCall([message('a')], one));
      thread.afterStep = 1;
      await thread.rest('idle', { reason: 'stop_on_response' });
      await thread.store.queue.add(thread.id, message('note', 'seen', { role: 'system' }), { own: true });
      const query = { ...thread.from, ordinal: 9, afterStep: 1, items: [], ...one };
      expect(await thread.store.queue.readPending(query)).toMatchObject({
        limited: false,
        rows: [{ id: 'note' }],
      });
      expect(await thread.begin([], { ...one, executionId: 'execution-2' })).toMatchObject({
        kind: 'nothing_to_do',
        swept: 1,
      });
    });
  });
}
