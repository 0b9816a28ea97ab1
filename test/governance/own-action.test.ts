/** `state.act`: actions of code besides tool calls, through the same gate as every call. */
import { describe, expect, it } from '@jest/globals';
import type { OwnAction, OwnActionResult } from '../../src/core/author/own-action.ts';
import { type AgentInput, defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const PUBLISH: OwnAction = {
  kind: 'resource.update',
  name: 'publish_record',
  arguments: { id: '42' },
  capabilities: ['records.write'],
  description: 'Publishes record 42',
  artifacts: [{ name: 'status', content: { before: 'draft', after: 'published' } }],
};

interface Acting {
  readonly policy?: AgentInput['policy'];
  readonly budget?: AgentInput['budget'];
  readonly action?: unknown;
  readonly times?: number;
  /** False if the execution ends before its model is asked again. */
  readonly answered?: boolean;
  readonly execute?: () => unknown;
}

/** A thread whose tool, or effect, performs an action of its own. */
async function acting({
  policy,
  budget,
  action = PUBLISH,
  times = 1,
  answered = true,
  execute = () => 'published',
}: Acting) {
  const done: string[] = [];
  const heard: OwnActionResult<unknown>[] = [];
  const act = async (state: Parameters<Parameters<typeof defineTool>[0]['execute']>[0]) => {
    heard.push(
      await state.act(action as OwnAction, ({ actionId }) => {
        done.push(actionId);
        return execute();
      }),
    );
  };
  const work = defineTool({
    description: 'works',
    execute: async (state) => {
      await act(state);
      return { status: 'success', result: 'worked' };
    },
  });
  const late = defineEffect({ description: 'works later', execute: act });
  const later = defineTool({
    description: 'works later',
    execute: async (state) => {
      await state.scheduleEffect('late', {}, 0);
      return { status: 'success' };
    },
  });
  const model = scriptedModel(
    Array.from({ length: times }, () => [calls('work', {}), ...(answered ? [says('ok')] : [])]).flat(),
  );
  const agent = { ...(policy ? { policy } : {}), ...(budget ? { budget } : {}) };
  const runtime = await testRuntime({ model, tools: { work, later }, effects: { late }, agent });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper' });
  const go = async (fields: { context?: object } = {}) => {
    await client.queueMessage(threadId, { content: 'go', ...fields });
    await client.waitForIdle(threadId);
  };
  const told = async () => {
    const types: string[] = [];
    for await (const { type } of client.events(threadId, { follow: false }))
      if (type.startsWith('action.')) types.push(type);
    return types;
  };
  return { ...runtime, threadId, done, heard, go, told };
}

describe('an action of code', () => {
  it('[PL-11] is prepared, judged and logged before it runs, under its own kind', async () => {
    const { client, threadId, done, heard, go, told } = await acting({ policy: { 'records.*': 'allow' } });
    await go();
    const [action] = await client.listActions({ threadId });
    expect(action).toMatchObject({
      kind: 'resource.update',
      name: 'publish_record',
      capabilities: ['records.write'],
      description: 'Publishes record 42',
      artifacts: [{ kind: 'preview', name: 'status', actionId: action?.id }],
      state: 'completed',
    });
    expect(heard).toEqual([{ status: 'success', actionId: action?.id, value: 'published' }]);
    expect(done).toEqual([action?.id]);
    // The call of the tool that acts declares no capability, and is an action as well.
    expect((await told()).filter((type) => type === 'action.requested')).toHaveLength(2);
    expect((await told()).filter((type) => type === 'action.completed')).toHaveLength(2);
  });

  it('[PL-06] does not run if a rule, or the context of the run, denies it', async () => {
    const { client, threadId, done, heard, go } = await acting({
      policy: { 'records.*': 'allow' },
      times: 2,
    });
    await go({ context: { permissions: { 'records.write': 'deny' } } });
    expect(heard).toMatchObject([{ status: 'error', code: 'ActionDenied' }]);
    expect(done).toEqual([]);
    expect((await client.listActions({ threadId, state: 'denied' })).map(({ kind }) => kind)).toEqual([
      'resource.update',
    ]);
    await go();
    expect(done).toHaveLength(1);
  });

  it('[PL-07] that needs an approval is refused with its wait, and passes once approved', async () => {
    const { client, threadId, done, heard, go } = await acting({
      policy: { 'records.*': 'require_approval' },
      times: 3,
    });
    await go();
    const [wait] = await client.listWaits({ threadId });
    expect(wait).toMatchObject({
      kind: 'approval',
      name: 'publish_record',
      blocks: false,
      summary: 'Publishes record 42',
      data: { kind: 'resource.update', arguments: { id: '42' } },
    });
    expect(heard).toMatchObject([{ status: 'error', code: 'ApprovalRequired', waitId: wait?.id }]);
    expect(done).toEqual([]);
    await client.answerWait(wait?.id ?? '', { approved: true });
    await go();
    await go();
    expect(heard.map(({ status }) => status)).toEqual(['error', 'success', 'error']);
    expect(done).toHaveLength(1);
  });

  it('fails if its executor throws, and its code reads why', async () => {
    const { client, threadId, heard, go } = await acting({
      policy: { '*': 'allow' },
      execute: () => {
        throw new Error('the register is closed');
      },
    });
    await go();
    expect(heard).toMatchObject([{ status: 'error', error: 'the register is closed' }]);
    expect(await client.listActions({ threadId, state: 'failed' })).toMatchObject([
      { kind: 'resource.update', error: 'the register is closed' },
    ]);
  });

  it('is charged as a call, and does not run above the budget', async () => {
    const { done, heard, go } = await acting({ budget: { maxToolCalls: 1 }, answered: false });
    await go();
    expect(heard).toMatchObject([{ status: 'error', code: 'BudgetExceeded' }]);
    expect(done).toEqual([]);
  });

  it('runs without being logged or stored if no policy applies', async () => {
    const { client, threadId, done, heard, go, told } = await acting({});
    await go();
    expect(heard).toMatchObject([{ status: 'success', value: 'published' }]);
    expect(done).toHaveLength(1);
    expect(await told()).toEqual([]);
    expect(await client.listActions({ threadId })).toEqual([]);
  });

  it('passes the same gate in an effect', async () => {
    const { client, threadId, done, heard } = await acting({ policy: { 'records.*': 'deny' }, times: 0 });
    await client.callTool(threadId, { name: 'later' });
    await eventually('the effect has run', async () => heard.length > 0);
    expect(heard).toMatchObject([{ status: 'error', code: 'ActionDenied' }]);
    expect(done).toEqual([]);
  });

  it.each([
    ['a kind of the runtime', { ...PUBLISH, kind: 'tool.call' }],
    ['no kind', { ...PUBLISH, kind: 'a b' }],
    ['no name', { ...PUBLISH, name: '' }],
    ['a field that there is not', { ...PUBLISH, capability: 'records.write' }],
    ['arguments that are no JSON', { ...PUBLISH, arguments: { at: new Date(0) } }],
  ])('is refused to code with %s, and does not run', async (_, action) => {
    const { client, threadId, done, heard, go } = await acting({ action, policy: { '*': 'allow' } });
    await go();
    expect(heard).toEqual([]);
    expect(done).toEqual([]);
    expect(await client.listActions({ threadId, state: 'failed' })).toMatchObject([{ kind: 'tool.call' }]);
  });
});
