/** beginStep, commitStep, failStep and the stream between them, without faults. */

import { describe, expect, it } from '@jest/globals';
import { toPico } from '../../../src/core/value/money.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, tool } from '../thread-driver.ts';

export function registerStep(given: () => Stores): void {
  describe('a step', () => {
    it('[runtime 3] calls the model if there is something to answer', async () => {
      const thread = await openThread(given().store);
      expect(await thread.begin([message('a')])).toEqual({
        kind: 'call',
        step: 1,
        attempt: 1,
        swept: 0,
        taken: { a: 1, b: 0 },
      });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ status: 'running', lastStep: 1 });
      expect((await thread.events()).map(({ type }) => type)).toEqual([
        'thread.created',
        'message.created',
        'execution.started',
        'thread.status',
        'step.started',
      ]);
    });

    it.each([
      ['nothing at all', []],
      ['a message of the assistant', [message('a', 'note', { role: 'assistant' })]],
      ['a message of the system', [message('a', 'rule', { role: 'system' })]],
    ])('has nothing to do at rest with %s', async (_what, items) => {
      const thread = await openThread(given().store);
      expect(await thread.begin(items)).toEqual({ kind: 'nothing_to_do', step: 0, swept: 0 });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ status: 'idle', lastStep: 0 });
      expect(await thread.messages()).toHaveLength(items.length);
    });

    it('[runtime 3] continues an open turn, and has nothing to do once it is ended', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c1', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await thread.answer([])).toMatchObject({ step: 2, moreInput: false });
      thread.afterStep = 2;
      await thread.rest();
      expect(await thread.begin()).toEqual({ kind: 'nothing_to_do', step: 2, swept: 0 });
    });

    it('[runtime 2] continues from the history with an empty queue on request, in a new execution', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      thread.afterStep = 1;
      await thread.rest('failed', { error: { code: 'server_error', message: 'away' } });
      thread.executionId = 'execution-2';
      const asked = { unprompted: true, ordinal: 7 } as const;
      expect(await thread.begin([], asked)).toMatchObject({ kind: 'call', step: 2, attempt: 1, swept: 0 });
      expect(await thread.begin([], asked)).toMatchObject({ kind: 'call', step: 2, attempt: 2 });
      await thread.commit({ ...thread.from, step: 2, attempt: 2 });
      thread.afterStep = 2;
      await thread.rest();
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        'assistant: an answer',
        'assistant: an answer',
      ]);
      thread.executionId = 'execution-3';
      expect(await thread.begin([message('b')], { unprompted: true })).toMatchObject({
        kind: 'call',
        step: 3,
      });
      expect((await thread.events('step.started')).map(({ data }) => data.items)).toEqual([1, 0, 1]);
    });

    it('[runtime 5.1] stores thousands of tool calls of one answer, and logs them in order', async () => {
      const thread = await openThread(given().store);
      const toolCalls = Array.from({ length: 3000 }, (_, n) => call(`c${n}`, `look_${n}`));
      const committed = await thread.answer([message('a')], { content: null, toolCalls });
      expect(committed).toMatchObject({ calls: toolCalls.map((each) => each.function.name) });
      expect((await thread.events('tool.called')).map(({ data }) => data)).toEqual(
        toolCalls.map(({ id, function: { name } }) => ({ callId: id, name })),
      );
      expect(await thread.beginTool(1, 2999)).toMatchObject({ kind: 'run', call: { callId: 'c2999' } });
    });

    it('[definitions 14.6] stores tools queued by hooks with the hooked rows, once', async () => {
      const thread = await openThread(given().store);
      const first = await thread.beginCall([message('a')]);
      const queuedTools = [{ id: 'q1', name: 'look', arguments: {} }];
      await thread.commit(first, { queuedTools });
      await thread.commit(first, { queuedTools });
      expect(await thread.store.queue.count(thread.id)).toBe(1);
      await thread.store.steps.fail({ ...first, error: { code: 'Fault', message: 'late' } });
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({ kind: 'stored', swept: 1, record: { calls: ['look'] } });
      expect(await thread.store.queue.count(thread.id)).toBe(0);
    });

    it('[runtime 9] gives queued tools a step of their own before the model is called', async () => {
      const thread = await openThread(given().store);
      const begun = await thread.begin([tool('t1', 'look', { at: 'it' }), message('a'), tool('t2', 'count')]);
      expect(begun).toEqual({
        kind: 'stored',
        swept: 0,
        taken: { a: 1, b: 0 },
        record: {
          step: 1,
          kind: 'tools',
          text: false,
          model: null,
          side: 'a',
          agent: 'helper',
          turns: 0,
          calls: ['look', 'count'],
          moreInput: true,
        },
      });
      expect(await thread.beginTool(1, 0)).toMatchObject({
        kind: 'run',
        call: { name: 'look', arguments: '{"at":"it"}', origin: 'signal' },
      });
      await thread.commitTool(1, 0);
      await thread.runTool(1, 1);
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({ kind: 'call', step: 2 });
      expect(await thread.transcript()).toEqual([
        'assistant:  -> look',
        'user: content of a',
        'assistant:  -> count',
        'look success: done',
        'count success: done',
      ]);
    });

    it('calls the model after a queued tool without another message', async () => {
      const thread = await openThread(given().store);
      await thread.begin([tool('t1', 'look')]);
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({ kind: 'call', step: 2 });
    });

    it('[runtime 3.4] stores the answer, its calls and its usage together', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      const committed = await thread.commit(ref, {
        content: 'Let me look.',
        toolCalls: [call('c1', 'look'), call('c2', 'count')],
      });
      expect(committed).toEqual({
        kind: 'stored',
        record: {
          step: 1,
          kind: 'model',
          text: true,
          model: 'scripted',
          side: 'a',
          agent: 'helper',
          turns: 0,
          calls: ['look', 'count'],
          moreInput: false,
        },
      });
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        'assistant: Let me look. -> look -> count',
      ]);
      expect(await thread.events('step.committed', 'tool.called')).toMatchObject([
        {
          type: 'step.committed',
          step: 1,
          attempt: 1,
          data: { model: 'scripted', finishReason: 'stop', usage: { totalTokens: 12 } },
        },
        { type: 'tool.called', step: 1, data: { name: 'look', callId: 'c1' } },
        { type: 'tool.called', step: 1, data: { name: 'count', callId: 'c2' } },
      ]);
    });

    it.each([
      [null, false],
      ['', false],
      [' \n', false],
      ['yes', true],
    ])('reports whether an answer of %j has text: %j', async (content, text) => {
      const thread = await openThread(given().store);
      expect(await thread.answer([message('a')], { content })).toMatchObject({ text });
    });

    it('reports input that arrived too late for this answer', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      await thread.stash(message('b'));
      // Pending rows belong to the next step, and the workflow counts them; they are not input of this step.
      expect(await thread.commit(ref)).toMatchObject({ record: { moreInput: false } });
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({ kind: 'call', step: 2, swept: 1 });
    });

    it('commits once: a second attempt returns the first result', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      const first = await thread.commit(ref, { content: 'first' });
      const before = await thread.everything();
      expect(await thread.commit(ref, { content: 'second' })).toEqual(first);
      expect(await thread.commit({ ...ref, attempt: 2 }, { content: 'third' })).toEqual({
        ...first,
        byOther: true,
      });
      expect(await thread.store.steps.fail({ ...ref, error: { code: 'x', message: 'x' } })).toEqual(first);
      expect(await thread.everything()).toEqual(before);
    });

    it('fails once, and returns the same reason when repeated', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      const error = { code: 'rate_limit', message: 'Too many requests.' };
      expect(await thread.store.steps.fail({ ...ref, error })).toEqual({ kind: 'closed' });
      const before = await thread.everything();
      expect(await thread.store.steps.fail({ ...ref, error: { code: 'other', message: 'x' } })).toEqual({
        kind: 'closed',
      });
      expect(await thread.commit(ref)).toEqual({ kind: 'closed' });
      expect(await thread.begin([], { ordinal: 1 })).toEqual({ kind: 'failed', step: 1, error, swept: 0 });
      expect(await thread.everything()).toEqual(before);
      expect(await thread.events('step.failed')).toMatchObject([{ step: 1, attempt: 1, data: error }]);
    });

    it('is not failed by an attempt that counted as lost, but accepts its answer', async () => {
      const thread = await openThread(given().store);
      const lost = await thread.beginCall([message('a')], { ordinal: 1 });
      await thread.begin([], { ordinal: 1 });
      expect(await thread.store.steps.fail({ ...lost, error: { code: 'x', message: 'x' } })).toEqual({
        kind: 'closed',
      });
      expect(await thread.events('step.failed')).toEqual([]);
      expect(await thread.commit(lost, { content: 'late, but true' })).toMatchObject({ kind: 'stored' });
    });

    it('answers terminated to every command once the thread has ended', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      await thread.rest('terminated');
      const before = await thread.everything();
      const { store } = thread;
      expect(await thread.begin([message('b')])).toEqual({ kind: 'terminated' });
      expect(await thread.commit(ref)).toEqual({ kind: 'terminated' });
      expect(await store.steps.fail({ ...ref, error: { code: 'x', message: 'x' } })).toEqual({
        kind: 'terminated',
      });
      expect(await thread.chunk(ref, 'late')).toBe(false);
      await store.modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm' });
      await store.modelCalls.end({ ...ref, call: 1, ok: false });
      expect(await thread.everything()).toEqual(before);
    });
  });

  describe('the stream of a step', () => {
    it('is logged with its step, attempt and call', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      expect(await thread.chunk(ref, 'Hel')).toBe(true);
      expect(await thread.chunk(ref, 'lo', 2)).toBe(true);
      expect(await thread.events('model.chunk')).toMatchObject([
        { step: 1, attempt: 1, data: { delta: 'Hel', call: 1 } },
        { step: 1, attempt: 1, data: { delta: 'lo', call: 2 } },
      ]);
    });

    it('is refused once the step is closed, and for an attempt that counted as lost', async () => {
      const thread = await openThread(given().store);
      const first = await thread.beginCall([message('a')], { ordinal: 1 });
      const again = await thread.beginCall([], { ordinal: 1 });
      expect(await thread.chunk(first, 'lost')).toBe(false);
      expect(await thread.chunk({ ...first, step: 7 }, 'no such step')).toBe(false);
      expect(await thread.chunk(again, 'kept')).toBe(true);
      await thread.commit(again);
      const before = await thread.everything();
      expect(await thread.chunk(again, 'late')).toBe(false);
      expect(await thread.everything()).toEqual(before);
    });

    it('is removed some time after its execution ended; its count and message stay', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const first = await thread.beginCall([message('a')]);
      await thread.chunk(first, 'on');
      await thread.chunk(first, 'e');
      await thread.commit(first, { content: 'one' });
      thread.afterStep = 1;
      await thread.begin([tool('t', 'look')]);
      await thread.runTool(2, 0);
      thread.afterStep = 2;
      await thread.commit(await thread.beginCall(), { content: 'two' });
      const streamed = () => thread.events('model.chunk');
      const removeAll = async (olderThanMs: number) => {
        while ((await store.events.removeChunks(olderThanMs)) > 0);
      };
      // Nothing is removed while the execution is open, or for some time after its end.
      await removeAll(-60_000);
      expect(await streamed()).toHaveLength(2);
      await thread.rest();
      await removeAll(60_000);
      expect(await streamed()).toHaveLength(2);
      thread.executionId = 'execution-2';
      thread.afterStep = 3;
      const next = await thread.beginCall([message('b')]);
      await thread.chunk(next, 'three');
      const before = (await thread.events()).filter(({ type }) => type !== 'model.chunk');
      await removeAll(-60_000);
      expect(await streamed()).toMatchObject([{ data: { delta: 'three' } }]);
      expect((await thread.events()).filter(({ type }) => type !== 'model.chunk')).toEqual(before);
      expect((await thread.events('step.committed')).map(({ data }) => data.chunks)).toEqual([2, 0]);
      expect(await thread.transcript()).toContain('assistant: one');
      expect((await store.threads.get(thread.id))?.lastSeq).toBe((await thread.events()).at(-1)?.seq);
    });

    it('of a long answer is removed in portions, oldest first', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')]);
      for (let n = 0; n < 201; n++) await thread.chunk(ref, `${n} `);
      await thread.commit(ref, { content: 'many' });
      await thread.rest();
      let removed = 0;
      while ((await thread.events('model.chunk')).length > 1) {
        removed = await store.events.removeChunks(-60_000);
        expect(removed).toBeGreaterThan(0);
      }
      expect(await thread.events('model.chunk')).toMatchObject([{ data: { delta: '200 ' } }]);
      while ((await store.events.removeChunks(-60_000)) > 0);
      expect(await thread.events('model.chunk')).toEqual([]);
    });

    it('logs each model call, its end and its cost, once', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')]);
      const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
      const failed = {
        ...ref,
        call: 1,
        ok: false,
        error: { code: 'rate_limit', message: 'slow', statusCode: 429, retryInMs: 1000 },
      };
      const answered = { ...ref, call: 2, ok: true, usage, cost: toPico(0.25), firstTokenAt: 1 };
      for (let twice = 0; twice < 2; twice++)
        await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      for (let twice = 0; twice < 2; twice++) await store.modelCalls.end(failed);
      for (let twice = 0; twice < 2; twice++)
        await store.modelCalls.start({ ...ref, call: 2, model: 'spare', modelId: 'm-2' });
      for (let twice = 0; twice < 2; twice++) await store.modelCalls.end(answered);
      expect(await thread.events('model.called', 'model.failed', 'model.answered')).toMatchObject([
        { type: 'model.called', step: 1, attempt: 1, data: { call: 1, model: 'main', modelId: 'm-1' } },
        { type: 'model.failed', data: { call: 1, code: 'rate_limit', statusCode: 429, retryInMs: 1000 } },
        { type: 'model.called', data: { call: 2, model: 'spare' } },
        { type: 'model.answered', data: { call: 2, usage, cost: 0.25 } },
      ]);
    });

    it('logs a discarded attempt once with its failure, and that of a lost worker', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const first = await thread.beginCall([message('a')], { ordinal: 1 });
      const error = { code: 'timeout', message: 'stalled' };
      await store.modelCalls.start({ ...first, call: 1, model: 'main', modelId: 'm-1' });
      await thread.chunk(first, 'Hel');
      for (let twice = 0; twice < 2; twice++)
        await store.modelCalls.end({ ...first, call: 1, ok: false, error, discards: true });
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ attempt: 2 });
      const second = { ...first, attempt: 2 };
      await store.modelCalls.start({ ...second, call: 1, model: 'main', modelId: 'm-1' });
      await store.modelCalls.end({ ...second, call: 1, ok: false, error });
      await store.modelCalls.start({ ...second, call: 2, model: 'main', modelId: 'm-1' });
      await thread.chunk(second, 'Goo', 2);
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ attempt: 3 });
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ attempt: 4 });
      expect(await thread.events('attempt.discarded')).toMatchObject([
        { step: 1, data: { attempt: 1, call: 1, reason: 'timeout' } },
        { step: 1, data: { attempt: 2, call: 2, reason: 'WorkerLost' } },
      ]);
    });

    it('keeps the text of a stopped step since the last discarded request', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')]);
      const error = { code: 'timeout', message: 'stalled' };
      await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      await thread.chunk(ref, 'Hel');
      await store.modelCalls.end({ ...ref, call: 1, ok: false, error, discards: true });
      await thread.rest('stopped');
      expect(await thread.events('execution.aborted')).toMatchObject([{ data: { keptText: false } }]);
    });

    it('logs that an answer has not begun, for the current attempt', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const first = await thread.beginCall([message('a')], { ordinal: 1 });
      expect(await store.modelCalls.emitWaiting({ ...first, call: 1 })).toBe(true);
      await thread.begin([], { ordinal: 1 });
      expect(await store.modelCalls.emitWaiting({ ...first, call: 1 })).toBe(false);
      expect(await thread.events('model.waiting')).toMatchObject([
        { step: 1, attempt: 1, data: { call: 1 } },
      ]);
    });

    it('logs that a step waits for its model, and the next request is not a retry', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const first = await thread.beginCall([message('a')], { ordinal: 1 });
      const held = { model: 'main', pauseMs: 6000, refusals: 1 };
      expect(await store.modelCalls.hold({ ...first, ...held })).toBe(true);
      expect(await thread.begin([], { ordinal: 1, left: true })).toMatchObject({ kind: 'call', attempt: 2 });
      expect(await store.modelCalls.hold({ ...first, ...held })).toBe(false);
      expect(await thread.events('step.retried')).toEqual([]);
      expect(await thread.events('model.held')).toMatchObject([
        { step: 1, attempt: 1, data: { model: 'main', retryInMs: 6000, refusals: 1 } },
      ]);
      expect(await thread.begin([], { ordinal: 1 })).toMatchObject({ kind: 'call', attempt: 3 });
      expect(await thread.events('step.retried')).toMatchObject([{ attempt: 3 }]);
    });

    it('logs a call that counted as lost and ended after all', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      await thread.begin([], { ordinal: 1 });
      await store.modelCalls.end({ ...ref, call: 1, ok: true, cost: toPico(0.5) });
      expect(await thread.events('model.answered')).toMatchObject([{ attempt: 1, data: { cost: 0.5 } }]);
    });

    it('starts the first call with each attempt of the step, if requested, and ends it with the answer', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const window = { includeChat: true, includePastTools: true, recentImages: 0 };
      const asked = { ordinal: 1, request: () => ({ window, call: { model: 'main', modelId: 'm-1' } }) };
      expect(await thread.begin([message('a')], asked)).toMatchObject({ attempt: 1, called: true });
      const again = await thread.begin([], asked);
      expect(again).toMatchObject({ kind: 'call', attempt: 2, called: true });
      const ref = { ...thread.from, step: 1, attempt: 2 };
      const before = await thread.everything();
      await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      expect(await thread.everything()).toEqual(before);
      await thread.commit(ref, { call: { call: 1, cost: toPico(0.5) } });
      expect(await thread.events('model.called', 'model.answered', 'step.retried')).toMatchObject([
        { type: 'model.called', step: 1, attempt: 1, data: { call: 1, model: 'main', modelId: 'm-1' } },
        { type: 'step.retried', attempt: 2 },
        { type: 'model.called', step: 1, attempt: 2, data: { call: 1 } },
        { type: 'model.answered', attempt: 2, data: { call: 1, cost: 0.5 } },
      ]);
      const logs = await store.events.getLogs(thread.id, { order: 'asc' });
      expect(logs.filter(({ type }) => type === 'model_call').map(({ data }) => data)).toMatchObject([
        { attempt: 1, state: 'lost' },
        { attempt: 2, state: 'ok' },
      ]);
    });

    it('ends the answering call with the answer, once', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')]);
      await store.modelCalls.start({ ...ref, call: 2, model: 'spare', modelId: 'm-2' });
      const before = await thread.events();
      const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
      const call = { call: 2, usage, cost: toPico(0.25), firstTokenAt: 1, ignored: ['audio'] };
      await thread.commit(ref, { call });
      const after = await thread.everything();
      expect((await thread.events()).slice(before.length)).toMatchObject([
        {
          type: 'model.answered',
          step: 1,
          attempt: 1,
          data: { call: 2, usage, cost: 0.25, ignored: ['audio'] },
        },
        { type: 'message.created' },
        { type: 'step.committed' },
      ]);
      await thread.commit(ref, { call });
      await store.modelCalls.end({ ...ref, ...call, ok: true });
      expect(await thread.everything()).toEqual(after);
    });

    it('ends the call of a late answer, even one that counted as lost: it was charged', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const ref = await thread.beginCall([message('a')], { ordinal: 1 });
      await store.modelCalls.start({ ...ref, call: 1, model: 'main', modelId: 'm-1' });
      await thread.begin([], { ordinal: 1 });
      await thread.rest('stopped');
      for (let twice = 0; twice < 2; twice++)
        expect(await thread.commit(ref, { call: { call: 1, cost: toPico(0.5) } })).toEqual({
          kind: 'closed',
        });
      expect(await thread.events('model.answered')).toMatchObject([{ attempt: 1, data: { cost: 0.5 } }]);
    });
  });
}
