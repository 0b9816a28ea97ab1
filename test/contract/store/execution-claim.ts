/** Items that name the execution that they begin (core/thread/execution-id.ts). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { message, openThread, type ThreadDriver } from '../thread-driver.ts';

const named = (id: string, executionId: string, content = `content of ${id}`) =>
  message(id, content, { executionId });
const executions = async (thread: ThreadDriver) =>
  (await thread.events('execution.started')).map(({ data }) => data.executionId);

export function registerExecutionClaim(given: () => Stores): void {
  describe('an item with an execution id', () => {
    it('starts its execution alone; later items wait until it started', async () => {
      const thread = await openThread(given().store);
      const id = randomUUID();
      const first = await thread.beginCall([message('a'), named('x', id), message('b')]);
      expect((await thread.messages()).map((each) => each.id).slice(0, 1)).toEqual(['a']);
      expect(await given().store.queue.count(thread.id)).toBe(2);
      await thread.commit(first);
      thread.afterStep = first.step;
      expect(await thread.rest()).toMatchObject({ kind: 'pending', waiting: 2 });
      thread.executionId = 'proposed';
      const begun = await thread.begin();
      expect(begun).toMatchObject({ kind: 'call', executionId: id, swept: 1 });
      expect(await given().store.queue.count(thread.id)).toBe(1);
      expect(await executions(thread)).toEqual(['execution-1', id]);
      if (begun.kind !== 'call') return;
      await thread.commit({ ...thread.from, step: begun.step, attempt: begun.attempt });
      thread.afterStep = begun.step;
      expect(await thread.begin()).toMatchObject({ kind: 'call', swept: 1, executionId: id });
      expect(await executions(thread)).toHaveLength(2);
    });

    it('is shown to hooks alone', async () => {
      const thread = await openThread(given().store);
      const id = randomUUID();
      await thread.stash(named('x', id), message('b'));
      const query = { ...thread.from, ordinal: 0, afterStep: 0, items: [] };
      const pending = await given().store.queue.readPending(query);
      expect(pending).toMatchObject({ executionId: null, nextExecutionId: id });
      expect(pending.rows.map((row) => row.id)).toEqual(['x']);
      expect(await thread.begin([], { prepared: [{ id: 'x' }] })).toMatchObject({
        kind: 'call',
        executionId: id,
      });
    });

    it('[PL-15] can be cancelled before it starts: its message is stored, and no step starts', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const id = randomUUID();
      await thread.commit(await thread.beginCall([message('a'), named('x', id)]));
      thread.afterStep = 1;
      const request = { threadId: thread.id, executionId: id, reason: 'enough', by: 'ada' };
      const canceling = { kind: 'canceling', executionId: id, ahead: true };
      expect(await store.executions.cancel(request)).toMatchObject(canceling);
      expect(await store.executions.cancel({ ...request, reason: 'later' })).toMatchObject({
        ...canceling,
        cancellation: { reason: 'enough', by: 'ada' },
      });
      expect(await thread.rest()).toMatchObject({ kind: 'pending', waiting: 1 });
      thread.executionId = 'proposed';
      expect(await thread.begin()).toMatchObject({ kind: 'canceled', waiting: 0 });
      expect(await thread.rest('idle')).toMatchObject({ kind: 'rest', canceled: { reason: 'enough' } });
      expect(await store.executions.get(thread.id, id)).toMatchObject({
        stopReason: 'canceled',
        canceled: { reason: 'enough', by: 'ada' },
      });
      expect(await executions(thread)).toEqual(['execution-1', id]);
      expect(await store.executions.cancel(request)).toMatchObject({ kind: 'not_cancelable' });
      expect(await store.executions.cancel({ ...request, executionId: 'nobody' })).toEqual({
        kind: 'not_found',
      });
    });

    it('belongs to its organisation: each of two organisations may use the id', async () => {
      const { store } = given();
      const executionId = randomUUID();
      const thread = await openThread(store);
      const claim = (organizationId: string, content: string) => {
        const item = message('x', content, { executionId, context: { organizationId } });
        return store.queue.claim({ threadId: thread.id, userId: null, item });
      };
      expect(await claim('acme', 'one')).toMatchObject({ kind: 'claimed' });
      expect(await claim('globex', 'another')).toMatchObject({ kind: 'claimed' });
      expect(await claim('acme', 'another')).toEqual({ kind: 'conflict', threadId: thread.id });
    });

    it('reserves its id: the same content is the same item, other content a conflict', async () => {
      const { store } = given();
      const thread = await openThread(store);
      const other = await openThread(store);
      const executionId = randomUUID();
      const claim = (item = named('x', executionId), threadId = thread.id, userId: string | null = null) =>
        store.queue.claim({ threadId, userId, item });
      expect(await claim()).toEqual({ kind: 'claimed', itemId: 'x' });
      expect(await claim()).toEqual({ kind: 'claimed', itemId: 'x' });
      expect(await claim(named('y', executionId, 'content of x'))).toEqual({ kind: 'claimed', itemId: 'x' });
      const stamped = (runId: string) => ({ ...named('y', executionId), context: { runId, traceId: runId } });
      const of = `stamped-${executionId}`;
      const stamps = ['one', 'two'].map((runId) => claim({ ...stamped(runId), executionId: of }));
      expect((await Promise.all(stamps)).map(({ kind }) => kind)).toEqual(['claimed', 'claimed']);
      expect(await claim(named('x', executionId, 'else'))).toEqual({ kind: 'conflict', threadId: thread.id });
      expect(await claim(named('x', executionId), other.id)).toEqual({
        kind: 'conflict',
        threadId: thread.id,
      });
      expect(await claim(named('x', executionId), other.id, 'ada')).toEqual({ kind: 'claimed', itemId: 'x' });
      expect(await claim(message('m'))).toEqual({ kind: 'claimed', itemId: 'm' });
    });

    it('[TG-17] is found by its id alone, for any owner, before it starts', async () => {
      const { store } = given();
      const [thread, other] = [await openThread(store), await openThread(store)];
      const executionId = randomUUID();
      expect(await store.queue.findClaims(executionId)).toEqual([]);
      await store.queue.claim({ threadId: thread.id, userId: 'ada', item: named('x', executionId) });
      await store.queue.claim({ threadId: other.id, userId: 'bob', item: named('y', executionId) });
      await store.queue.claim({ threadId: other.id, userId: 'bob', item: named('y', executionId) });
      const found = await store.queue.findClaims(executionId);
      expect(found.toSorted((one, two) => one.itemId.localeCompare(two.itemId))).toEqual([
        { threadId: thread.id, itemId: 'x' },
        { threadId: other.id, itemId: 'y' },
      ]);
    });

    it('is rejected if a plain signal uses its id for other content, and is stored once', async () => {
      const thread = await openThread(given().store);
      const id = randomUUID();
      await thread.stash(
        named('x', id),
        named('x', id),
        named('y', id, 'content of x'),
        named('z', id, 'else'),
      );
      expect(await given().store.queue.count(thread.id)).toBe(1);
      expect(await thread.events('item.rejected')).toMatchObject([
        { data: { id: 'z', code: 'ExecutionConflict' } },
      ]);
    });
  });
}
