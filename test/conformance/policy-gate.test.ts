/** A policy ends a denied call of any caller before it starts. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Message } from '../../src/core/message/message.ts';
import { type AgentInput, defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { ended } from '../support/effects.ts';
import { promptProject } from '../support/prompt-project.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

/** A tool that writes records, and the records that it has written. */
function recorder(fields: { readonly quick?: boolean } = {}) {
  const written: string[] = [];
  const update = defineTool({
    description: 'updates a record',
    args: z.object({ id: z.string() }),
    capabilities: ['records.write'],
    ...fields,
    execute: async (_state, { id }) => {
      written.push(id);
      return { status: 'success', result: `updated ${id}` };
    },
  });
  return { written, update };
}

/** A thread whose model calls `update` once. */
async function runUpdate(policy: AgentInput['policy'], fields: { readonly quick?: boolean } = {}) {
  const { written, update } = recorder(fields);
  const model = scriptedModel([calls('update', { id: '4711' }), says('I see.')]);
  const runtime = await testRuntime({ model, tools: { update }, agent: { policy } });
  const thread = await runtime.start('go');
  return { runtime, thread, written, model, told: await told(runtime, thread) };
}

/** The types of the events of calls and actions, in order. */
async function told({ store }: TestRuntime, thread: string): Promise<string[]> {
  const events = await store.events.read(thread, 0);
  return events.map(({ type }) => type).filter((type) => /^(tool|action)\./.test(type));
}

/** The stored result of a tool's first call. */
async function resultOf({ store }: TestRuntime, thread: string, tool: string): Promise<Message | undefined> {
  const { messages } = await store.messages.list(thread, { limit: 1000 });
  return messages.find(({ role, name }) => role === 'tool' && name === tool);
}

async function eventOf({ store }: TestRuntime, thread: string, kind: string): Promise<unknown> {
  return (await store.events.read(thread, 0)).find(({ type }) => type === kind)?.data;
}

describe('a policy at the tool gate', () => {
  it.each([
    ['in an activity of its own', {}],
    ['within the activity of its step', { quick: true }],
  ])(
    '[PL-06] ends a denied call %s before it starts, with an error that the model reads',
    async (_, fields) => {
      const run = await runUpdate({ 'records.*': 'deny' }, fields);
      expect(run.written).toEqual([]);
      expect(run.told).toEqual([
        'tool.called',
        'action.requested',
        'action.policy',
        'action.denied',
        'tool.result',
      ]);
      const result = await resultOf(run.runtime, run.thread, 'update');
      expect(result).toMatchObject({ tool_status: 'error', metadata: { error_code: 'ActionDenied' } });
      expect(JSON.stringify(run.model.requests[1]?.messages)).toContain('The policy denies: records.write');
    },
  );

  it('[PL-06] logs the requested action, the verdict of the policy, and the reason of the denial', async () => {
    const { runtime, thread } = await runUpdate({ rules: { 'records.write': 'deny' } });
    const named = { actionId: expect.stringContaining(thread), name: 'update' };
    expect(await eventOf(runtime, thread, 'action.requested')).toEqual({
      ...named,
      kind: 'tool.call',
      callId: expect.any(String),
      arguments: { id: '4711' },
      capabilities: ['records.write'],
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      artifacts: [],
    });
    expect(await eventOf(runtime, thread, 'action.policy')).toEqual({
      ...named,
      effect: 'deny',
      reason: 'The policy denies: records.write',
      matchedCapabilities: ['records.write'],
      capabilities: { 'records.write': 'deny' },
      sources: { 'records.write': 'policy' },
    });
    expect(await eventOf(runtime, thread, 'action.denied')).toEqual({
      ...named,
      code: 'ActionDenied',
      reason: 'The policy denies: records.write.',
    });
  });

  it('logs an allowed call before it starts', async () => {
    const run = await runUpdate({ 'records.*': 'deny', 'records.write': 'allow' });
    expect(run.written).toEqual(['4711']);
    expect(run.told).toEqual([
      'tool.called',
      'action.requested',
      'action.policy',
      'action.started',
      'tool.started',
      'action.completed',
      'tool.result',
    ]);
  });

  it('logs and stores nothing if the agent has no policy', async () => {
    const run = await runUpdate(undefined);
    expect(run.written).toEqual(['4711']);
    expect(run.told).toEqual(['tool.called', 'tool.started', 'tool.result']);
  });

  it('[PL-07] does not run a call that needs an approval if approvals are refused', async () => {
    const run = await runUpdate({ rules: { 'records.write': 'require_approval' }, approvals: 'refuse' });
    expect(run.written).toEqual([]);
    expect(await resultOf(run.runtime, run.thread, 'update')).toMatchObject({
      tool_status: 'error',
      metadata: { error_code: 'ApprovalRequired' },
    });
  });

  it('does not judge a call with invalid arguments', async () => {
    const { update } = recorder();
    const model = scriptedModel([calls('update', {}), says('I see.')]);
    const runtime = await testRuntime({ model, tools: { update }, agent: { policy: { default: 'deny' } } });
    expect(await told(runtime, await runtime.start('go'))).toEqual(['tool.called', 'tool.result']);
  });

  it('judges a tool without capabilities by `undeclared`, and `run_code` as `code.run`', async () => {
    const plain = defineTool({
      description: 'plain',
      execute: () => ({ status: 'success', result: 'plain' }),
    });
    const policy = { default: 'deny', undeclared: 'allow' } as const;
    const model = scriptedModel([
      callsMany([{ name: 'plain' }, { name: 'run_code', args: { source: 'export default 1' } }]),
      says('I see.'),
    ]);
    const prompt = { tools: ['plain', 'run_code'] };
    const runtime = await testRuntime({ model, tools: { plain }, agent: { policy }, prompt });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> plain, run_code',
      'tool plain success: plain',
      expect.stringContaining(`ActionDenied: "run_code" was not done. The policy denies: code.run.`),
      'assistant: I see.',
    ]);
  });
});

describe('the permissions of a run', () => {
  /** Starts a thread whose run has these permissions, and waits until it rests or waits for a person. */
  async function runWith(permissions: Record<string, string>, policy?: AgentInput['policy']) {
    const { written, update } = recorder();
    const asked = callsMany([{ name: 'update', args: { id: '4711' } }]);
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' ? asked : says('I see.'),
    );
    const runtime = await testRuntime({ model, tools: { update }, agent: { policy } });
    const start = { agent: 'helper', messages: [{ content: 'go' }], context: { permissions } };
    const { threadId } = await runtime.client.startThread(start);
    const { status } = await runtime.client.waitForIdle(threadId);
    return { runtime, thread: threadId, written, status };
  }

  it('[PL-06] deny, even if the agent has no policy', async () => {
    const { runtime, thread, written } = await runWith({ 'records.*': 'deny' });
    expect(written).toEqual([]);
    expect(await eventOf(runtime, thread, 'action.policy')).toMatchObject({
      effect: 'deny',
      sources: { 'records.write': 'context' },
    });
    expect(await told(runtime, thread)).not.toContain('tool.started');
  });

  it('[PL-04] narrow, and never widen: a required approval stays required', async () => {
    const policy = { 'records.write': 'require_approval' } as const;
    const { runtime, thread, written, status } = await runWith({ 'records.write': 'allow' }, policy);
    expect(status).toBe('waiting');
    expect(written).toEqual([]);
    const [wait] = await runtime.client.listWaits({ threadId: thread });
    await runtime.client.answerWait(String(wait?.id), { approved: true });
    await runtime.client.waitForIdle(thread);
    expect(written).toEqual(['4711']);
    expect(await eventOf(runtime, thread, 'action.policy')).toMatchObject({
      effect: 'require_approval',
      sources: { 'records.write': 'policy' },
    });
  });
});

describe('[PL-06] a denied action does not run', () => {
  it('as a tool queued by a person', async () => {
    const { written, update } = recorder();
    const model = scriptedModel([says('Hello.'), says('I see.')]);
    const policy = { 'records.*': 'deny' } as const;
    const runtime = await testRuntime({ model, tools: { update }, agent: { policy } });
    const thread = await runtime.start('go');
    await runtime.client.queueTool(thread, { name: 'update', arguments: { id: '1' } });
    await runtime.client.waitForIdle(thread);
    expect(await resultOf(runtime, thread, 'update')).toMatchObject({ tool_status: 'error' });
    expect(written).toEqual([]);
  });

  it('as a tool invoked or queued by another tool', async () => {
    const { written, update } = recorder();
    const around = defineTool({
      description: 'around',
      execute: async (state) => {
        state.queueTool('update', { id: 'queued' });
        const { error = '' } = await state.invokeTool('update', { id: 'invoked' });
        return { status: 'success', result: error };
      },
    });
    const model = scriptedModel([calls('around'), says('I see.')]);
    const policy = { 'records.*': 'deny' } as const;
    const runtime = await testRuntime({ model, tools: { around, update }, agent: { policy } });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread, 'around')).toMatchObject({
      content: expect.stringContaining('ActionDenied: "update" was not done.'),
    });
    expect(await resultOf(runtime, thread, 'update')).toMatchObject({ tool_status: 'error' });
    expect(written).toEqual([]);
    expect((await told(runtime, thread)).filter((type) => type === 'action.denied')).toHaveLength(2);
  });

  it('as a tool invoked by an effect', async () => {
    const { written, update } = recorder();
    const poke = defineEffect(
      'pokes',
      async (state) => void (await state.invokeTool('update', { id: 'effect' })),
    );
    const plan = defineTool({
      description: 'plans',
      execute: async (state) => {
        await state.scheduleEffect('poke', {}, 0);
        return { status: 'success', result: 'planned' };
      },
    });
    const model = scriptedModel([calls('plan'), says('I see.')]);
    const policy = { 'records.*': 'deny' } as const;
    const runtime = await testRuntime({
      model,
      tools: { plan, update },
      effects: { poke },
      agent: { policy },
    });
    const thread = await runtime.start('go');
    await ended(runtime, thread, 1);
    expect(written).toEqual([]);
    expect(await told(runtime, thread)).toContain('action.denied');
  });

  it.each([
    ['a prompt', 'advise', 'prompt.call'],
    ['an agent that would take the thread over', 'clerk', 'agent.delegate'],
    ['an agent that would get a thread of its own', 'worker', 'agent.delegate'],
  ])('as a call of %s', async (_, name, capability) => {
    const model: ScriptedModel = scriptedModel([calls(name, {}), says('I see.')]);
    const registry = promptProject({
      model,
      main: { tools: [name] },
      prompts: { advise: {}, clerk_desk: {} },
      policy: { [capability]: 'deny' },
      agents: {
        clerk: { exposeAsTool: true, toolDescription: 'takes over' },
        worker: {
          type: 'dual_ai',
          exposeAsTool: true,
          toolDescription: 'works',
          sideA: { prompt: 'clerk_desk' },
          sideB: { prompt: 'clerk_desk' },
          maxSessionTurns: 2,
        },
      },
    });
    const runtime = await testRuntime({ model, registry });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread, name)).toMatchObject({
      content: expect.stringContaining(`The policy denies: ${capability}`),
    });
    expect(await told(runtime, thread)).not.toContain('tool.started');
    expect(await runtime.store.children.list(thread)).toEqual([]);
  });
});
