/** A call that needs an approval waits for it before it begins, and then does what was shown, or nothing. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

const POLICY = { 'money.*': 'require_approval' } as const;

interface Refunds {
  readonly policy?: AgentInput['policy'];
  readonly approvalTimeoutMs?: number;
  readonly quick?: boolean;
  /** True if the model is not asked again. */
  readonly over?: boolean;
  /** Returns the artifact that is shown of a call. */
  readonly shown?: () => string;
}

/** The model calls `refund` once per amount, each in a separate answer. */
async function refunding(
  amounts: readonly number[],
  { policy = POLICY, shown, over = false, ...fields }: Refunds = {},
) {
  const paid: number[] = [];
  const refund = defineTool({
    description: 'refunds',
    args: z.object({ cents: z.number() }),
    capabilities: ['money.move'],
    prepareAction: ({ cents }) => ({
      description: `Refunds ${cents}`,
      artifacts: [{ content: shown?.() ?? 'same' }],
    }),
    ...fields,
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: `refunded ${cents}` };
    },
  });
  const script: ScriptStep[] = [...amounts.map((cents) => calls('refund', { cents }))];
  if (!over) script.push(says('done'));
  const model = scriptedModel(script);
  const runtime = await testRuntime({ model, tools: { refund }, agent: { policy } });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  const record = await runtime.client.waitForIdle(threadId);
  return { runtime, threadId, record, paid, model };
}

async function waitOf({ client }: TestRuntime, threadId: string): Promise<Wait> {
  const [wait] = await client.listWaits({ threadId });
  if (!wait) throw new Error('Nothing waits.');
  return wait;
}

const stateOf = async ({ client }: TestRuntime, threadId: string) =>
  (await client.listActions({ threadId })).map(({ state }) => state);

const kinds = async ({ store }: TestRuntime, thread: string) =>
  (await store.events.read(thread, 0))
    .map(({ type }) => type)
    .filter((type) => /^(action|wait)\./.test(type) || type === 'tool.started');

describe('an approval', () => {
  it.each([
    ['an activity of its own', {}],
    ['the activity of its step', { quick: true }],
  ])(
    '[PL-09] is requested before a call starts, from %s, shows what would be done, and allows it once',
    async (_, fields) => {
      const { runtime, threadId, record, paid } = await refunding([500], fields);
      expect(record.status).toBe('waiting');
      const wait = await waitOf(runtime, threadId);
      const [action] = await runtime.client.listActions({ threadId });
      expect(wait).toMatchObject({
        kind: 'approval',
        name: 'refund',
        summary: 'Refunds 500',
        fingerprint: action?.fingerprint,
        data: {
          actionId: `${threadId}:1:0`,
          arguments: { cents: 500 },
          capabilities: ['money.move'],
          artifacts: [{ kind: 'preview', content: 'same', actionId: `${threadId}:1:0` }],
          reason: 'The policy requires approval for: money.move',
        },
      });
      expect(action?.state).toBe('requested');
      expect(paid).toEqual([]);
      const answer = { approved: true, by: 'Ada' };
      expect(await runtime.client.answerWait(wait.id, answer)).toEqual({ outcome: 'taken' });
      expect(await runtime.client.answerWait(wait.id, answer)).toEqual({ outcome: 'duplicate' });
      await runtime.client.waitForIdle(threadId);
      expect(paid).toEqual([500]);
      expect(await kinds(runtime, threadId)).toEqual([
        'action.requested',
        'action.policy',
        'wait.opened',
        'wait.answered',
        'action.started',
        'tool.started',
        'action.completed',
      ]);
      expect(await stateOf(runtime, threadId)).toEqual(['completed']);
    },
  );

  it('[PL-14] is closed once its execution is cancelled: a later answer starts nothing', async () => {
    const { runtime, threadId, paid } = await refunding([500], { over: true });
    const { client } = runtime;
    const wait = await waitOf(runtime, threadId);
    await client.cancelExecution(threadId, { reason: 'enough', by: 'ada' });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped', stopReason: 'canceled' });
    expect(await client.listWaits({ threadId })).toEqual([]);
    expect(await client.answerWait(wait.id, { approved: true })).toEqual({ outcome: 'closed' });
    expect(paid).toEqual([]);
    const told = (await runtime.store.events.read(threadId, 0)).map(({ type }) => type);
    expect(told.slice(told.indexOf('wait.closed'))).not.toContain('tool.started');
    expect(told.indexOf('wait.closed')).toBeLessThan(told.indexOf('execution.ended'));
    expect(await stateOf(runtime, threadId)).toEqual(['denied']);
  });

  it('[PL-10] that is denied has no effect; the model reads why, and the same call is not asked about again in that execution', async () => {
    const { runtime, threadId, paid, model } = await refunding([500, 500]);
    const wait = await waitOf(runtime, threadId);
    await runtime.client.answerWait(wait.id, { approved: false, reason: 'too much', by: 'Ada' });
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([]);
    const denied = await eventsOf(runtime, threadId, 'action.denied');
    const reason = 'Ada refused its approval: too much';
    expect(denied.map(({ data }) => data)).toMatchObject([
      { code: 'ActionDenied', reason },
      { code: 'ActionDenied', reason },
    ]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain(reason);
    expect(await eventsOf(runtime, threadId, 'wait.opened')).toHaveLength(1);
  });

  it('is requested for each call, unless its scope is wider, and then covers only equal calls', async () => {
    const { runtime, threadId, paid } = await refunding([500, 500, 700]);
    await runtime.client.answerWait((await waitOf(runtime, threadId)).id, { approved: true });
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([500]);
    const second = await waitOf(runtime, threadId);
    await runtime.client.answerWait(second.id, { approved: true, scope: 'thread' });
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([500, 500]);
    const third = await waitOf(runtime, threadId);
    expect(third).toMatchObject({ summary: 'Refunds 700' });
    await runtime.client.answerWait(third.id, { approved: false });
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([500, 500]);
  });

  it('with the scope of the execution allows an equal call again in it', async () => {
    const { runtime, threadId, paid } = await refunding([500, 500]);
    await runtime.client.answerWait((await waitOf(runtime, threadId)).id, {
      approved: true,
      scope: 'execution',
    });
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([500, 500]);
  });

  it('[AX-98] covers what was shown: a change meanwhile is shown and asked about again, not overwritten', async () => {
    let balance = 10;
    const { runtime, threadId, paid } = await refunding([500], { shown: () => `balance ${balance}` });
    const first = await waitOf(runtime, threadId);
    balance = 20;
    await runtime.client.answerWait(first.id, { approved: true });
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([]);
    const second = await waitOf(runtime, threadId);
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(second).toMatchObject({ data: { artifacts: [{ content: 'balance 20' }] } });
    await runtime.client.answerWait(second.id, { approved: true });
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([500]);
    expect(await eventsOf(runtime, threadId, 'action.requested')).toHaveLength(2);
  });

  it('[AX-95] that expires denies', async () => {
    const { runtime, threadId, paid } = await refunding([500], { approvalTimeoutMs: 1 });
    const idle = async () => (await runtime.client.waitForIdle(threadId)).status;
    while ((await idle()) !== 'idle');
    expect(paid).toEqual([]);
    expect(await eventsOf(runtime, threadId, 'action.denied')).toMatchObject([
      { data: { reason: 'Its approval was not given: expired.' } },
    ]);
  });

  it('that is stopped is denied', async () => {
    const { runtime, threadId, paid } = await refunding([500], { over: true });
    await runtime.client.stop(threadId);
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([]);
    expect(await stateOf(runtime, threadId)).toEqual(['denied']);
  });

  it('[PL-07] is denied at once if the policy refuses approvals', async () => {
    const { runtime, threadId, record, paid } = await refunding([500], {
      policy: { rules: POLICY, approvals: 'refuse' },
    });
    expect(record.status).toBe('idle');
    expect(paid).toEqual([]);
    expect(await runtime.client.listWaits({ threadId })).toEqual([]);
    expect(await runtime.client.listActions({ threadId })).toMatchObject([
      { denied: { code: 'ApprovalRequired' } },
    ]);
  });

  it('[PL-09] outlives its worker: decided without one, the call runs once on the next', async () => {
    const paid: string[] = [];
    const refundBy = (build: string) =>
      defineTool({
        description: 'refunds',
        capabilities: ['money.move'],
        execute: async () => {
          paid.push(build);
          return { status: 'success', result: `refunded by ${build}` };
        },
      });
    const agent = { policy: POLICY };
    const store = await testStore();
    const taskQueue = `approval-${randomUUID()}`;
    const before = scriptedModel([calls('refund')]);
    const first = await testRuntime({
      model: before,
      tools: { refund: refundBy('first') },
      agent,
      store,
      taskQueue,
    });
    const { threadId } = await first.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    expect(await first.client.waitForIdle(threadId)).toMatchObject({ status: 'waiting' });
    await first.stopWorker();
    const wait = await waitOf(first, threadId);
    expect(await first.client.answerWait(wait.id, { approved: true })).toEqual({ outcome: 'taken' });
    expect(paid).toEqual([]);
    const tools = { refund: refundBy('second') };
    const second = await testRuntime({
      model: scriptedModel([says('done')]),
      tools,
      agent,
      store,
      taskQueue,
    });
    expect(await second.client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(paid).toEqual(['second']);
    expect(await stateOf(second, threadId)).toEqual(['completed']);
  });
});
