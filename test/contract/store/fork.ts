/** Forks of threads. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { shownRole } from '../../../src/core/context/context-side.ts';
import type { MakeFork } from '../../../src/store/fork/fork-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';

const bytes = new TextEncoder().encode('by reference');

const forkOf = (thread: ThreadDriver, fields: Partial<MakeFork> = {}) =>
  thread.store.threads.fork({ threadId: thread.id, forkId: `fork-${randomUUID()}`, ...fields });

/** Three turns: two calls in the first, one of them idempotent; a lost one in the second; an answer in the third. */
async function openTold(store: ThreadStore): Promise<ThreadDriver> {
  const thread = await openThread(store);
  await thread.answer([message('m1')], { toolCalls: [call('c1', 'pay'), call('c2', 'look')] });
  await thread.runTool(1, 0);
  await thread.beginTool(1, 1, 'attempt-1', true);
  await thread.commitTool(1, 1);
  thread.afterStep = 1;
  await thread.answer([]);
  await thread.rest();
  await store.values.set(thread.id, 'early', 1);
  thread.afterStep = 2;
  thread.executionId = 'execution-2';
  await thread.answer([message('m2')], { content: 'asks', toolCalls: [call('c3', 'pay')] });
  await thread.beginTool(3, 0);
  await thread.settleLostTool(3, 0);
  thread.afterStep = 3;
  await thread.answer([], { content: 'the end' });
  await thread.rest();
  thread.afterStep = 4;
  thread.executionId = 'execution-3';
  return thread;
}

const shown = async (store: ThreadStore, id: string) =>
  (await new ThreadDriver(store, id).messages()).map(
    ({ id: one, content }) => `${one.slice(0, 5)}: ${content?.slice(0, 12)}`,
  );

export function registerFork(given: () => Stores): void {
  describe('a fork', () => {
    it('has the messages, values, files and text variables of the head, and names what was done', async () => {
      const { store } = given();
      const thread = await openTold(store);
      await store.files.write(thread.id, { path: '/d/a.txt', content: bytes, mimeType: 'text/plain' });
      await store.env.set({ owner: { thread: thread.id }, name: 'PLACE', value: 'here', type: 'text' });
      await store.env.set({ owner: { thread: thread.id }, name: 'KEY', value: 'hidden', type: 'secret' });
      const before = await thread.everything();
      const fork = await forkOf(thread);
      expect(fork).toMatchObject({ from: thread.id, at: 4, state: 'head', agent: 'helper', messages: 9 });
      expect(fork.effects).toEqual([
        { step: 1, callId: 'c1', name: 'pay', outcome: 'success' },
        { step: 3, callId: 'c3', name: 'pay', outcome: 'unknown' },
      ]);
      expect(await thread.everything()).toEqual(before);
      const copy = new ThreadDriver(store, fork.threadId);
      const [original, copied] = [await thread.messages(), await copy.messages()];
      expect(copied.slice(0, -1)).toEqual(
        original.map((each) => ({ ...each, metadata: { ...each.metadata, forkedFrom: thread.id } })),
      );
      expect(copied.at(-1)).toMatchObject({ silent: true, metadata: { forkNote: true } });
      expect(copied.at(-1)?.content).toMatch(/idempotency key of its own.*"pay" may or may not/s);
      expect(await copy.events()).toMatchObject([
        { seq: 1, type: 'thread.forked' },
        { type: 'message.created' },
      ]);
      expect(await store.values.list(copy.id)).toMatchObject([{ key: 'early', value: 1 }]);
      const file = await store.files.open(copy.id, '/d/a.txt');
      expect(file?.contentId).toBe((await store.files.open(thread.id, '/d/a.txt'))?.contentId);
      expect(await store.env.read(copy.id, null)).toMatchObject([
        { name: 'KEY', value: 'hidden', type: 'secret' },
        { name: 'PLACE', value: 'here', type: 'text' },
      ]);
      expect(await store.threads.get(copy.id)).toMatchObject({
        forkedFrom: { threadId: thread.id, step: 4 },
        parentId: null,
        rootId: copy.id,
        status: 'idle',
        messageCount: 10,
        costUsd: 0,
        inputTokens: 0,
        lastStep: 4,
        firstWords: 'content of m1',
      });
    });

    it('goes on with steps of its own numbers, as if the history were its own', async () => {
      const { store } = given();
      const thread = await openTold(store);
      const { threadId } = await forkOf(thread, { at: 2 });
      const copy = new ThreadDriver(store, threadId, 'run-of-the-fork');
      expect(await copy.open({ mustExist: true })).toMatchObject({
        kind: 'open',
        afterStep: 4 - 2,
        turnOpen: false,
      });
      copy.afterStep = 2;
      copy.executionId = 'execution-of-the-fork';
      const ref = await copy.beginCall([message('m1-new')]);
      expect(ref.step).toBe(3);
      const { messages } = await store.steps.readContext(threadId, ref.step);
      expect(messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
        'assistant',
        'user',
        'user',
      ]);
      await copy.commit(ref, { toolCalls: [call('c1', 'pay')] });
      await copy.runTool(3, 0);
      expect((await copy.transcript()).at(-1)).toBe('tool success: done'.replace('tool', 'pay'));
    });

    it('has state of an earlier step only if asked for that of now, and names what has changed since', async () => {
      const { store } = given();
      const thread = await openTold(store);
      await store.values.set(thread.id, 'late', 2);
      await store.files.write(thread.id, { path: '/late.txt', content: bytes, mimeType: 'text/plain' });
      const without = await forkOf(thread, { at: 2 });
      expect(without).toMatchObject({ at: 2, state: 'none', messages: 5 });
      expect(without.effects).toHaveLength(1);
      expect(await store.values.list(without.threadId)).toEqual([]);
      expect((await store.files.getStats(without.threadId)).fileCount).toBe(0);
      const current = await forkOf(thread, { at: 2, state: 'current' });
      expect(current.changed?.values).toEqual(['early', 'late']);
      expect(current.changed?.files).toEqual(['/late.txt']);
      expect(await store.values.list(current.threadId)).toHaveLength(2);
      expect((await shown(store, current.threadId)).at(-1)).toMatch(/^fork-: This convers/);
    });

    it('of an earlier step has the files that its messages name, as they were', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const write = (path: string, text: string) =>
        store.files.write(thread.id, {
          path,
          content: new TextEncoder().encode(text),
          mimeType: 'text/plain',
        });
      for (const path of ['/attachments/a.txt', '/attachments/b.txt', '/c.txt']) await write(path, 'one');
      const attachments = ['/attachments/a.txt', '/attachments/b.txt'];
      await thread.answer([message('m1', 'look', { attachments })]);
      thread.afterStep = 1;
      await thread.answer([message('m2')]);
      await thread.rest();
      await write('/attachments/b.txt', 'another');
      const { threadId } = await forkOf(thread, { at: 1 });
      expect((await store.files.find(threadId, '**')).paths).toEqual(['/attachments/a.txt']);
    });

    it('of two sides has the side that acts next, and knows which side has taken each step', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const sides = ['a', 'b', 'a', 'b'] as const;
      for (const [turns, side] of sides.entries()) {
        const session = { side, turns };
        await thread.commit(
          await thread.beginCall(turns === 0 ? [message('m1')] : [], { twoSides: true, session }),
        );
        thread.afterStep += 1;
      }
      const forks = await Promise.all([1, 2, 3].map((at) => forkOf(thread, { at })));
      const acting = forks.map(async ({ threadId }) => (await store.threads.get(threadId))?.session.side);
      expect(await Promise.all(acting)).toEqual(['b', 'a', 'b']);
      const copy = new ThreadDriver(store, forks[2]?.threadId, 'run-of-the-fork');
      await copy.open({ mustExist: true });
      copy.afterStep = 3;
      copy.executionId = 'execution-of-the-fork';
      const { step } = await copy.beginCall([message('m2')], {
        twoSides: true,
        session: { side: 'b', turns: 0 },
      });
      const { messages } = await store.steps.readContext(copy.id, step);
      const roles = messages.map((each) => shownRole(each, 'b'));
      expect(roles.filter((role) => role !== 'system')).toEqual(
        (await thread.store.steps.readContext(thread.id, 4)).messages
          .map((each) => shownRole(each, 'b'))
          .slice(0, 4)
          .concat(['assistant']),
      );
    });

    it('begins after the step before one that has not settled, and says so', async () => {
      const { store } = given();
      const thread = await openTold(store);
      await expect(forkOf(thread, { at: 5 })).rejects.toMatchObject({ code: 'InvalidValue' });
      await thread.answer([message('m3')], { toolCalls: [call('c4', 'pay')] });
      expect(await forkOf(thread, { at: 5 })).toMatchObject({ at: 4, asked: 5, state: 'none', messages: 9 });
      const newest = await forkOf(thread);
      expect(newest).toMatchObject({ at: 4, state: 'none' });
      expect(newest.asked).toBeUndefined();
      await thread.runTool(5, 0);
      expect(await forkOf(thread, { at: 5 })).toMatchObject({ at: 5, state: 'head', messages: 12 });
    });

    it('is made once for its id, however often and wherever it is asked for', async () => {
      const { store, second } = given();
      const thread = await openTold(store);
      const forkId = `fork-${randomUUID()}`;
      const asked = { threadId: thread.id, forkId, at: 2 };
      const made = await Promise.all([store.threads.fork(asked), second.threads.fork(asked)]);
      expect(made[0]).toEqual(made[1]);
      const copy = new ThreadDriver(store, forkId);
      const before = await copy.everything();
      expect(await second.threads.fork(asked)).toEqual(made[0]);
      expect(await copy.everything()).toEqual(before);
      await expect(store.threads.fork({ ...asked, at: 4 })).rejects.toMatchObject({ code: 'InvalidStart' });
      await expect(store.threads.fork({ ...asked, forkId: thread.id })).rejects.toMatchObject({
        code: 'InvalidStart',
      });
    });

    it('keeps its files when its source is deleted, and releases them when it is deleted itself', async () => {
      const { store } = given();
      const thread = await openTold(store);
      const own = new TextEncoder().encode(`content ${thread.id}`);
      for (const path of ['/a.txt', '/b.txt'])
        await store.files.write(thread.id, { path, content: own, mimeType: 'text/plain' });
      const { threadId } = await forkOf(thread);
      await store.threads.terminate(thread.id, 'over');
      const late = await forkOf(thread);
      await store.threads.remove(thread.id);
      for (const id of [threadId, late.threadId]) {
        const file = await store.files.open(id, '/b.txt');
        const chunk = { path: '/b.txt', contentId: file?.contentId ?? '', index: 0 };
        expect(await store.files.readChunk(id, chunk)).toEqual(own);
      }
      await expect(forkOf(thread)).rejects.toMatchObject({ code: 'ThreadNotFound' });
      for (const id of [threadId, late.threadId]) {
        await store.threads.terminate(id, 'over');
        await store.threads.remove(id);
      }
      // The last name is gone: a new file of these bytes has a new content.
      const other = await openThread(store);
      await store.files.write(other.id, { path: '/a.txt', content: own, mimeType: 'text/plain' });
      expect(await store.files.open(other.id, '/a.txt')).not.toBeNull();
    });

    it('of a fork may end at a step that the fork has copied', async () => {
      const { store } = given();
      const thread = await openTold(store);
      const first = await forkOf(thread);
      const direct = await forkOf(thread, { at: 1 });
      const copy = new ThreadDriver(store, first.threadId);
      const second = await forkOf(copy, { at: 1 });
      expect(second).toMatchObject({ at: 1, agent: direct.agent, effects: direct.effects, state: 'none' });
      const contents = async (id: string) =>
        (await new ThreadDriver(store, id).messages()).slice(0, -1).map(({ content }) => content);
      // Behind the copied part is the note of the first fork.
      expect(await contents(second.threadId)).toEqual(await contents(direct.threadId));
      expect(await forkOf(copy)).toMatchObject({ at: first.at, state: 'head' });
    });

    it('refuses to supersede a copied call whose outcome is unknown, unless that is acknowledged', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const { step } = await thread.answer([message('m1')], { toolCalls: [call('c1', 'pay')] });
      await thread.beginTool(step, 0);
      await thread.settleLostTool(step, 0);
      thread.afterStep = step;
      await thread.answer([], { content: 'done' });
      await thread.rest();
      const { threadId } = await forkOf(thread);
      const again = { threadId, id: 'again', messageId: 'm1' };
      await expect(store.messages.supersede(again)).rejects.toMatchObject({
        code: 'OutcomeUnknown',
        message: expect.stringContaining('c1'),
      });
      await store.messages.supersede({ ...again, acknowledge: true });
      const copy = new ThreadDriver(store, threadId);
      expect(await copy.events('messages.superseded')).toMatchObject([
        { data: { calls: [{ callId: 'c1', name: 'pay', outcome: 'unknown' }] } },
      ]);
      // Its message is in line: a fork now would be one of nothing.
      await expect(forkOf(copy)).rejects.toMatchObject({ code: 'ThreadBusy' });
    });

    it('of a fork keeps the first origin of each message, and all that was done', async () => {
      const { store } = given();
      const thread = await openTold(store);
      const first = await forkOf(thread);
      const copy = new ThreadDriver(store, first.threadId, 'run-of-the-fork');
      await copy.open({ mustExist: true });
      copy.afterStep = 4;
      copy.executionId = 'execution-of-the-fork';
      await copy.answer([message('m5')], { toolCalls: [call('c9', 'pay')] });
      await copy.runTool(5, 0);
      const second = await forkOf(copy);
      expect(second.effects.map(({ callId }) => callId)).toEqual(['c1', 'c3', 'c9']);
      const messages = await new ThreadDriver(store, second.threadId).messages();
      const origins = messages.map(({ metadata }) => metadata.forkedFrom);
      expect(origins).toEqual([...Array(9).fill(thread.id), ...Array(4).fill(copy.id), undefined]);
      expect((await forkOf(copy, { at: 5 })).effects).toHaveLength(3);
    });

    it('of another owner has no secrets, and names them', async () => {
      const { store } = given();
      const thread = await openTold(store);
      await store.env.set({ owner: { thread: thread.id }, name: 'KEY', value: 'hidden', type: 'secret' });
      await store.env.set({ owner: { thread: thread.id }, name: 'PLACE', value: 'here', type: 'text' });
      const fork = await forkOf(thread, { userId: 'another' });
      expect(fork.withheld).toEqual(['KEY']);
      expect((await store.env.list({ thread: fork.threadId })).map(({ name }) => name)).toEqual(['PLACE']);
      expect(await store.threads.get(fork.threadId)).toMatchObject({ userId: 'another' });
    });

    it('has the agent of its step, before and after a handoff, unless another is given', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.answer([message('m1')]);
      thread.afterStep = 1;
      await thread.answer([message('m2')], { toolCalls: [call('c1', 'second')] });
      await thread.beginTool(2, 0);
      await thread.commitTool(2, 0, { nextAgent: 'second' });
      thread.afterStep = 2;
      expect(await forkOf(thread, { at: 2 })).toMatchObject({ at: 2, state: 'head', agent: 'helper' });
      await thread.answer([]);
      const agents = await Promise.all(
        [1, 2, 3].map(async (at) => {
          const { threadId } = await forkOf(thread, { at });
          const copy = new ThreadDriver(store, threadId, 'run-of-the-fork');
          await copy.open({ mustExist: true });
          copy.afterStep = at;
          copy.executionId = 'execution-of-the-fork';
          await copy.beginCall([message('next')]);
          return (await store.threads.get(threadId))?.agent;
        }),
      );
      expect(agents).toEqual(['helper', 'second', 'second']);
      expect(await forkOf(thread, { at: 3, agent: 'third' })).toMatchObject({ agent: 'third' });
    });

    it('is refused for a thread that is not there, or whose first step has not settled', async () => {
      const { store } = given();
      await expect(forkOf(new ThreadDriver(store, 'nowhere'))).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
      const thread = await openThread(store);
      expect(await forkOf(thread)).toMatchObject({ at: 0, messages: 0, state: 'head' });
      await expect(forkOf(thread, { at: 1 })).rejects.toMatchObject({ code: 'InvalidValue' });
      await thread.beginCall([message('m1')]);
      await expect(forkOf(thread)).rejects.toMatchObject({ code: 'ThreadBusy' });
      await expect(forkOf(thread, { at: 1 })).rejects.toMatchObject({ code: 'ThreadBusy' });
    });
  });
}
