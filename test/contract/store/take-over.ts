/** beginStep after a lost answer, a lost worker, a reset or a revival: what is stored is taken over. */
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

/** The workflow started again under a new run: it knows no step, and uses another execution id. */
function reset(thread: ThreadDriver): ThreadDriver {
  const again = thread.as('run-reset');
  again.executionId = 'execution-reset';
  return again;
}

export function registerTakeOver(given: () => Stores): void {
  describe('a repeated step', () => {
    it('is the same step with the next attempt, and the first is logged as lost', async () => {
      const thread = await openThread(given().store);
      await thread.begin([message('a')], { ordinal: 1 });
      expect(await thread.begin([message('a')], { ordinal: 1 })).toEqual({
        kind: 'call',
        step: 1,
        attempt: 2,
        swept: 0,
        taken: { a: 1, b: 0 },
      });
      expect(await thread.begin([message('a')], { ordinal: 1 })).toEqual({
        kind: 'call',
        step: 1,
        attempt: 3,
        swept: 0,
        taken: { a: 1, b: 0 },
      });
      expect(await thread.messages()).toHaveLength(1);
      expect(await thread.events('step.started', 'step.retried')).toMatchObject([
        { type: 'step.started', attempt: 1 },
        { type: 'step.retried', step: 1, attempt: 2 },
        { type: 'step.retried', step: 1, attempt: 3 },
      ]);
    });

    it('is returned as stored once it was committed', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      await thread.commit(ref, { toolCalls: [call('c1', 'look')] });
      const before = await thread.everything();
      expect(await thread.begin([message('a')], { ordinal: 1 })).toEqual({
        kind: 'stored',
        swept: 0,
        taken: { a: 1, b: 0 },
        record: {
          step: 1,
          kind: 'model',
          text: true,
          model: 'scripted',
          side: 'a',
          agent: 'helper',
          turns: 0,
          calls: ['look'],
          moreInput: false,
        },
      });
      expect(await thread.everything()).toEqual(before);
    });

    it('returns how many rows it drained, at either attempt', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('a'), message('b'));
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ kind: 'call', swept: 2 });
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ kind: 'call', attempt: 2, swept: 2 });
      await thread.stash(message('n', 'note', { role: 'assistant' }));
      await thread.commit({ ...thread.from, step: 1, attempt: 2 });
      await thread.rest('stopped');
      expect(await thread.begin([], { ordinal: 2 })).toMatchObject({ kind: 'nothing_to_do', swept: 1 });
      expect(await thread.begin([], { ordinal: 2 })).toMatchObject({ kind: 'nothing_to_do', swept: 1 });
    });

    it('leaves rows that arrived in between to the next step, messages and tools alike', async () => {
      const thread = await openThread(given().store);
      await thread.begin([message('a')], { ordinal: 1 });
      await thread.stash(message('b'), tool('t', 'look'));
      const again = await thread.beginCall([message('a')], { ordinal: 1 });
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        '[user: content of b]',
        '[assistant:  -> look]',
      ]);
      await thread.commit(again);
      thread.afterStep = 1;
      expect(await thread.begin([], { ordinal: 2 })).toMatchObject({
        kind: 'stored',
        swept: 2,
        record: { kind: 'tools', calls: ['look'], moreInput: true },
      });
    });

    it('has nothing to do once it was stopped', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      await thread.rest('stopped');
      expect(await thread.begin([message('a')], { ordinal: 1 })).toEqual({
        kind: 'nothing_to_do',
        step: 1,
        swept: 0,
      });
      expect(await thread.commit(ref)).toEqual({ kind: 'closed' });
      expect(await thread.transcript()).toEqual(['user: content of a']);
    });

    it('returns the tools of its queue, stored once', async () => {
      const thread = await openThread(given().store);
      const first = await thread.begin([tool('t', 'look')], { ordinal: 1 });
      const before = await thread.everything();
      expect(await thread.begin([tool('t', 'look')], { ordinal: 1 })).toEqual(first);
      expect(await thread.everything()).toEqual(before);
    });

    it('lost by the database in a crash calls no model and logs nothing', async () => {
      const thread = await openThread(given().store);
      const before = await thread.everything();
      const ref = { ...thread.from, step: 1, attempt: 1 };
      const asking = thread.store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm-1' });
      await expect(asking).rejects.toThrow('has no step 1');
      await thread.store.modelCalls.end({ ...ref, call: 1, ok: true });
      expect(await thread.chunk(ref, 'x')).toBe(false);
      await expect(thread.commit(ref)).rejects.toThrow();
      expect(await thread.everything()).toEqual(before);
    });
  });

  describe('a run that replaces a killed one', () => {
    it('[runtime 3.7] takes over the last step without evaluated stop rules before it drains anything', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
      await thread.runTool(1, 0);
      const revived = thread.as('run-2');
      expect(await revived.open()).toMatchObject({ turnOpen: true, afterStep: 0 });
      const asked = [[message('b'), tool('t', 'tidy')], { ordinal: 3 }] as const;
      const taken = await revived.begin(...asked);
      expect(taken).toMatchObject({ kind: 'stored', swept: 0, record: { step: 1, moreInput: false } });
      const before = await revived.everything();
      expect(await revived.begin(...asked)).toEqual(taken);
      expect(await revived.everything()).toEqual(before);
      expect((await revived.transcript()).slice(-2)).toEqual([
        '[user: content of b]',
        '[assistant:  -> tidy]',
      ]);
      expect((await revived.events('item.queued')).map(({ data }) => data.id)).toEqual(['b', 't']);
      revived.afterStep = 1;
      expect(await revived.begin([], { ordinal: 4 })).toMatchObject({
        kind: 'stored',
        swept: 2,
        record: { step: 2, kind: 'tools', moreInput: true },
      });
    });

    it('[runtime 3.7] takes over a step of queued tools, though their message waits for its answer', async () => {
      const thread = await openThread(given().store);
      await thread.begin([tool('t', 'tidy'), message('a')]);
      await thread.runTool(1, 0);
      const revived = thread.as('run-2');
      await revived.open();
      expect(await revived.begin()).toMatchObject({
        kind: 'stored',
        record: { step: 1, kind: 'tools', moreInput: true },
      });
      revived.afterStep = 1;
      expect(await revived.begin()).toMatchObject({ kind: 'call', step: 2 });
    });
  });

  describe('a reset workflow', () => {
    it('[runtime 3.7] does not evaluate a step again that was evaluated before the next one started', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      await thread.beginCall();
      expect(await reset(thread).begin([message('a')])).toMatchObject({ kind: 'call', step: 3 });
    });

    it('takes over the stored answer without another request', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { content: 'the answer' });
      const begun = await reset(thread).begin([message('a')]);
      expect(begun).toMatchObject({
        kind: 'stored',
        record: { step: 1, kind: 'model', text: true, moreInput: false },
      });
      expect(await thread.transcript()).toEqual(['user: content of a', 'assistant: the answer']);
    });

    it('has nothing to do for messages answered before the thread became idle', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      await thread.rest();
      expect(await reset(thread).begin([message('a')])).toEqual({ kind: 'nothing_to_do', step: 1, swept: 0 });
    });

    it('answers a new message with a new step, however the old ones were grouped', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      thread.afterStep = 1;
      await thread.answer([message('b')]);
      await thread.rest();
      expect(await reset(thread).begin([message('a'), message('b'), message('new')])).toMatchObject({
        kind: 'call',
        step: 3,
      });
      expect((await thread.messages()).map(({ id }) => id).filter((id) => id.length < 4)).toEqual([
        'a',
        'b',
        'new',
      ]);
    });

    it('finishes open tool calls first, one step after the other', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look'), call('c2', 'count')] });
      await thread.runTool(1, 0);
      const again = reset(thread);
      expect(await again.begin([message('b'), tool('t', 'tidy')])).toMatchObject({
        kind: 'stored',
        swept: 0,
        record: { step: 1, calls: ['look', 'count'], moreInput: false },
      });
      expect(await again.beginTool(1, 0)).toMatchObject({
        kind: 'settled',
        state: 'done',
        status: 'success',
      });
      await again.runTool(1, 1);
      again.afterStep = 1;
      expect(await again.begin()).toMatchObject({
        kind: 'stored',
        record: { step: 2, kind: 'tools', calls: ['tidy'], moreInput: true },
      });
      await again.runTool(2, 0);
      again.afterStep = 2;
      expect(await again.begin()).toMatchObject({ kind: 'call', step: 3 });
    });

    it('abandons the open step of the retired run', async () => {
      const thread = await openThread(given().store);
      const lost = await thread.beginCall([message('a')]);
      await thread.chunk(lost, 'half an ans');
      const again = reset(thread);
      const ref = await again.beginCall([message('a')]);
      expect(ref).toMatchObject({ step: 2, attempt: 1 });
      expect(await thread.chunk(lost, 'wer')).toBe(false);
      expect(await again.commit({ ...again.from, step: 1, attempt: 1 })).toEqual({ kind: 'closed' });
      expect(await again.commit(ref)).toMatchObject({ kind: 'stored' });
    });

    it('continues the same execution, so that the turn stays current', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
      const again = reset(thread);
      await again.begin([message('a')]);
      await again.runTool(1, 0);
      again.afterStep = 1;
      const ref = await again.beginCall([message('b')]);
      const { executionId, messages } = await given().store.steps.readContext(thread.id, ref.step);
      expect(executionId).toBe('execution-1');
      expect(messages).toHaveLength(4);
      expect(new Set(messages.map((stored) => stored.executionId))).toEqual(new Set(['execution-1']));
      expect(await thread.events('execution.started')).toHaveLength(1);
      await again.commit(ref);
      await again.rest();
      again.executionId = 'execution-2';
      const next = await again.beginCall([message('c')]);
      expect(await given().store.steps.readContext(thread.id, next.step)).toMatchObject({
        executionId: 'execution-2',
      });
    });
  });
}
