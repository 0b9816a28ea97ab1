/** Waits (wait/wait-record.ts): what people are asked, and the calls that wait for their answers. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { OpenWait } from '../../../src/store/wait/wait-record.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, type ThreadDriver } from '../thread-driver.ts';

const asks = (thread: ThreadDriver, fields: Partial<OpenWait> = {}): OpenWait => ({
  id: randomUUID(),
  threadId: thread.id,
  key: 'ask:1:0:which',
  kind: 'question',
  name: 'look',
  summary: 'Which one?',
  data: { choices: ['a', 'b'] },
  blocks: true,
  executionId: thread.executionId,
  toolCallId: 'c0',
  call: { step: 1, index: 0, attempt: 'attempt-1' },
  ...fields,
});

/** A thread whose only call has asked a question. */
async function waiting(given: () => Stores, fields: Partial<OpenWait> = {}) {
  const thread = await openThread(given().store);
  await thread.answer([message('a')], { content: null, toolCalls: [call('c0', 'look')] });
  await thread.beginTool(1, 0);
  const opened = await given().store.waits.open(asks(thread, fields));
  if (opened.kind !== 'open') throw new Error(`The wait is not open: ${opened.kind}.`);
  return { thread, wait: opened.wait, waits: given().store.waits };
}

const statusOf = async (thread: ThreadDriver) => (await thread.store.threads.get(thread.id))?.status;

export function registerWait(given: () => Stores): void {
  describe('a wait', () => {
    it('is opened and shown with the end of the attempt that asks', async () => {
      const { thread, wait, waits } = await waiting(given);
      expect(wait).toMatchObject({
        state: 'open',
        name: 'look',
        data: { choices: ['a', 'b'] },
        expiresAt: null,
      });
      expect(await statusOf(thread)).toBe('waiting');
      expect(await waits.list({ threadId: thread.id })).toEqual([wait]);
      expect(await waits.get(wait.id)).toEqual(wait);
      expect(await thread.beginTool(1, 0, 'attempt-2')).toMatchObject({
        kind: 'waits',
        wait: { id: wait.id },
      });
      expect(await thread.events('wait.opened')).toMatchObject([
        {
          step: 1,
          data: { waitId: wait.id, kind: 'question', name: 'look', callId: 'c0', summary: 'Which one?' },
        },
      ]);
    });

    it('exists once, however often it is opened', async () => {
      const { thread, wait, waits } = await waiting(given);
      const before = await thread.everything();
      expect(await waits.open(asks(thread))).toEqual({ kind: 'open', wait });
      expect(await thread.everything()).toEqual(before);
    });

    it('is not opened by an attempt that lost its call', async () => {
      const thread = await openThread(given().store);
      await thread.answer([message('a')], { content: null, toolCalls: [call('c0', 'look')] });
      await thread.beginTool(1, 0);
      await thread.settleLostTool(1, 0);
      expect(await given().store.waits.open(asks(thread))).toEqual({ kind: 'late' });
      expect(await given().store.waits.list({ threadId: thread.id })).toEqual([]);
    });

    it('takes the first answer, with which its call starts again', async () => {
      const { thread, wait, waits } = await waiting(given);
      const answer = { value: 'a', by: 'ada' };
      expect(await waits.answer({ id: wait.id, answer })).toMatchObject({ outcome: 'taken' });
      expect(await statusOf(thread)).toBe('running');
      const before = await thread.everything();
      expect(await waits.answer({ id: wait.id, answer })).toMatchObject({ outcome: 'duplicate' });
      expect(await waits.answer({ id: wait.id, answer: { value: 'b' } })).toMatchObject({
        outcome: 'already_answered',
        wait: { answer },
      });
      expect(await thread.everything()).toEqual(before);
      expect(await waits.list({ threadId: thread.id })).toEqual([]);
      expect(await thread.beginTool(1, 0, 'attempt-2')).toMatchObject({
        kind: 'run',
        repeated: false,
        waits: [{ key: 'ask:1:0:which', wait: { id: wait.id, state: 'answered', answer } }],
      });
      expect(await thread.commitTool(1, 0)).toEqual({ kind: 'late' });
      expect(await thread.commitTool(1, 0, { attempt: 'attempt-2' })).toMatchObject({ kind: 'stored' });
      // The value is not logged: it may be a secret.
      expect((await thread.events('wait.answered')).map(({ data }) => data)).toEqual([
        { waitId: wait.id, kind: 'question', name: 'look', callId: 'c0', by: 'ada' },
      ]);
    });

    it('takes one of several concurrent answers', async () => {
      const { wait } = await waiting(given);
      const { store, second } = given();
      const answers = ['a', 'b', 'c', 'd'].map((value, n) =>
        (n % 2 === 0 ? store : second).waits.answer({ id: wait.id, answer: { value } }),
      );
      const outcomes = (await Promise.all(answers)).map(({ outcome }) => outcome);
      expect(outcomes.toSorted()).toEqual([
        'already_answered',
        'already_answered',
        'already_answered',
        'taken',
      ]);
    });

    it('refuses an answer of another shape, and an unknown wait', async () => {
      const { thread, wait, waits } = await waiting(given);
      const before = await thread.everything();
      expect(await waits.answer({ id: wait.id, answer: { approved: true } })).toMatchObject({
        outcome: 'misfit',
      });
      expect(await waits.answer({ id: 'nothing', answer: { value: 1 } })).toEqual({ outcome: 'unknown' });
      expect(await waits.get('nothing')).toBeNull();
      expect(await waits.close('nothing', 'no')).toBeNull();
      expect(await thread.everything()).toEqual(before);
    });

    it('expires by the clock, even before anything reads it', async () => {
      const { thread, wait, waits } = await waiting(given, { expiresInMs: -1 });
      expect(wait.state).toBe('expired');
      expect(await waits.list({ threadId: thread.id })).toEqual([]);
      expect(await waits.list({ threadId: thread.id, state: 'expired' })).toHaveLength(1);
      expect(await waits.answer({ id: wait.id, answer: { value: 1 } })).toMatchObject({ outcome: 'expired' });
      expect(await thread.events('wait.closed')).toMatchObject([{ data: { reason: 'expired' } }]);
      expect(await statusOf(thread)).toBe('running');
      const begun = await thread.beginTool(1, 0, 'attempt-2');
      expect(begun).toMatchObject({ kind: 'run', waits: [{ wait: { state: 'expired' } }] });
    });

    it('does not expire early', async () => {
      const { thread, wait, waits } = await waiting(given, { expiresInMs: 3_600_000 });
      expect(await waits.get(wait.id)).toEqual(wait);
      expect(await statusOf(thread)).toBe('waiting');
    });

    it('is closed by the restarted call once it has expired', async () => {
      const { thread } = await waiting(given, { expiresInMs: -1 });
      expect(await thread.beginTool(1, 0, 'attempt-2')).toMatchObject({ kind: 'run' });
      expect(await thread.events('wait.closed')).toHaveLength(1);
    });

    it('can be closed when its answer is no longer needed', async () => {
      const { thread, wait, waits } = await waiting(given, { fingerprint: 'f1' });
      const stale = await waits.answer({ id: wait.id, answer: { value: 1 }, fingerprint: 'f2' });
      expect(stale).toMatchObject({ outcome: 'stale', wait: { state: 'open' } });
      expect(await waits.close(wait.id, 'spoken to')).toMatchObject({ state: 'closed', reason: 'spoken to' });
      expect(await waits.close(wait.id, 'again')).toMatchObject({ state: 'closed', reason: 'spoken to' });
      expect(await waits.answer({ id: wait.id, answer: { value: 1 } })).toMatchObject({ outcome: 'closed' });
      expect(await statusOf(thread)).toBe('running');
    });

    it('is closed with the execution, as is its call', async () => {
      const { thread, wait, waits } = await waiting(given);
      const kept = await waits.open(
        asks(thread, { key: 'kept', executionId: null, call: undefined, blocks: false }),
      );
      await thread.rest('stopped');
      expect(await waits.get(wait.id)).toMatchObject({ state: 'closed', reason: 'stopped' });
      expect(await waits.answer({ id: wait.id, answer: { value: 1 } })).toMatchObject({ outcome: 'closed' });
      expect((await waits.list({ threadId: thread.id })).map(({ id }) => id)).toEqual([
        kept.kind === 'open' ? kept.wait.id : '',
      ]);
      expect(await statusOf(thread)).toBe('stopped');
      expect(await thread.beginTool(1, 0, 'attempt-2')).toMatchObject({ kind: 'settled', state: 'done' });
    });

    it('ends with the thread', async () => {
      const { thread, wait, waits } = await waiting(given);
      const kept = asks(thread, { key: 'kept', executionId: null, call: undefined, blocks: false });
      await waits.open(kept);
      await given().store.threads.terminate(thread.id, 'enough');
      expect(await waits.list({ threadId: thread.id })).toEqual([]);
      for (const id of [wait.id, kept.id])
        expect(await waits.answer({ id, answer: { value: 1 } })).toMatchObject({ outcome: 'closed' });
      expect(await waits.open(asks(thread, { key: 'new', call: undefined }))).toEqual({ kind: 'terminated' });
    });

    it('is found by a run that takes over the thread', async () => {
      const { thread, wait } = await waiting(given);
      const next = thread.as('run-2');
      const opened = await next.open({ mustExist: true });
      expect(opened).toMatchObject({ kind: 'open', turnOpen: true, afterStep: 0 });
      expect(await next.beginTool(1, 0, 'attempt-9')).toMatchObject({ kind: 'waits', wait: { id: wait.id } });
      expect(await next.settleLostTool(1, 0)).toEqual({ kind: 'redispatch', name: 'look' });
    });
  });
}
