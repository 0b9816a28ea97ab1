/** Actions: their rows and the log agree, and each change is logged once. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { WaitAnswer } from '../../../src/core/wait/answer.ts';
import type { DecidedAction } from '../../../src/store/action/action-record.ts';
import type { ThreadStore } from '../../../src/store/store.ts';
import type { Stores } from '../store-contract.ts';
import { call, message, openThread, ThreadDriver } from '../thread-driver.ts';

const DECISION = { reason: 'because', matchedCapabilities: ['a.b'], capabilities: {}, sources: {} } as const;

async function withCall(given: () => Stores): Promise<ThreadDriver> {
  const thread = await openThread(given().store);
  await thread.answer([message('a')], { content: null, toolCalls: [call('c0', 'write')] });
  return thread;
}

function told(thread: ThreadDriver, more: Partial<DecidedAction> = {}, suffix = ''): DecidedAction {
  const id = `${thread.id}:1:0${suffix}`;
  const action = {
    id,
    kind: 'tool.call',
    name: 'write',
    callId: 'c0',
    capabilities: ['a.b'],
    fingerprint: 'f',
  };
  return { action: { ...action, kind: 'tool.call' }, decision: { effect: 'allow', ...DECISION }, ...more };
}

const begin = (thread: ThreadDriver, fields: object = {}) =>
  thread.store.toolCalls.begin({
    ...thread.from,
    step: 1,
    index: 0,
    attempt: 'attempt-1',
    idempotent: () => false,
    ...fields,
  });

/** A thread of this user and organisation. */
async function openOf(
  store: ThreadStore,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<ThreadDriver> {
  const thread = new ThreadDriver(store);
  await thread.open({ userId, context: { organizationId, sessionId: 's' } });
  return thread;
}

const kinds = async (thread: ThreadDriver) =>
  (await thread.events()).map(({ type }) => type).filter((type) => /^(action|tool)\./.test(type));

export function registerAction(given: () => Stores): void {
  describe('an action', () => {
    it('[PL-25] starts with its call and ends with its result, once each', async () => {
      const thread = await withCall(given);
      const judges = (agent: string) => agent === 'helper';
      expect(await begin(thread, { judges })).toMatchObject({ kind: 'run', unbegun: true, repeated: false });
      expect(await kinds(thread)).toEqual(['tool.called']);
      const action = told(thread);
      for (const _ of [1, 2])
        expect(await begin(thread, { action })).toEqual(
          expect.not.objectContaining({ unbegun: expect.anything() }),
        );
      for (const _ of [1, 2]) await thread.commitTool(1, 0, { judged: true });
      expect(await kinds(thread)).toEqual([
        'tool.called',
        'action.requested',
        'action.policy',
        'action.started',
        'tool.started',
        'action.completed',
        'tool.result',
      ]);
      expect(await given().second.actions.list({ threadId: thread.id })).toMatchObject([
        {
          id: action.action.id,
          state: 'completed',
          step: 1,
          executionId: 'execution-1',
          capabilities: ['a.b'],
        },
      ]);
    });

    it('[PL-06] that is denied ends its call, which has not started, once', async () => {
      const thread = await withCall(given);
      await begin(thread, { judges: () => true });
      const action = told(thread, { denied: { code: 'ActionDenied', reason: 'no' } });
      const result = { status: 'error', error: 'no' } as const;
      for (const _ of [1, 2])
        expect(await thread.commitTool(1, 0, { unbegun: true, action, result })).toMatchObject({
          kind: 'stored',
        });
      expect(await kinds(thread)).toEqual([
        'tool.called',
        'action.requested',
        'action.policy',
        'action.denied',
        'tool.result',
      ]);
      expect(await thread.store.actions.list({ threadId: thread.id })).toMatchObject([
        { state: 'denied', denied: { code: 'ActionDenied', reason: 'no' }, startedAt: null },
      ]);
    });

    it('[PL-06] denied fatally gives every attempt at its call the same answer', async () => {
      const thread = await withCall(given);
      await begin(thread, { judges: () => true });
      const action = told(thread, { denied: { code: 'ActionDenied', reason: 'no', fatal: true } });
      const ended = { unbegun: true, action, result: { status: 'error', error: 'no' } } as const;
      const denied = { code: 'ActionDenied', message: '"write" was not done. no' };
      for (const _ of [1, 2]) await thread.commitTool(1, 0, ended);
      expect(await begin(thread, { attempt: 'attempt-2' })).toMatchObject({ kind: 'settled', denied });
      expect(await thread.settleLostTool(1, 0)).toMatchObject({ kind: 'settled', denied });
      const [event] = await thread.events('action.denied');
      expect(event?.data).not.toHaveProperty('fatal');
    });

    it('[PL-26] is uncertain if its worker was lost, with the actions inside it, until it is reconciled', async () => {
      const thread = await withCall(given);
      await begin(thread, { action: told(thread) });
      const inner = told(thread, {}, ':invoked:0');
      await thread.store.actions.record({ threadId: thread.id, told: inner, step: 1, leaseMs: 60_000 });
      expect(await thread.settleLostTool(1, 0)).toMatchObject({ state: 'unknown' });
      const uncertain = await thread.store.actions.list({ threadId: thread.id, state: 'uncertain' });
      expect(uncertain.map(({ id }) => id).toSorted()).toEqual([`${thread.id}:1:0`, inner.action.id]);
      const said = { completed: true, note: 'seen in the books', by: 'Ada' };
      const { reconcile } = thread.store.actions;
      expect(await reconcile(inner.action.id, said)).toMatchObject({
        kind: 'reconciled',
        action: { state: 'reconciled', reconciliation: said },
      });
      expect(await reconcile(inner.action.id, { completed: false })).toMatchObject({
        kind: 'certain',
        action: { reconciliation: said },
      });
      expect(await reconcile('nobody', said)).toEqual({ kind: 'unknown' });
      expect(await thread.events('action.reconciled')).toMatchObject([
        { data: { actionId: inner.action.id, name: 'write', ...said } },
      ]);
    });

    describe('an action whose worker was lost, to be reconciled by a person', () => {
      const lost = async () => {
        const thread = await withCall(given);
        await begin(thread, { action: told(thread) });
        const { toolCalls } = thread.store;
        const settle = () =>
          toolCalls.settleLost({ ...thread.from, step: 1, index: 0, asks: (agent) => agent === 'helper' });
        const settled = await settle();
        if (settled.kind !== 'waits') throw new Error(`It should wait, not be ${settled.kind}.`);
        return { thread, settle, wait: settled.wait, id: `${thread.id}:1:0` };
      };
      const stateOf = async ({ store, id }: ThreadDriver) =>
        (await store.actions.list({ threadId: id })).map(({ state }) => state);
      const statusOf = async ({ store, id }: ThreadDriver) => (await store.threads.get(id))?.status;

      it('[PL-26] waits, uncertain meanwhile; other attempts find the same wait, and none starts it', async () => {
        const { thread, settle, wait, id } = await lost();
        expect(wait).toMatchObject({
          kind: 'reconcile',
          name: 'write',
          blocks: true,
          data: { actionId: id },
        });
        expect([await stateOf(thread), await statusOf(thread)]).toEqual([['uncertain'], 'waiting']);
        expect(await settle()).toMatchObject({ kind: 'redispatch' });
        expect(await begin(thread, { attempt: 'attempt-2' })).toMatchObject({
          kind: 'waits',
          wait: { id: wait.id },
        });
        expect(await thread.commitTool(1, 0)).toMatchObject({ kind: 'late' });
        expect(await thread.events('wait.opened')).toHaveLength(1);
      });

      it.each([
        [true, 'success', 'it took effect: seen'],
        [false, 'error', 'it did not take effect: seen'],
      ] as const)(
        '[PL-26] takes the person’s statement as its result, completed: %s',
        async (completed, status, words) => {
          const { thread, wait, id } = await lost();
          const said = { completed, note: 'seen', by: 'Ada' };
          expect(await thread.store.actions.reconcile(id, said)).toMatchObject({
            kind: 'reconciled',
            wait: { id: wait.id, state: 'answered' },
          });
          expect(await statusOf(thread)).toBe('running');
          if (completed) expect(await thread.commitTool(1, 0)).toMatchObject({ kind: 'late' });
          expect(await begin(thread, { attempt: 'attempt-2' })).toMatchObject({
            ...{ kind: 'settled', state: 'done', status, waited: true },
          });
          const last = (await thread.store.messages.list(thread.id)).messages.at(-1);
          expect(last).toMatchObject({
            role: 'tool',
            tool_status: status,
            content: expect.stringContaining(words),
          });
          expect(await thread.events('action.reconciled')).toMatchObject([{ data: said }]);
          expect(await begin(thread, { attempt: 'attempt-3' })).toMatchObject({ kind: 'settled' });
        },
      );

      it('[PL-26] is reconciled by answering the wait, too', async () => {
        const { thread, wait } = await lost();
        const answer = (value: unknown) =>
          thread.store.waits.answer({ id: wait.id, answer: { value, by: 'Ada' } });
        expect(await answer('yes')).toMatchObject({ outcome: 'misfit' });
        expect(await answer({ completed: true })).toMatchObject({ outcome: 'taken' });
        expect(await answer({ completed: true })).toMatchObject({ outcome: 'duplicate' });
        expect(await thread.events('action.reconciled')).toMatchObject([
          { data: { completed: true, by: 'Ada' } },
        ]);
        expect(await stateOf(thread)).toEqual(['reconciled']);
      });

      it('[PL-26] stays uncertain if the wait is denied, and can be reconciled later', async () => {
        const { thread, wait, id } = await lost();
        await thread.store.waits.answer({ id: wait.id, answer: { approved: false } });
        expect(await begin(thread, { attempt: 'attempt-2' })).toMatchObject({
          ...{ kind: 'settled', state: 'unknown', status: 'error' },
        });
        expect(await stateOf(thread)).toEqual(['uncertain']);
        expect(await thread.store.waits.listForgotten(-60_000)).not.toContainEqual(
          expect.objectContaining({ id: wait.id }),
        );
        expect(await thread.store.actions.reconcile(id, { completed: true })).toEqual(
          expect.not.objectContaining({ wait: expect.anything() }),
        );
      });
    });

    it('[PL-09] whose wait is over is judged again: neither an answer nor an expiry starts it', async () => {
      const thread = await withCall(given);
      const judges = () => true;
      await begin(thread, { judges });
      const wait = {
        threadId: thread.id,
        kind: 'approval',
        name: 'write',
        summary: 's',
        data: {},
        blocks: true,
      } as const;
      const call = { step: 1, index: 0 };
      const action = told(thread);
      const first = { ...wait, id: `${thread.id}-1`, key: 'one', fingerprint: 'f', call, action };
      expect(await thread.store.waits.open({ ...first, expiresInMs: 0 })).toMatchObject({ kind: 'open' });
      expect(await begin(thread, { judges })).toMatchObject({
        unbegun: true,
        waits: [{ key: 'one', wait: { state: 'expired' } }],
      });
      const second = { ...first, id: `${thread.id}-2`, key: 'two' };
      expect(await thread.store.waits.open(second)).toMatchObject({ kind: 'open' });
      expect(await begin(thread, { judges })).toMatchObject({ kind: 'waits' });
      await thread.store.waits.answer({ id: second.id, answer: { approved: true, scope: 'thread' } });
      expect(await begin(thread, { judges })).toMatchObject({ unbegun: true });
      expect(await kinds(thread)).toEqual(['tool.called', 'action.requested', 'action.policy']);
      const asked = { threadId: thread.id, executionId: null, fingerprint: 'f' };
      expect(await thread.store.actions.findDecision(asked)).toMatchObject({
        approved: true,
        waitId: second.id,
      });
      expect(await thread.store.actions.findDecision({ ...asked, fingerprint: 'g' })).toBeNull();
      expect(await thread.store.actions.findDecision({ ...asked, threadId: 'another' })).toBeNull();
    });

    it('[PL-09] that is always approved stays so, whatever others answer and after its thread is deleted', async () => {
      const { store } = given();
      const fingerprint = randomUUID();
      const open = (organizationId: string, userId: string) => openOf(store, { organizationId, userId });
      const asks = async ({ id: threadId }: ThreadDriver, answer: WaitAnswer) => {
        const id = randomUUID();
        const wait = { id, threadId, key: id, kind: 'approval', name: 'write', summary: 's' } as const;
        await store.waits.open({ ...wait, data: {}, blocks: false, fingerprint });
        await store.waits.answer({ id, answer });
      };
      const found = ({ id: threadId }: ThreadDriver) =>
        store.actions.findDecision({ threadId, executionId: null, fingerprint });
      const asker = await open('acme', 'ada');
      await asks(asker, { approved: true, scope: 'always', by: 'Ada', reason: 'hers' });
      const stranger = await open('acme', 'bob');
      for (let count = 0; count <= 200; count++) await asks(stranger, { approved: true, scope: 'thread' });
      const other = await open('acme', 'ada');
      expect(await found(other)).toMatchObject({ approved: true, by: 'Ada' });
      await store.threads.terminate(asker.id);
      await store.threads.remove(asker.id);
      // The reason is content of the deleted thread.
      expect(await found(other)).toEqual({
        approved: true,
        by: 'Ada',
        waitId: expect.any(String),
        grantId: expect.any(String),
      });
      for (const each of [await open('acme', 'eve'), await open('other', 'ada'), await openThread(store)])
        expect(await found(each)).toBeNull();
    });

    it('fails with its call, also if the call is stopped', async () => {
      const thread = await withCall(given);
      await begin(thread, { action: told(thread) });
      await thread.rest('stopped');
      expect(await thread.store.actions.list({ threadId: thread.id })).toMatchObject([
        { state: 'failed', error: 'stopped' },
      ]);
    });

    it('by code ends once, and cannot be ended from another thread', async () => {
      const thread = await withCall(given);
      const { id } = told(thread).action;
      await thread.store.actions.record({ threadId: thread.id, told: told(thread), leaseMs: 60_000 });
      const end = { id, threadId: thread.id, status: 'error', error: 'no paper' } as const;
      for (const _ of [1, 2]) await thread.store.actions.end(end);
      expect(await thread.events('action.failed')).toMatchObject([{ data: { error: 'no paper' } }]);
      expect(await thread.store.actions.list({ threadId: 'another' })).toEqual([]);
    });

    it('[PL-26] by code is uncertain once its lease expires, and not before', async () => {
      const thread = await withCall(given);
      const { actions } = thread.store;
      const [lost, held] = [told(thread, {}, ':effect:0'), told(thread, {}, ':effect:1')];
      for (const action of [lost, held])
        await actions.record({ threadId: thread.id, told: action, leaseMs: -1 });
      await actions.renew(held.action.id, 60_000);
      await given().second.actions.closeLost();
      expect(await actions.closeLost()).toBe(0);
      const states = async () =>
        new Map((await actions.list({ threadId: thread.id })).map(({ id, state }) => [id, state]));
      expect(await states()).toEqual(
        new Map([
          [lost.action.id, 'uncertain'],
          [held.action.id, 'started'],
        ]),
      );
      // The effect runs again, so its action is executed again under the same id, and its end is known.
      await actions.record({ threadId: thread.id, told: lost, leaseMs: 60_000 });
      await actions.end({ id: lost.action.id, threadId: thread.id, status: 'success' });
      expect((await states()).get(lost.action.id)).toBe('completed');
      expect((await kinds(thread)).slice(-3)).toEqual([
        'action.uncertain',
        'action.started',
        'action.completed',
      ]);
    });

    it('by code that counted as lost ends as its process reports later', async () => {
      const thread = await withCall(given);
      const { actions } = thread.store;
      const { id } = told(thread).action;
      await actions.record({ threadId: thread.id, told: told(thread), leaseMs: -1 });
      await actions.closeLost();
      await actions.renew(id, 60_000);
      expect(await actions.list({ threadId: thread.id, state: 'uncertain' })).toHaveLength(1);
      await actions.end({ id, threadId: thread.id, status: 'error', error: 'no paper' });
      expect(await actions.list({ threadId: thread.id })).toMatchObject([
        { state: 'failed', error: 'no paper' },
      ]);
    });
  });
}
