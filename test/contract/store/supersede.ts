/** The tail of a history superseded: a user's message in line again, and nothing behind it left in any reading. */
import { describe, expect, it } from '@jest/globals';
import type { SupersedeTail } from '../../../src/store/message/message-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';
import { createOpened, openParent, work } from './family-driver.ts';

/** A thread with answered messages w1 to w3; the answer of the second has made a call. */
async function talked(store: Stores['store']): Promise<ThreadDriver> {
  const thread = await openThread(store);
  for (const word of ['w1', 'w2', 'w3']) {
    thread.executionId = `execution-${word}`;
    const toolCalls = word === 'w2' ? [call('c1', 'pay')] : [];
    const { step } = await thread.answer([message(word)], { content: `answer to ${word}`, toolCalls });
    if (word === 'w2') await thread.runTool(step, 0);
    thread.afterStep = step;
    await thread.rest();
  }
  thread.executionId = 'execution-again';
  return thread;
}

const supersede = (thread: ThreadDriver, fields: Partial<SupersedeTail> = {}) =>
  thread.store.messages.supersede({ threadId: thread.id, id: 'request-1', ...fields });

export function registerSupersede(stores: () => Stores): void {
  describe('a superseded tail', () => {
    it('leaves the history, and the message before it is in line again', async () => {
      const thread = await talked(stores().store);
      const { seq } = await supersede(thread, { messageId: 'w2' });
      expect(await thread.transcript()).toEqual([
        'user: content of w1',
        'assistant: answer to w1',
        '[user: content of w2]',
      ]);
      const gone = await thread.store.messages.list(thread.id, { superseded: true, includeSilent: true });
      expect(gone.messages.map(({ status, content }) => `${status} ${content}`)).toEqual([
        'superseded answer to w2',
        'superseded done',
        'superseded content of w3',
        'superseded answer to w3',
      ]);
      expect(gone.total).toBe(4);
      expect(await thread.events('messages.superseded')).toMatchObject([
        {
          seq,
          data: {
            reason: 'regenerate',
            messageId: 'w2',
            messages: 4,
            calls: [{ callId: 'c1', name: 'pay', outcome: 'success' }],
            to: seq - 1,
          },
        },
      ]);
      await thread.answer([], { content: 'another answer' });
      await thread.rest();
      expect(await thread.transcript()).toEqual([
        'user: content of w1',
        'assistant: answer to w1',
        'user: content of w2',
        'assistant: another answer',
      ]);
      expect(await thread.store.threads.get(thread.id)).toMatchObject({
        messageCount: 4,
        firstWords: 'content of w1',
        lastWords: 'another answer',
      });
    });

    it('is named by its answer or the execution of that, and is the newest one if nothing is named', async () => {
      for (const messageId of [undefined, 'execution-w3', 'w3']) {
        const thread = await talked(stores().store);
        expect(await supersede(thread, { messageId })).toMatchObject({ messageId: 'w3', messages: 1 });
      }
      const thread = await talked(stores().store);
      const answer = (await thread.messages()).find(({ content }) => content === 'answer to w2');
      expect(await supersede(thread, { messageId: answer?.id })).toMatchObject({ messageId: 'w2' });
      const other = await talked(stores().store);
      await expect(supersede(other, { messageId: 'nobody' })).rejects.toMatchObject({
        code: 'MessageNotFound',
      });
    });

    it('keeps the id of an edited message, with a revision, and its earlier text', async () => {
      const thread = await talked(stores().store);
      for (const n of [2, 3]) {
        await supersede(thread, { id: `edit-${n}`, messageId: 'w1', edited: { content: `text ${n}` } });
        await thread.answer([], { content: `answer ${n}` });
        await thread.rest();
        thread.executionId = `execution-${n}`;
      }
      expect(await thread.messages()).toMatchObject([
        { id: 'w1', content: 'text 3', metadata: { revision: 3 } },
        { content: 'answer 3' },
      ]);
      const gone = await thread.store.messages.list(thread.id, { superseded: true });
      expect(gone.messages.filter(({ id }) => id === 'w1').map(({ content }) => content)).toEqual([
        'content of w1',
        'text 2',
      ]);
      expect(await thread.store.queue.requireRepeat(thread.id, message('w1', 'text 3'))).toBeUndefined();
    });

    it('is superseded once by a repeated request, also after the new answer', async () => {
      const { store, second } = stores();
      const thread = await talked(store);
      const twice = await Promise.all([supersede(thread), supersede(thread.as('run-1', second))]);
      expect(twice[0]).toEqual(twice[1]);
      await thread.answer([], { content: 'once' });
      await thread.rest();
      const before = await thread.everything();
      expect(await supersede(thread)).toEqual(twice[0]);
      expect(await thread.everything()).toEqual(before);
      await expect(supersede(thread, { messageId: 'w1' })).rejects.toMatchObject({ code: 'ItemConflict' });
      expect(await thread.everything()).toEqual(before);
    });

    it('is superseded again before it is answered, and the model is told of both parts', async () => {
      const thread = await talked(stores().store);
      await supersede(thread, { messageId: 'w2' });
      const edited = { content: 'edited in line' };
      await supersede(thread, { id: 'second', messageId: 'w2', edited });
      expect(await thread.transcript()).toEqual([
        'user: content of w1',
        'assistant: answer to w1',
        '[user: edited in line]',
      ]);
      await thread.begin([], { rules: () => ({ notesSuperseded: true }) });
      const [, , note, last] = await thread.messages();
      expect([note?.content?.includes('"pay" succeeded'), last]).toMatchObject([
        true,
        { id: 'w2', content: 'edited in line', metadata: { revision: 2 } },
      ]);
      const other = await talked(stores().store);
      await supersede(other, { messageId: 'w2' });
      await supersede(other, { id: 'second', messageId: 'w1' });
      expect(await other.transcript()).toEqual(['[user: content of w1]']);
      expect((await other.store.messages.list(other.id, { superseded: true })).total).toBe(6);
    });

    it('is refused while the thread works, and of a terminated thread', async () => {
      const thread = await talked(stores().store);
      const ref = await thread.beginCall([message('w4')]);
      const before = await thread.everything();
      await expect(supersede(thread)).rejects.toMatchObject({ code: 'ThreadBusy' });
      expect(await thread.everything()).toEqual(before);
      await thread.commit(ref);
      await thread.rest();
      await thread.store.threads.terminate(thread.id);
      await expect(supersede(thread)).rejects.toMatchObject({ code: 'ThreadTerminated' });
      await expect(stores().store.messages.supersede({ threadId: 'nobody', id: 'x' })).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
    });

    it('with an unknown outcome is refused with the id of its action, unless that is acknowledged', async () => {
      const thread = await talked(stores().store);
      const { step } = await thread.answer([message('w4')], { toolCalls: [call('c2', 'pay')] });
      thread.afterStep = step;
      await thread.beginTool(step, 0);
      await thread.settleLostTool(step, 0);
      await thread.rest();
      const action = `${thread.id}:${step}:0`;
      const before = await thread.everything();
      await expect(supersede(thread)).rejects.toMatchObject({
        code: 'OutcomeUnknown',
        message: expect.stringContaining(action),
      });
      expect(await thread.everything()).toEqual(before);
      await supersede(thread, { acknowledge: true });
      expect(await thread.events('messages.superseded')).toMatchObject([
        { data: { acknowledged: [action] } },
      ]);
      thread.executionId = 'execution-5';
      await thread.answer([]);
      expect((await thread.transcript()).at(-3)).toMatch(
        /^user: A part of this conversation was superseded.*"pay" may or may not have taken effect/s,
      );
    });

    it('may have no step: that of a message whose step has failed', async () => {
      const thread = await openThread(stores().store);
      const ref = await thread.beginCall([message('w1')]);
      await thread.store.steps.fail({ ...ref, error: { code: 'Timeout', message: 'no answer' } });
      await thread.rest('failed');
      await supersede(thread, { messageId: 'w1' });
      expect(await thread.transcript()).toEqual(['[user: content of w1]']);
    });

    it('tells the model what it has done only if the agent wants it', async () => {
      for (const notes of [true, false]) {
        const thread = await talked(stores().store);
        await supersede(thread, { messageId: 'w2' });
        await thread.begin([], { rules: () => (notes ? { notesSuperseded: true } : {}) });
        const told = (await thread.messages()).filter(({ metadata }) => metadata.supersededNote === true);
        expect(told).toHaveLength(notes ? 1 : 0);
        if (notes)
          expect(told).toMatchObject([{ silent: true, content: expect.stringContaining('"pay" succeeded') }]);
      }
    });

    it('tells it as no message of the other side in a thread of two sides', async () => {
      const thread = await talked(stores().store);
      await supersede(thread, { messageId: 'w2' });
      await thread.begin([], { twoSides: true, rules: () => ({ notesSuperseded: true }) });
      const told = (await thread.messages()).filter(({ metadata }) => metadata.supersededNote === true);
      expect(told).toMatchObject([{ role: 'system' }]);
    });

    it('ends its effects, and logs what a running one reports, unless they are to be kept', async () => {
      for (const tail of ['end', 'keep'] as const) {
        const thread = await talked(stores().store);
        const schedule = (id: string, delayMs: number) =>
          thread.store.effects.schedule(thread.id, { id, name: 'remind', args: {}, delayMs });
        await schedule('due', 0);
        await schedule('late', 60_000);
        const begun = await thread.store.effects.begin(thread.from);
        if (begun.kind !== 'run') throw new Error('The effect does not begin.');
        await supersede(thread, { tail });
        const left = tail === 'keep' ? ['late'] : [];
        expect((await thread.store.effects.list(thread.id)).map(({ id }) => id)).toEqual(left);
        const queuedTools = [{ id: 'q', name: 'tell', arguments: {} }];
        await thread.store.effects.end({ ...thread.from, id: 'due', attempt: begun.attempt, queuedTools });
        expect(await thread.events('effect.done')).toHaveLength(1);
        expect(await thread.store.queue.count(thread.id)).toBe(tail === 'keep' ? 2 : 1);
      }
    });

    it('ends the children that it has made, whose late reports are logged and not delivered, unless they are to be kept', async () => {
      for (const tail of ['end', 'keep'] as const) {
        const parent = await openParent(stores().store);
        const child = await createOpened(parent);
        const [id] = [child.id];
        await parent.commitTool(1, 0, { attempt: 'subagent' });
        await parent.rest();
        const { ended } = await supersede(parent, { tail });
        expect(ended).toEqual(tail === 'end' ? [id] : []);
        expect(await parent.events('messages.superseded')).toMatchObject([
          { data: { children: [{ id, fate: tail === 'end' ? 'ended' : 'kept' }] } },
        ]);
        await parent.store.reports.deliver(id, await work(child));
        const by = tail === 'end' ? 'dropped' : 'message';
        expect(await parent.events('subagent.returned')).toMatchObject([{ data: { childId: id, by } }]);
        expect(await parent.store.queue.count(parent.id)).toBe(tail === 'end' ? 1 : 2);
      }
    });

    it('gives the thread back to the agent that it had there', async () => {
      const thread = await talked(stores().store);
      const { step } = await thread.answer([message('w4')], { toolCalls: [call('c3', 'hand')] });
      await thread.beginTool(step, 0);
      await thread.commitTool(step, 0, { nextAgent: 'expert' });
      thread.afterStep = step;
      await thread.rest();
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ agent: 'expert' });
      await supersede(thread);
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ agent: 'helper' });
    });

    it('retires the summaries that cover any of it', async () => {
      const thread = await talked(stores().store);
      const ref = await thread.beginCall([message('w4')]);
      const [, , , answer] = await thread.messages();
      if (!answer) throw new Error('no answer');
      const key = { prompt: 'main', scope: '' };
      const summary = { until: answer.created_at, messages: 4, text: 'of 4', asked: 'w1' };
      const told = { reason: 'messages', seen: 1_000_000, count: 4, messageId: answer.id } as const;
      expect(await thread.store.steps.saveSummary({ ...ref, ...key, ...told, summary })).toMatchObject({
        kind: 'kept',
      });
      await thread.commit(ref);
      thread.afterStep = ref.step;
      await thread.rest();
      await supersede(thread, { messageId: 'w2' });
      const next = await thread.beginCall([]);
      const window = { includeChat: true, includePastTools: true, recentImages: 0, summaries: key };
      const { messages, summary: found } = await thread.store.steps.readContext(
        thread.id,
        next.step,
        () => window,
      );
      expect(found).toBeUndefined();
      expect(messages.map(({ content }) => content)).toEqual([
        'content of w1',
        'answer to w1',
        'content of w2',
      ]);
    });
  });
}
