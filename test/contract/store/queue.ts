/** stageItem, stashItems, queueItem and the drain: the durable half of the queue (runtime §9). */
import { describe, expect, it } from '@jest/globals';
import type { QueueItem } from '../../../src/core/thread/item.ts';
import { LIMITS } from '../../../src/core/value/limit.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, stored, ThreadDriver, tool } from '../thread-driver.ts';

export function registerQueue(given: () => Stores): void {
  describe('the queue', () => {
    it('[runtime 9] drains stashed items in order, and is empty afterwards', async () => {
      const thread = await openThread(given().store);
      expect(await thread.stash(message('a'), message('b'))).toEqual({ waiting: 2 });
      expect(await thread.stash(message('c'))).toEqual({ waiting: 3 });
      expect(await thread.begin()).toEqual({
        kind: 'call',
        step: 1,
        attempt: 1,
        swept: 3,
        taken: { a: 1, b: 0 },
      });
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      expect(await thread.stash()).toEqual({ waiting: 0 });
    });

    it('[runtime 9] drains items taken by the step before those in the store', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('s1'), message('s2'));
      expect(await thread.begin([message('t1'), message('t2')])).toMatchObject({ kind: 'call', swept: 2 });
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['t1', 't2', 's1', 's2']);
    });

    it('[runtime 9] drains items taken by the step even after more rows than a step takes', async () => {
      const thread = await openThread(given().store);
      const rows = Array.from({ length: 1200 }, (_, n) => message(`s${n}`, 'x'));
      await thread.stash(...rows);
      const steps = [await thread.begin([message('t1')])];
      for (let n = 1; n < 10 && (await thread.stash()).waiting > 0; n++) steps.push(await thread.begin());
      expect(steps.length).toBeGreaterThan(1);
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['t1', ...rows.map(({ id }) => id)]);
      expect(steps.reduce((sum, step) => sum + ('swept' in step ? step.swept : 0), 0)).toBe(1200);
    });

    it('treats a repeated item as the one it has', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('a', 'first'), tool('t', 'look'));
      const before = await thread.everything();
      expect(await thread.stash(message('a', 'second'), tool('t', 'look'))).toEqual({ waiting: 2 });
      await thread.store.queue.add(thread.id, message('a', 'third'));
      expect(await thread.everything()).toEqual(before);
      await thread.begin([message('a', 'fourth')]);
      await thread.begin([message('a', 'fifth')]);
      expect((await thread.messages()).filter(({ id }) => id === 'a')).toMatchObject([{ content: 'first' }]);
    });

    it('keeps after the drain whether the answer to an item was delivered', async () => {
      const thread = await openThread(given().store);
      const { queue } = thread.store;
      const delivery = () => queue.readDelivery(thread.id, 'a');
      expect(await delivery()).toBe('unknown');
      await queue.stage(thread.id, message('a'));
      await queue.markDelivered(thread.id, 'a');
      expect(await delivery()).toBe('open');
      await thread.stash(message('a'));
      await thread.begin();
      expect(await delivery()).toBe('open');
      for (const _ of [1, 2]) await queue.markDelivered(thread.id, 'a');
      expect(await delivery()).toBe('delivered');
    });

    it('gives a staged item the position of its signal', async () => {
      const { store } = given();
      const thread = new ThreadDriver(store);
      await store.queue.stage(
        thread.id,
        message('large', 'the large content', { metadata: { from: 'client' } }),
      );
      await thread.open();
      expect(await thread.messages()).toEqual([]);
      await thread.stash(message('a'), stored('large'), message('b'));
      await thread.begin();
      expect(await thread.messages()).toMatchObject([
        { id: 'a' },
        { id: 'large', content: 'the large content', metadata: { from: 'client' } },
        { id: 'b' },
      ]);
    });

    it('finds a staged item taken by a step directly', async () => {
      const thread = await openThread(given().store);
      await thread.store.queue.stage(thread.id, message('large', 'the large content'));
      await thread.begin([stored('large')]);
      expect(await thread.messages()).toMatchObject([{ id: 'large', content: 'the large content' }]);
    });

    it('keeps the first content staged under an id, and rejects other content', async () => {
      const thread = await openThread(given().store);
      const { queue } = thread.store;
      await queue.stage(thread.id, message('large', 'first'));
      await expect(queue.stage(thread.id, message('large', 'second'))).rejects.toMatchObject({
        code: 'ItemConflict',
      });
      await thread.begin([stored('large')]);
      await queue.stage(thread.id, message('large', 'first'));
      await expect(queue.stage(thread.id, message('large', 'third'))).rejects.toMatchObject({
        code: 'ItemConflict',
      });
      expect(await thread.messages()).toMatchObject([{ content: 'first' }]);
    });

    it('rejects an id without content, visibly and once', async () => {
      const thread = await openThread(given().store);
      expect(await thread.stash(stored('gone'), message('a'))).toEqual({ waiting: 1 });
      await thread.stash(stored('gone'));
      await thread.begin([stored('gone'), stored('lost')]);
      expect(await thread.events('item.rejected')).toMatchObject([
        { data: { id: 'gone', code: 'InvalidMessage' } },
        { data: { id: 'lost', code: 'InvalidMessage' } },
      ]);
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['a']);
    });

    it('rejects an item nested too deeply, and takes those after it', async () => {
      const thread = await openThread(given().store);
      const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
      const deepest = message('deepest', 'x', { metadata: { a: nested(LIMITS.jsonDepth - 1) } });
      const deeper = message('deeper', 'x', { metadata: { a: nested(LIMITS.jsonDepth) } });
      const deep = message('deep', 'x', { metadata: { a: nested(500_000) } });
      expect(await thread.stash(deep, deepest, deeper, message('a'))).toEqual({ waiting: 2 });
      await thread.begin();
      expect((await thread.messages()).map(({ id }) => id)).toEqual(['deepest', 'a']);
      expect(await thread.events('item.rejected')).toMatchObject(
        ['deep', 'deeper'].map((id) => ({ data: { id, code: 'InvalidMessage' } })),
      );
    });

    it('rejects an id used by another message of the thread', async () => {
      const thread = await openThread(given().store);
      await thread.store.messages.inject(thread.id, {
        id: 'taken',
        role: 'system',
        content: 'mine',
        executionId: null,
      });
      await thread.begin([message('taken', 'yours'), message('free')]);
      expect(await thread.transcript()).toEqual(['system: mine', 'user: content of free']);
      expect(await thread.events('item.rejected')).toMatchObject([
        { data: { id: 'taken', code: 'InvalidMessage' } },
      ]);
    });

    it('reports the refusals of a step once, however often it is repeated', async () => {
      const thread = await openThread(given().store);
      const rejections = [
        { code: 'InvalidMessage', reason: 'no content', id: 'bad' },
        { code: 'MessageTooLarge', reason: 'huge' },
      ] as const;
      await thread.begin([], { ordinal: 1, rejections });
      await thread.begin([], { ordinal: 1, rejections });
      await thread.begin([message('a')], { ordinal: 2, rejections: rejections.slice(0, 1) });
      await thread.begin([message('a')], { ordinal: 2, rejections: rejections.slice(0, 1) });
      expect((await thread.events('item.rejected')).map(({ data }) => data)).toEqual([
        { code: 'InvalidMessage', reason: 'no content', id: 'bad' },
        { code: 'MessageTooLarge', reason: 'huge' },
        { code: 'InvalidMessage', reason: 'no content', id: 'bad' },
      ]);
    });

    it('turns each kind of item into its message', async () => {
      const thread = await openThread(given().store);
      await thread.begin([
        message('a', 'hello 😀', { metadata: { n: 1 } }),
        message('b', 'quiet', { role: 'assistant', silent: true }),
        message('c', 'rule', { role: 'system' }),
        tool('d', 'look', { at: 'it' }),
      ]);
      const [a, b, c, d] = await thread.messages();
      expect(a).toMatchObject({
        role: 'user',
        content: 'hello 😀',
        metadata: { n: 1 },
        silent: false,
        status: 'completed',
      });
      expect(b).toMatchObject({ role: 'assistant', content: 'quiet', silent: true });
      expect(c).toMatchObject({ role: 'system', content: 'rule' });
      expect(d).toMatchObject({ role: 'assistant', content: null, metadata: { queuedTool: true } });
      expect(JSON.parse(d?.tool_calls ?? '')).toMatchObject([
        { function: { name: 'look', arguments: '{"at":"it"}' } },
      ]);
    });

    it('remembers that queued tools need no answer, also if another run takes over their step', async () => {
      const thread = await openThread(given().store);
      const alone = { ...tool('t', 'look'), unanswered: true } as const;
      expect(await thread.begin([alone], { ordinal: 1 })).toMatchObject({
        record: { kind: 'tools', directive: 'unanswered' },
      });
      const again = thread.as('run-reset');
      await again.open();
      expect(await again.begin([])).toMatchObject({ record: { step: 1, directive: 'unanswered' } });
    });

    it.each<[string, readonly QueueItem[]]>([
      ['a message comes with it', [message('a')]],
      ['another tool is to be answered', [tool('other', 'look')]],
    ])('answers a queued tool if %s', async (_, beside) => {
      const thread = await openThread(given().store);
      const begun = await thread.begin([{ ...tool('t', 'look'), unanswered: true }, ...beside]);
      expect(begun).toMatchObject({ kind: 'stored', record: { kind: 'tools' } });
      expect(begun).toEqual(
        expect.not.objectContaining({ record: expect.objectContaining({ directive: expect.anything() }) }),
      );
    });

    it('answers a queued tool that arrives during a turn', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c', 'look')] });
      await thread.runTool(1, 0);
      const begun = await thread.begin([{ ...tool('t', 'look'), unanswered: true }]);
      expect(begun).toEqual(
        expect.not.objectContaining({ record: expect.objectContaining({ directive: expect.anything() }) }),
      );
    });

    it.each([
      ['NUL', 'a\0b\0'],
      ['marks of a store', '\uFDD0 \uFDD0\uFDD1 \uFDD0\uFDD2 \0\uFDD0'],
      ['what SQL would mean', `'; drop table threads; -- $1 ? \\ "`],
      ['many planes', 'e\u0301 ﷽ 漢字 😀 \u{10FFFF} \u2028'],
      ['nothing', ''],
    ])('keeps every text unchanged: %s', async (_name, text) => {
      const { store, second } = given();
      const thread = await openThread(store);
      const toolCalls = [call('c0', 'look', text)];
      const ref = await thread.beginCall([message('a', text, { metadata: { text } })]);
      await store.queue.stage(thread.id, message('b', text));
      await thread.chunk(ref, text);
      await thread.commit(ref, { content: text, toolCalls });
      expect(await thread.beginTool(1, 0)).toMatchObject({ call: { arguments: text } });
      await thread.commitTool(1, 0, { result: { status: 'success', result: `${text}.` } });
      await thread.stash(stored('b'));
      const contents = (await second.messages.list(thread.id)).messages.map(({ content }) => content);
      expect(contents).toEqual([text, text, `${text}.`, text]);
      expect(await second.messages.get(thread.id, 'a')).toMatchObject({ metadata: { text } });
      expect(await thread.events('model.chunk')).toMatchObject([{ data: { delta: text } }]);
    });

    it('counts items that were taken or refused', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const count = (...ids: string[]) => store.queue.countDrained(thread.id, ids);
      await store.queue.stage(thread.id, message('staged'));
      await thread.stash(message('a'), message('b'), stored('gone'));
      expect(await count()).toBe(0);
      expect(await count('a', 'b', 'staged', 'unknown')).toBe(0);
      expect(await count('gone')).toBe(1);
      await thread.begin([], { rejections: [{ code: 'InvalidMessage', reason: 'bad', id: 'refused' }] });
      expect(await count('a', 'b', 'gone', 'refused', 'unknown', 'staged')).toBe(4);
      expect(await store.queue.countDrained('another thread', ['a'])).toBe(0);
    });

    it('counts queued items of any sender', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await store.queue.stage(thread.id, message('staged'));
      expect(await store.queue.count(thread.id)).toBe(0);
      await thread.stash(message('a'));
      await store.queue.add(thread.id, tool('t', 'look'));
      expect(await store.queue.count(thread.id)).toBe(2);
      await thread.begin();
      expect([await store.queue.count(thread.id), await store.queue.count('another thread')]).toEqual([0, 0]);
    });

    it('[runtime 10] takes no item for a terminated thread', async () => {
      const thread = await openThread(given().store);
      await thread.rest('terminated');
      const before = await thread.everything();
      expect(await thread.stash(message('a'))).toEqual({ waiting: 0 });
      await expect(thread.store.queue.add(thread.id, message('a'))).rejects.toMatchObject({
        code: 'ThreadTerminated',
      });
      await thread.store.queue.stage(thread.id, message('a'));
      expect(await thread.everything()).toEqual(before);
    });

    it('names an unknown thread', async () => {
      const { store } = given();
      await expect(store.queue.add('nobody', message('a'))).rejects.toMatchObject({ code: 'ThreadNotFound' });
      await expect(
        store.messages.inject('nobody', { id: 'a', role: 'user', content: 'x', executionId: null }),
      ).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
      await expect(new ThreadDriver(store).begin()).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });
  });
}
