/** What code does to a thread outside its steps: changes and removes messages, keeps a scratch, reads logs, ends it. */

import { describe, expect, it } from '@jest/globals';
import type { UnstoredMessage } from '../../../src/core/message/message.ts';
import { toPico } from '../../../src/core/value/money.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

const inject = (thread: ThreadDriver, id: string, fields: Partial<UnstoredMessage> = {}) =>
  thread.store.messages.inject(thread.id, { id, role: 'user', content: id, executionId: null, ...fields });

export function registerOwnMessage(given: () => Stores): void {
  describe('messages changed by code', () => {
    it('are updated by field, metadata by key, and a repeated update changes nothing', async () => {
      const thread = await openThread(given().store);
      await inject(thread, 'm', { metadata: { a: 1, b: 2 } });
      const updates = { content: 'new', silent: true, metadata: { b: null, c: { d: 1 } } };
      const changed = await thread.store.messages.update(thread.id, 'm', updates);
      expect(changed).toMatchObject({ content: 'new', silent: true, metadata: { a: 1, c: { d: 1 } } });
      expect(changed.metadata).not.toHaveProperty('b');
      expect(await thread.store.messages.get(thread.id, 'm')).toEqual(changed);
      const before = await thread.everything();
      expect(await thread.store.messages.update(thread.id, 'm', updates)).toEqual(changed);
      expect(await thread.store.messages.update(thread.id, 'm', {})).toEqual(changed);
      expect(await thread.everything()).toEqual(before);
    });

    it('keep their time and position', async () => {
      const thread = await openThread(given().store);
      const first = await inject(thread, 'first');
      await inject(thread, 'second');
      const changed = await thread.store.messages.update(thread.id, 'first', { content: 'later' });
      expect(changed.created_at).toBe(first.created_at);
      const { messages } = await thread.store.messages.list(thread.id);
      expect(messages.map(({ content }) => content)).toEqual(['later', 'second']);
    });

    it('that are missing or still queued cannot be updated', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('waiting'));
      for (const id of ['nobody', 'waiting']) {
        await expect(thread.store.messages.update(thread.id, id, { content: 'x' })).rejects.toMatchObject({
          code: 'MessageNotFound',
        });
      }
    });

    it('are deleted with the results of their calls, once', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look')], messageId: 'asked' });
      await thread.beginTool(1, 0);
      await expect(thread.store.messages.delete(thread.id, 'asked')).rejects.toMatchObject({
        code: 'MessageConflict',
      });
      await thread.commitTool(1, 0);
      expect(await thread.store.messages.delete(thread.id, 'asked')).toBe(true);
      expect(await thread.store.messages.delete(thread.id, 'asked')).toBe(false);
      expect(await thread.transcript()).toEqual(['user: content of a']);
      expect(await thread.events('message.deleted')).toHaveLength(2);
    });

    it('that are queued are removed from the queue, and do not return', async () => {
      const thread = await openThread(given().store);
      await thread.stash(message('a'), message('b'));
      expect(await thread.store.messages.delete(thread.id, 'a')).toBe(true);
      expect(await thread.stash(message('a'))).toEqual({ waiting: 1 });
      await thread.answer([]);
      expect(await thread.transcript()).toEqual(['user: content of b', 'assistant: an answer']);
    });

    it('of a terminated thread cannot be changed', async () => {
      const thread = await openThread(given().store);
      await inject(thread, 'm');
      await thread.rest('terminated');
      const refused = { code: 'ThreadTerminated' };
      await expect(inject(thread, 'n')).rejects.toMatchObject(refused);
      await expect(thread.store.messages.update(thread.id, 'm', { content: 'x' })).rejects.toMatchObject(
        refused,
      );
      await expect(thread.store.messages.delete(thread.id, 'm')).rejects.toMatchObject(refused);
      await expect(
        thread.store.events.append(thread.id, { type: 'custom', data: { event: 'x', data: null } }),
      ).rejects.toMatchObject(refused);
      expect(await thread.transcript()).toEqual(['user: m']);
    });
  });

  describe('a call removed by a hook', () => {
    it('has no result, and is removed from its message', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look'), call('c1', 'see')] });
      await thread.beginTool(1, 0);
      expect(await thread.commitTool(1, 0, { result: null })).toEqual({ kind: 'stored', queued: 0 });
      expect(await thread.commitTool(1, 0, { result: null })).toEqual({ kind: 'stored', queued: 0 });
      await thread.beginTool(1, 1);
      await thread.commitTool(1, 1);
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: 'settled', status: 'error' });
      const { messages } = await thread.store.messages.list(thread.id);
      const calls = messages.map(({ tool_calls: asked }) => asked && (JSON.parse(asked) as unknown[]).length);
      expect(calls).toEqual([null, 1, null]);
      expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'c1' });
      expect(await thread.events('tool.removed')).toHaveLength(1);
    });

    it('leaves an answer without calls if it was the only one', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { content: 'well', toolCalls: [call('c0', 'look')] });
      await thread.beginTool(1, 0);
      await thread.commitTool(1, 0, { result: null });
      const { messages } = await thread.store.messages.list(thread.id);
      expect(messages.map(({ content, tool_calls: asked }) => [content, asked])).toEqual([
        ['content of a', null],
        ['well', null],
      ]);
    });
  });

  describe('the scratch of an execution', () => {
    it('is stored by the commits of tools and answers, and removed with the execution', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look')], context: '{"n":1}' });
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: 'run', scratch: { n: 1 }, stepCount: 1 });
      await thread.commitTool(1, 0, { context: '{"n":2}', directive: 'stop' });
      expect(await thread.beginTool(1, 0)).toMatchObject({ kind: 'settled', directive: 'stop' });
      thread.afterStep = 1;
      const ref = await thread.beginCall([message('b')]);
      expect(await thread.store.steps.readContext(thread.id, ref.step)).toMatchObject({
        scratch: { n: 2 },
        stepCount: 2,
      });
      await thread.commit(ref);
      await thread.rest('idle');
      thread.afterStep = 2;
      thread.executionId = 'execution-2';
      const next = await thread.beginCall([message('c')]);
      expect(await thread.store.steps.readContext(thread.id, next.step)).toMatchObject({
        scratch: {},
        stepCount: 1,
      });
    });
  });

  describe('logs', () => {
    it('list model calls, tool calls and thread events, newest first, in pages', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      await thread.store.modelCalls.start({ ...ref, call: 1, model: 'scripted', modelId: 's-1' });
      const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 };
      await thread.store.modelCalls.end({ ...ref, call: 1, ok: true, usage, cost: toPico(0.25) });
      const toolCalls = [call('c0', 'look'), call('c1', 'never')];
      await thread.commit(ref, { toolCalls, metadata: { status_kind: 'plan' } });
      await thread.beginTool(1, 0);
      await thread.commitTool(1, 0);
      await thread.store.events.append(thread.id, {
        type: 'tool.invoked',
        data: { name: 'inner', status: 'success', durationMs: 1 },
        step: 1,
      });
      await thread.store.events.append(thread.id, { type: 'custom', data: { event: 'x', data: null } });
      const logs = await thread.store.events.getLogs(thread.id, { order: 'asc' });
      expect(logs.map(({ type }) => type).toSorted()).toEqual(
        ['execution', 'model_call', 'thread', 'thread', 'tool_call', 'tool_invocation'].toSorted(),
      );
      expect(logs.find(({ type }) => type === 'model_call')).toMatchObject({
        id: 'model:1:1:1',
        metadata: { status_kind: 'plan' },
        data: { model: 'scripted', modelId: 's-1', state: 'ok', usage, cost: 0.25, error: null },
        parent_id: 'execution-1',
      });
      expect(logs.find(({ type }) => type === 'tool_call')).toMatchObject({
        data: { name: 'look', status: 'success', state: 'done', origin: 'model' },
        parent_id: 'execution-1',
      });
      expect(logs.filter(({ metadata }) => metadata)).toHaveLength(1);
      const ids = (await thread.store.events.getLogs(thread.id)).map(({ id }) => id);
      expect(ids).toEqual(logs.map(({ id }) => id).toReversed());
      const page = await thread.store.events.getLogs(thread.id, { limit: 2, offset: 1 });
      expect(page.map(({ id }) => id)).toEqual(ids.slice(1, 3));
      expect(await thread.store.events.getLogs('nobody')).toEqual([]);
    });
  });

  describe('terminateThread', () => {
    it('ends a thread as its workflow would, once, with everything open', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look')] });
      await thread.beginTool(1, 0);
      await thread.stash(tool('t', 'see'));
      await thread.store.threads.terminate(thread.id, 'enough');
      const record = await thread.store.threads.get(thread.id);
      expect(record).toMatchObject({ status: 'terminated', stopReason: 'enough' });
      expect(record?.terminatedAt).toEqual(expect.any(Number));
      await thread.store.threads.terminate(thread.id, 'again');
      expect(await thread.store.threads.get(thread.id)).toEqual(record);
      expect(await thread.commitTool(1, 0)).toEqual({ kind: 'terminated' });
      expect(await thread.begin()).toEqual({ kind: 'terminated' });
      expect(await thread.rest('idle')).toEqual({ kind: 'terminated' });
      await expect(thread.store.threads.terminate('nobody')).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
    });
  });
}
