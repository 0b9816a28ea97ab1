/** What lists show of a thread beside its status: cost, tokens, what it waits for, its first and last words. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { OpenWait } from '../../../src/store/wait/wait-record.ts';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, spend, type ThreadDriver } from '../thread-driver.ts';

const recordOf = async ({ store, id }: ThreadDriver) => {
  const thread = await store.threads.get(id);
  if (!thread) throw new Error(`There is no thread ${id}.`);
  return thread;
};
const wordsOf = async (thread: ThreadDriver) => {
  const { firstWords, lastWords } = await recordOf(thread);
  return [firstWords, lastWords];
};

export function registerThreadFigures(given: () => Stores): void {
  describe('the figures of a thread', () => {
    it('add up its calls of models, each once, failed ones too', async () => {
      const thread = await openThread(given().store);
      await spend(thread, 250_000_000n, 10);
      const ref = await thread.beginCall([message('again')]);
      const { modelCalls } = thread.store;
      await modelCalls.start({ ...ref, call: 1, model: 'm', modelId: 'm' });
      const usage = { promptTokens: 5, completionTokens: 2, totalTokens: 7 };
      const failed = { ...ref, call: 1, ok: false, cost: 1_000_000n, usage };
      await modelCalls.end(failed);
      await modelCalls.end(failed);
      expect(await recordOf(thread)).toMatchObject({ costUsd: 0.000251, inputTokens: 15, outputTokens: 2 });
      await thread.rest('failed', { error: { code: 'ModelFailed', message: 'no' } });
      expect(await recordOf(thread)).toMatchObject({
        failedCode: 'ModelFailed',
        listed: { costUsd: 0.000251, tokens: 17 },
      });
    });

    it('name the first wait that holds it up until it is over, then the next', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const toolCalls = [call('c0', 'look'), call('c1', 'buy')];
      await thread.answer([message('a')], { content: null, toolCalls });
      const asks = (index: number, kind: OpenWait['kind']): OpenWait => ({
        id: randomUUID(),
        threadId: thread.id,
        key: `ask:${index}`,
        kind,
        name: toolCalls[index]?.function.name ?? '',
        summary: 'May I?',
        data: null,
        blocks: true,
        executionId: thread.executionId,
        call: { step: 1, index, attempt: 'attempt-1' },
      });
      const open = async (wait: OpenWait) => {
        await thread.beginTool(1, wait.call?.index ?? 0);
        const opened = await store.waits.open(wait);
        if (opened.kind !== 'open') throw new Error(`The wait is not open: ${opened.kind}.`);
        return opened.wait;
      };
      expect((await recordOf(thread)).waitingFor).toBeNull();
      const [question, approval] = [await open(asks(0, 'question')), await open(asks(1, 'approval'))];
      const shown = ({ id, kind, name, openedAt }: typeof question) => ({
        waitId: id,
        kind,
        name,
        since: openedAt,
      });
      expect((await recordOf(thread)).waitingFor).toEqual(shown(question));
      const listed = await store.threads.list({ sort: 'waiting', limit: 1000 });
      expect(listed.map(({ id }) => id)).toContain(thread.id);
      const since = listed.map(({ waitingFor }) => waitingFor?.since ?? 0);
      expect(since).toEqual(since.toSorted((a, b) => a - b));
      await store.waits.answer({ id: question.id, answer: { value: 'yes' } });
      expect(await recordOf(thread)).toMatchObject({ status: 'waiting', waitingFor: shown(approval) });
      await store.waits.answer({ id: approval.id, answer: { approved: true } });
      expect(await recordOf(thread)).toMatchObject({ status: 'running', waitingFor: null });
    });

    it('name a model that takes no request, until it does or the thread rests', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      const { modelCalls } = thread.store;
      const hold = () => modelCalls.hold({ ...ref, model: 'large', pauseMs: 1000, refusals: 1 });
      await hold();
      const { waitingFor } = await recordOf(thread);
      expect(waitingFor).toEqual({ kind: 'model', name: 'large', since: expect.any(Number) });
      await hold();
      expect((await recordOf(thread)).waitingFor).toEqual(waitingFor);
      await modelCalls.start({ ...ref, call: 1, model: 'large', modelId: 'large' });
      expect((await recordOf(thread)).waitingFor).toBeNull();
      await hold();
      await thread.rest('stopped');
      expect((await recordOf(thread)).waitingFor).toBeNull();
    });
  });

  describe('the longest wait of a census', () => {
    it('is that of a thread that waits for people, also if another one has waited for a model for longer', async () => {
      const opened = await given().engine.open();
      try {
        const { store } = opened;
        const held = await openThread(store);
        const ref = await held.beginCall([message('a')]);
        await store.modelCalls.hold({ ...ref, model: 'large', pauseMs: 1000, refusals: 1 });
        const { since = 0 } = (await recordOf(held)).waitingFor ?? {};
        expect((await store.threads.census()).oldestWaitMs).toBe(0);
        await eventually('the model is waited for alone', () => Date.now() > since / 1000 + 200);
        const asking = await openThread(store);
        await asking.answer([message('a')], { content: null, toolCalls: [call('c0', 'look')] });
        await asking.beginTool(1, 0);
        const before = Date.now();
        await store.waits.open({
          id: randomUUID(),
          threadId: asking.id,
          key: 'ask:0',
          kind: 'question',
          name: 'look',
          summary: 'May I?',
          data: null,
          blocks: true,
          executionId: asking.executionId,
          call: { step: 1, index: 0, attempt: 'attempt-1' },
        });
        const longest = () => store.threads.census().then(({ oldestWaitMs }) => oldestWaitMs);
        await eventually('the person is waited for', async () => (await longest()) > 0);
        const waitedMs = await longest();
        // The clock may be the database's.
        expect(waitedMs).toBeLessThanOrEqual(Date.now() - before + 100);
      } finally {
        await opened.close();
      }
    });
  });

  describe('the oldest item of a census', () => {
    it('is that of a thread that goes on, and not of one that was stopped', async () => {
      const opened = await given().engine.open();
      try {
        const thread = await openThread(opened.store);
        await thread.answer([message('a')]);
        await thread.stash(message('b'));
        const oldest = () => opened.store.threads.census().then(({ oldestItemMs }) => oldestItemMs);
        await eventually('the message waits for its step', async () => (await oldest()) > 0);
        await thread.rest('stopped');
        expect(await oldest()).toBe(0);
      } finally {
        await opened.close();
      }
    });
  });

  describe('the words of a thread', () => {
    it('are the beginnings of the first message of its user and of the newest one, in one line', async () => {
      const thread = await openThread(given().store);
      expect(await wordsOf(thread)).toEqual([null, null]);
      const [hidden, system] = [
        message('hidden', 'hidden', { silent: true }),
        message('system', 'be kind', { role: 'system' }),
      ];
      await thread.answer([
        hidden,
        system,
        message('a', `one\n\n  two ${'x'.repeat(300)}`),
        message('b', 'more'),
      ]);
      const [first, last] = await wordsOf(thread);
      thread.afterStep = 1;
      expect([first, last]).toEqual([expect.stringMatching(/^one two x+…$/), 'an answer']);
      expect(first).toHaveLength(120);
      await thread.answer([message('c', `${'y'.repeat(118)}😀 and more`)], { content: null });
      expect(await wordsOf(thread)).toEqual([first, `${'y'.repeat(118)}…`]);
    });

    it('keep nothing of a message that is changed, hidden or deleted', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.answer([message('a', 'my name is Ada'), message('b', 'hello')], { messageId: 'm' });
      await thread.rest();
      await store.messages.update(thread.id, 'm', { content: 'changed' });
      expect(await wordsOf(thread)).toEqual(['my name is Ada', 'changed']);
      await store.messages.update(thread.id, 'a', { content: 'my name is nobody' });
      expect(await wordsOf(thread)).toEqual(['my name is nobody', 'changed']);
      await store.messages.update(thread.id, 'm', { silent: true });
      expect(await wordsOf(thread)).toEqual(['my name is nobody', 'hello']);
      await store.messages.delete(thread.id, 'a');
      expect(await wordsOf(thread)).toEqual(['hello', 'hello']);
      await store.messages.delete(thread.id, 'b');
      expect(await wordsOf(thread)).toEqual([null, null]);
    });

    it('are shown without secrets of the thread, its user and the instance, cut ones included', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const secret = 'swordfish-4711-swordfish';
      await store.env.set({ owner: { thread: thread.id }, name: 'KEY', value: secret });
      await thread.answer([message('a', `it is ${secret}`)], { content: `${'x '.repeat(54)}${secret}` });
      const shown = async () => {
        const [record] = await store.threads.conceal([await recordOf(thread)]);
        return [record?.firstWords, record?.lastWords];
      };
      expect(await shown()).toEqual(['it is [secret KEY]', expect.not.stringContaining('sword')]);
      const other = await openThread(store);
      await other.answer([message('b', `it is ${secret}`)]);
      const [unconcerned] = await store.threads.conceal([await recordOf(other)]);
      expect(unconcerned?.firstWords).toBe(`it is ${secret}`);
    });
  });
}
