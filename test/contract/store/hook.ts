/** What the store shows and takes from hooks: rows to be drained, rows they have changed, what they ask of the flow. */
import { describe, expect, it } from '@jest/globals';
import type { QueueItem } from '../../../src/core/thread/item.ts';
import type { PreparedItem } from '../../../src/store/step/step-place-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, stored, type ThreadDriver, tool } from '../thread-driver.ts';

const pending = (thread: ThreadDriver, items: readonly QueueItem[] = [], ordinal = 0) =>
  thread.store.queue.readPending({ ...thread.from, ordinal, items, afterStep: thread.afterStep });

const file = (name: string) => ({
  id: `id of ${name}`,
  type: 'file' as const,
  path: `/${name}`,
  name,
  mimeType: 'text/plain',
  size: 1,
});

export function registerHook(given: () => Stores): void {
  describe('the preview of a drain', () => {
    it('equals the drain, in order', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.stash(message('w1'), tool('w2', 'add', { a: 1 }), message('both'));
      await store.queue.stage(thread.id, message('s1', 'staged before'));
      await store.queue.stage(thread.id, message('never', 'nobody has signalled it'));
      const items = [message('i1'), stored('s1'), message('both'), stored('nothing'), message('i1', 'again')];
      const { rows } = await pending(thread, items);
      expect(rows.map(({ message }) => message?.content)).toEqual([
        'content of both',
        'content of i1',
        'staged before',
        'content of w1',
        null,
      ]);
      await thread.begin(items);
      expect(
        (await thread.messages()).filter(({ status }) => status === 'completed').map(({ id }) => id),
      ).toEqual(rows.map(({ id }) => id));
    });

    it('shows each message as it will be stored', async () => {
      const thread = await openThread(given().store);
      const fields = { silent: true, metadata: { a: 1 }, attachments: [file('a.txt')] };
      const items = [message('m1', 'hello', fields), tool('t1', 'add', { a: 1 })];
      const { rows } = await pending(thread, items);
      await thread.begin(items);
      const messages = await thread.messages();
      const untimed = (each: object | null) => ({ ...each, created_at: 0 });
      const shown = rows.map(({ message, files }) => ({
        ...message,
        attachments: files.length > 0 ? files : null,
      }));
      expect(shown.map(untimed)).toEqual(messages.map(untimed));
    });

    it('is empty if the step has started or the thread has ended', async () => {
      const thread = await openThread(given().store);
      await thread.begin([message('m1')], { ordinal: 5 });
      await thread.stash(message('m2'));
      expect((await pending(thread, [message('m1')], 5)).rows).toEqual([]);
      expect((await pending(thread, [message('m1')], 6)).rows.map(({ id }) => id)).toEqual(['m2']);
      await given().store.threads.terminate(thread.id);
      const { rows, thread: record } = await pending(thread, [], 6);
      expect(rows).toEqual([]);
      expect(record.terminatedAt).not.toBeNull();
    });

    it('[definitions 9] is empty if a stored step is to be taken over, whether its calls ran or not', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('m1')], { toolCalls: [call('c1', 'add')] });
      await thread.stash(message('m2'));
      expect(await pending(thread, [message('m3')], 1)).toMatchObject({ rows: [], limited: false });
      await thread.runTool(1, 0);
      expect((await pending(thread, [message('m3')], 1)).rows).toEqual([]);
      thread.afterStep = 1;
      expect((await pending(thread, [message('m3')], 1)).rows.map(({ id }) => id)).toEqual(['m3', 'm2']);
    });

    it('contains the open execution with its steps and scratch', async () => {
      const thread = await openThread(given().store);
      expect(await pending(thread)).toMatchObject({ executionId: null, stepCount: 0, scratch: {} });
      await thread.answer([message('m1')], { context: '{"n":1}', toolCalls: [call('c1', 'add')] });
      expect(await pending(thread, [], 1)).toMatchObject({
        executionId: 'execution-1',
        stepCount: 1,
        scratch: { n: 1 },
        thread: { lastStep: 1 },
      });
      await thread.rest();
      expect(await pending(thread, [], 2)).toMatchObject({ executionId: null, scratch: {} });
    });

    it('marks a row that will be refused because its id is taken', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await store.messages.inject(thread.id, {
        id: 'm1',
        role: 'system',
        content: 'first',
        executionId: null,
      });
      await thread.stash(message('m1'));
      const { rows } = await pending(thread);
      expect(rows).toEqual([{ id: 'm1', message: null, files: [] }]);
      await thread.begin([], { prepared: [{ id: 'm1' }] });
      expect(await thread.events('item.rejected')).toHaveLength(1);
      expect(await thread.rest()).toMatchObject({ kind: 'rest' });
    });
  });

  describe('rows changed by hooks', () => {
    const begin = (thread: ThreadDriver, items: readonly QueueItem[], prepared: readonly PreparedItem[]) =>
      thread.begin(items, { prepared });

    it('are stored unchanged', async () => {
      const thread = await openThread(given().store);
      const queued = { metadata: { a: 1 }, attachments: [file('a.txt')] };
      await thread.stash(
        message('m2', 'two', queued),
        tool('t1', 'add', { a: 1 }),
        message('m3', 'three', queued),
      );
      const [metadata, attachments] = [{ by: 'hook' }, [file('b.txt')]];
      const begun = await begin(
        thread,
        [message('m1')],
        [
          { id: 'm1', role: 'system', content: 'changed', silent: true },
          { id: 'm2', metadata, attachments },
          { id: 't1', content: 'I call', metadata, attachments: null, silent: true },
          { id: 'm3', content: null, attachments: null },
        ],
      );
      expect(begun).toMatchObject({ kind: 'stored', swept: 3, record: { calls: ['add'], moreInput: true } });
      const messages = await thread.messages();
      expect(messages).toMatchObject([
        { id: 'm1', role: 'system', content: 'changed', silent: true, metadata: {}, attachments: null },
        { id: 'm2', role: 'user', content: 'two', metadata, attachments },
        { id: 't1', role: 'assistant', content: 'I call', silent: true, attachments: null },
        { id: 'm3', content: null, metadata: { a: 1 }, attachments: null },
      ]);
      expect(messages[2]?.metadata).toEqual({ by: 'hook', queuedTool: true });
      expect(JSON.parse(messages[2]?.tool_calls ?? '')).toEqual([call('queued_t1', 'add', '{"a":1}')]);
    });

    it('are drained with their items alone: later rows wait, and prevent rest', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('w1'), message('w2'));
      const begun = await begin(thread, [message('i1')], [{ id: 'i1' }, { id: 'w1' }]);
      expect(begun).toMatchObject({ kind: 'call', swept: 1 });
      expect(await thread.transcript()).toEqual([
        'user: content of i1',
        'user: content of w1',
        '[user: content of w2]',
      ]);
      await thread.commit({ ...thread.from, step: 1, attempt: 1 });
      expect(await thread.rest()).toMatchObject({ kind: 'pending', waiting: 1 });
      expect(await begin(thread, [], [])).toMatchObject({ kind: 'nothing_to_do', swept: 0 });
      expect(await begin(thread, [], [{ id: 'w2' }])).toMatchObject({ kind: 'call', swept: 1 });
    });

    it('need an answer by their current role', async () => {
      const thread = await openThread(given().store);
      const begun = await begin(thread, [message('m1')], [{ id: 'm1', role: 'assistant' }]);
      expect(begun).toMatchObject({ kind: 'nothing_to_do' });
    });

    it('withdrawn meanwhile are not stored', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.stash(message('w1'));
      await store.messages.delete(thread.id, 'w1');
      expect(await begin(thread, [], [{ id: 'w1', content: 'x' }])).toMatchObject({ kind: 'nothing_to_do' });
      expect(await thread.messages()).toEqual([]);
    });

    it('carry the flow directives of their hooks', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const asked = { prepared: [{ id: 'm1' }], directive: 'stop' as const, context: '{"n":1}' };
      const ref = await thread.beginCall([message('m1')], asked);
      expect(await store.steps.readContext(thread.id, ref.step)).toMatchObject({ scratch: { n: 1 } });
      expect(await thread.commit(ref)).toMatchObject({ kind: 'stored', record: { directive: 'stop' } });
      // Also after a lost answer, and for queued tools, whose step no other command commits.
      expect(await thread.commit(ref)).toMatchObject({ kind: 'stored', record: { directive: 'stop' } });
      const tools = { prepared: [{ id: 't1' }], directive: 'b' as const };
      expect(await thread.begin([tool('t1', 'add')], { ...tools, afterStep: ref.step })).toMatchObject({
        kind: 'stored',
        record: { directive: 'b' },
      });
    });

    it('are overridden by the hooks of the answer', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('m1')], { prepared: [{ id: 'm1' }], directive: 'stop' });
      const committed = await thread.commit(ref, { directive: 'blocked' });
      expect(committed).toMatchObject({ record: { directive: 'blocked' } });
    });
  });

  describe('flow directives of hooks', () => {
    it('are stored with the step or call and the execution', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const record = await thread.answer([message('m1')], { toolCalls: [call('c1', 'add')] });
      await store.steps.saveFlow({ ...thread.from, step: record.step, directive: 'a', context: '{"n":1}' });
      expect(await thread.begin([], { afterStep: 0 })).toMatchObject({ record: { directive: 'a' } });
      await thread.beginTool(record.step, 0);
      await thread.commitTool(record.step, 0);
      await store.steps.saveFlow({ ...thread.from, step: record.step, index: 0, directive: 'stop' });
      expect(await thread.beginTool(record.step, 0)).toMatchObject({ kind: 'settled', directive: 'stop' });
      expect(await pending(thread, [], 9)).toMatchObject({ scratch: { n: 1 } });
    });

    it('are refused to a replaced run, and ignored for an ended thread', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const { step } = await thread.answer([message('m1')]);
      await thread.as('run-2').open();
      await expect(store.steps.saveFlow({ ...thread.from, step, directive: 'a' })).rejects.toThrow(
        /replaced/,
      );
      await store.threads.terminate(thread.id);
      const before = await thread.everything();
      await store.steps.saveFlow({ threadId: thread.id, runId: 'run-2', step, directive: 'a' });
      expect(await thread.everything()).toEqual(before);
    });
  });

  describe('a new thread', () => {
    it('is marked as greeted once', async () => {
      const { store, second } = given();
      const thread = await openThread(store);
      expect((await pending(thread)).greeted).toBe(false);
      await store.threads.markGreeted(thread.id);
      const before = await thread.everything();
      await second.threads.markGreeted(thread.id);
      expect(await thread.everything()).toEqual(before);
      expect((await pending(thread)).greeted).toBe(true);
    });
  });
}
