/** Cancelled executions: the request, what no longer begins, and how it ends (docs/governance.md). */
import { describe, expect, it } from '@jest/globals';
import type { RestStatus } from '../../../src/core/thread/step.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver, tool } from '../thread-driver.ts';

const CANCELED = { canceled: true, cancelReason: 'enough' };

export function registerCancel(given: () => Stores): void {
  const cancel = ({ id: threadId, store }: ThreadDriver, request: object = {}) =>
    store.executions.cancel({ threadId, ...request });

  describe('cancelling an execution', () => {
    it('[PL-13] keeps the first request, and reports unknown and ended executions', async () => {
      const thread = await openThread(given().store);
      expect(await cancel(thread)).toEqual({ kind: 'not_found' });
      await thread.beginCall([message('a')]);
      expect(await cancel(thread, { executionId: 'another' })).toEqual({ kind: 'not_found' });
      const first = await cancel(thread, { reason: 'enough', by: 'ada' });
      expect(first).toMatchObject({
        kind: 'canceling',
        executionId: 'execution-1',
        cancellation: { reason: 'enough', by: 'ada' },
      });
      expect(await cancel(thread, { executionId: 'execution-1', reason: 'later' })).toEqual(first);
      expect(await given().second.executions.get(thread.id)).toMatchObject({
        endedAt: null,
        canceled: { reason: 'enough', by: 'ada' },
        context: CANCELED,
      });
      await thread.rest('idle');
      const over = { kind: 'not_cancelable', executionId: 'execution-1', stopReason: 'canceled' };
      expect(await cancel(thread)).toEqual(over);
      expect(await cancel(thread, { executionId: 'execution-1' })).toEqual(over);
      await expect(cancel({ ...thread, id: 'nobody', store: thread.store } as never)).rejects.toMatchObject({
        code: 'ThreadNotFound',
      });
    });

    it.each<RestStatus>(['idle', 'stopped', 'failed'])(
      '[PL-12] ends it as canceled, once, though the workflow ends it as %s, and keeps the streamed text',
      async (status) => {
        const thread = await openThread(given().store);
        const ref = await thread.beginCall([message('a')]);
        await thread.chunk(ref, 'half an ');
        await cancel(thread, { reason: 'enough', by: 'ada' });
        const error = status === 'failed' ? { error: { code: 'Fault', message: 'cut off' } } : {};
        const rest = { reason: 'anything', ordinal: 7, ...error };
        const end = { kind: 'rest', waiting: 0, step: 1, canceled: { reason: 'enough' } };
        expect(await thread.rest(status, rest)).toEqual(end);
        const before = [await thread.messages(), await thread.events()];
        expect(await thread.rest(status, rest)).toMatchObject({
          kind: 'rest',
          canceled: { reason: 'enough' },
        });
        expect([await thread.messages(), await thread.events()]).toEqual(before);
        expect(await thread.events('execution.ended', 'step.failed')).toMatchObject([
          {
            data: { executionId: 'execution-1', reason: 'canceled', cancelReason: 'enough', by: 'ada' },
          },
        ]);
        expect(await thread.transcript()).toEqual(['user: content of a', 'assistant: half an ']);
        expect(await thread.store.threads.get(thread.id)).toMatchObject({
          status: 'stopped',
          stopReason: 'canceled',
          lastError: null,
        });
      },
    );

    it('prevents further steps, in another run too, and keeps and marks finished calls', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { toolCalls: [call('c0', 'look'), call('c1', 'book')] });
      await cancel(thread, { reason: 'enough' });
      await thread.runTool(1, 0);
      const next = thread.as('run-2', given().second);
      await next.open();
      expect(await next.begin([message('b')])).toMatchObject({ kind: 'canceled', swept: 0, waiting: 1 });
      // What others have queued becomes the next execution.
      expect(await next.rest('idle')).toMatchObject({ kind: 'pending', waiting: 1 });
      const results = (await next.messages()).filter(({ role }) => role === 'tool');
      expect(results).toMatchObject([
        { name: 'look', tool_status: 'success', metadata: { completedAfterCancellation: true } },
        { name: 'book', tool_status: 'error', metadata: { stopped: true } },
      ]);
      next.executionId = 'execution-2';
      next.afterStep = 1;
      expect(await next.begin()).toMatchObject({ kind: 'call', step: 2 });
      expect(await cancel(next, { executionId: 'execution-1' })).toMatchObject({ kind: 'not_cancelable' });
    });

    it('[PL-12] leaves the thread in that state, also if the workflow repeats the step it had taken', async () => {
      const thread = await openThread(given().store);
      const items = [message('a')];
      await thread.beginCall(items);
      await cancel(thread, { reason: 'enough' });
      expect(await thread.rest('idle', { reason: 'canceled', more: true })).toMatchObject({
        kind: 'pending',
      });
      thread.afterStep = 1;
      expect(await thread.begin(items)).toMatchObject({ kind: 'nothing_to_do' });
      const end = { kind: 'rest', waiting: 0, step: 1, canceled: { reason: 'enough' } };
      expect(await thread.rest('idle')).toEqual(end);
      const record = { status: 'stopped', stopReason: 'canceled' };
      expect(await thread.store.threads.get(thread.id)).toMatchObject(record);
      expect(await thread.rest('idle')).toEqual(end);
      expect(await thread.events('execution.ended')).toHaveLength(1);
      thread.executionId = 'execution-2';
      await thread.commit(await thread.beginCall([message('b')]));
      expect(await thread.rest('idle', { reason: 'stop_on_response' })).toMatchObject({ kind: 'rest' });
      expect(await thread.store.threads.get(thread.id)).toMatchObject({ status: 'idle' });
    });

    it('holds back items queued by its own code until there is outside input', async () => {
      const { store } = given();
      const thread = await openThread(store);
      await thread.beginCall([message('a')]);
      await store.queue.add(thread.id, tool('t', 'look'), { own: true });
      await cancel(thread);
      expect(await thread.rest('idle')).toMatchObject({ kind: 'rest', waiting: 1 });
    });

    it('[PL-15] whose context arrives canceled calls no model, and ends once', async () => {
      const thread = await openThread(given().store);
      const items = [
        message('a', 'go', { context: CANCELED }),
        { ...tool('t', 'look'), context: { canceled: true } },
      ];
      expect(await thread.begin(items)).toMatchObject({ kind: 'canceled', step: 0, waiting: 0 });
      await thread.rest('idle', { reason: 'canceled' });
      const told = await thread.events('execution.started', 'execution.ended', 'step.started', 'tool.called');
      expect(told.map(({ type, data }) => ({ type, data }))).toMatchObject([
        { type: 'execution.started' },
        { type: 'execution.ended', data: { reason: 'canceled', cancelReason: 'enough' } },
      ]);
      expect(await thread.events('item.rejected')).toMatchObject([{ data: { id: 't' } }]);
      expect((await thread.messages()).map(({ metadata }) => metadata)).toMatchObject([
        { canceled: true, cancel_reason: 'enough' },
      ]);
    });

    it('applies a canceled context among other input only to its own message', async () => {
      const thread = await openThread(given().store);
      const ref = await thread.beginCall([message('a', 'go', { context: CANCELED }), message('b')]);
      await thread.commit(ref);
      expect(await thread.store.executions.get(thread.id)).toMatchObject({
        canceled: null,
        context: { canceled: false },
      });
    });
  });
}
