/** commitStatus: a thread becomes idle, with everything settled (runtime §6, §10). */
import { describe, expect, it } from '@jest/globals';
import type { RestStatus } from '../../../src/core/thread/step.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, tool } from '../thread-driver.ts';

const REST: readonly RestStatus[] = ['idle', 'stopped', 'failed'];

export function registerRest(given: () => Stores): void {
  describe('rest', () => {
    it.each(REST)('sets %s, once', async (status) => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      const error = status === 'failed' ? { code: 'rate_limit', message: 'slow' } : undefined;
      const fields = { reason: 'because', error };
      expect(await thread.rest(status, fields)).toEqual({ kind: 'rest', waiting: 0, step: 1 });
      const before = await thread.events();
      expect(await thread.rest(status, fields)).toEqual({ kind: 'rest', waiting: 0, step: 1 });
      expect(await thread.events()).toEqual(before);
      expect(await thread.store.threads.get(thread.id)).toMatchObject({
        status,
        stopReason: 'because',
        lastError: error ?? null,
        terminatedAt: null,
      });
      expect(await thread.events('execution.ended', 'thread.status')).toMatchObject([
        { type: 'thread.status', data: { status: 'running' } },
        { type: 'execution.ended', data: { executionId: 'execution-1', reason: 'because' } },
        { type: 'thread.status', data: { status, reason: 'because' } },
      ]);
    });

    it.each(['idle', 'failed'] as const)('does not set %s while items are pending', async (status) => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      await thread.stash(message('b'), tool('t', 'look'));
      expect(await thread.rest(status)).toEqual({ kind: 'pending', waiting: 2, step: 1 });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ status: 'running' });
      expect(await thread.events('execution.ended')).toHaveLength(1);
      thread.afterStep = 1;
      expect(await thread.begin()).toMatchObject({ kind: 'stored', record: { kind: 'tools' } });
    });

    it('is refused while the workflow has more items', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      expect(await thread.rest('idle', { more: true })).toEqual({ kind: 'pending', waiting: 0, step: 1 });
      expect(await thread.rest('idle', { more: false })).toMatchObject({ kind: 'rest' });
    });

    it('sets stopped though items are pending, and they stay queued', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      await thread.stash(message('b'));
      expect(await thread.rest('stopped', { more: true })).toEqual({ kind: 'rest', waiting: 1, step: 1 });
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        'assistant: an answer',
        '[user: content of b]',
      ]);
    });

    it('[decision 0008] keeps the streamed text of a stopped step', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a')]);
      await thread.chunk(ref, 'a first try', 1);
      await thread.chunk(ref, 'Half ', 2);
      await thread.chunk(ref, 'an answer', 2);
      await thread.rest('stopped');
      expect((await thread.messages()).at(-1)).toMatchObject({
        role: 'assistant',
        content: 'Half an answer',
        metadata: { stopped: true },
      });
      const before = await thread.everything();
      expect(await thread.commit(ref)).toEqual({ kind: 'closed' });
      expect(await thread.chunk(ref, ', late')).toBe(false);
      expect(await thread.everything()).toEqual(before);
    });

    it('[decision 0008] leaves no message of a stopped step without streamed text', async () => {
      const thread = await openThread(given().store);
      await thread.beginCall([message('a')]);
      await thread.rest('stopped');
      expect(await thread.transcript()).toEqual(['user: content of a']);
    });

    it('[decision 0008] gives the running call and the remaining ones the result "stopped"', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], {
        toolCalls: [call('c0', 'look'), call('c1', 'count'), call('c2', 'tidy')],
      });
      await thread.runTool(1, 0);
      await thread.beginTool(1, 1);
      await thread.rest('stopped');
      expect((await thread.transcript()).slice(-3)).toEqual([
        'look success: done',
        'count error: Failed to execute tool: stopped',
        'tidy error: Failed to execute tool: stopped',
      ]);
      expect((await thread.messages()).at(-1)?.metadata).toMatchObject({ stopped: true });
      expect(await thread.commitTool(1, 1)).toEqual({ kind: 'late' });
      expect(await thread.beginTool(1, 2)).toMatchObject({ kind: 'settled', state: 'done', status: 'error' });
    });

    it.each(['idle', 'failed'] as const)('as %s leaves no call without a result', async (status) => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look')] });
      await thread.rest(status);
      expect((await thread.transcript()).at(-1)).toMatch(/^look error: /);
      // A later run does not take the call for one that must still run.
      expect(await thread.as('run-2').begin()).toMatchObject({ kind: 'nothing_to_do' });
    });

    it('is followed by a run that clears the last error', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')]);
      await thread.rest('failed', { error: { code: 'x', message: 'x' } });
      thread.afterStep = 1;
      await thread.begin([message('b')]);
      expect(await thread.store.threads.get(thread.id)).toMatchObject({
        status: 'running',
        lastError: null,
        stopReason: null,
      });
    });

    it('reports refusals, with an ordinal only once', async () => {
      const thread = await openThread(given().store);
      const rejections = [{ code: 'InvalidMessage', reason: 'no content' }] as const;
      await thread.rest('idle', { rejections, ordinal: 7 });
      await thread.rest('idle', { rejections, ordinal: 7 });
      expect(await thread.events('item.rejected')).toHaveLength(1);
      await thread.rest('idle', { rejections, ordinal: 8 });
      await thread.rest('idle', { rejections });
      expect(await thread.events('item.rejected')).toHaveLength(3);
    });
  });

  describe('[runtime 10] termination', () => {
    it('is permanent', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look')] });
      await thread.stash(message('b'));
      expect(await thread.rest('terminated', { reason: 'enough' })).toMatchObject({ kind: 'rest' });
      const record = await thread.store.threads.get(thread.id);
      expect(record).toMatchObject({ status: 'terminated', stopReason: 'enough' });
      expect(record?.terminatedAt).toBeGreaterThanOrEqual(Number(record?.createdAt));
      expect((await thread.events()).at(-1)).toMatchObject({
        type: 'thread.terminated',
        data: { reason: 'enough' },
      });
      const before = await thread.everything();
      for (const status of [...REST, 'terminated'] as const) {
        expect(await thread.rest(status)).toEqual({ kind: 'terminated' });
        expect(await thread.as('run-2').rest(status)).toEqual({ kind: 'terminated' });
      }
      const injected = thread.store.messages.inject(thread.id, {
        id: 'i',
        role: 'user',
        content: 'x',
        executionId: null,
      });
      await expect(injected).rejects.toMatchObject({ code: 'ThreadTerminated' });
      expect(await thread.everything()).toEqual(before);
    });

    it('leaves the history readable, and no call without a result', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { content: 'so', toolCalls: [call('c0', 'look')] });
      await thread.rest('terminated');
      expect(await thread.transcript()).toEqual([
        'user: content of a',
        'assistant: so -> look',
        'look error: Failed to execute tool: stopped',
      ]);
    });
  });
}
