/** Actions: what a call would do is prepared, judged and logged before it begins, and its end is stored. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { PreparedAction } from '../../src/core/governance/prepared-action.ts';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

const ALLOW = { default: 'allow' } as const;

/** A tool with `prepareAction`, and the order in which its code ran. */
function publisher(prepare: (id: string) => PreparedAction | Promise<PreparedAction>) {
  const ran: string[] = [];
  const publish = defineTool({
    description: 'publishes a record',
    args: z.object({ id: z.string(), loud: z.boolean().default(false) }),
    capabilities: ['records.write'],
    prepareAction: ({ id }) => {
      ran.push('prepared');
      return prepare(id);
    },
    execute: async (_state, { id }) => {
      ran.push('done');
      return id === 'bad'
        ? { status: 'error', error: 'no such record' }
        : { status: 'success', result: 'done' };
    },
  });
  return { ran, publish };
}

async function run(
  publish: ReturnType<typeof publisher>['publish'],
  policy: AgentInput['policy'],
  ...ids: string[]
) {
  const asked = ids.map((id) => ({ name: 'publish', args: { id } }));
  const model = scriptedModel([callsMany(asked), says('I see.')]);
  const runtime = await testRuntime({ model, tools: { publish }, agent: { policy } });
  return { runtime, thread: await runtime.start('go') };
}

const PREVIEW: PreparedAction = {
  description: 'Publishes r1',
  artifacts: [
    { name: 'status', mediaType: 'application/json', content: { before: 'draft', after: 'published' } },
  ],
  capabilities: ['mail.send'],
};

const kinds = async ({ store }: TestRuntime, thread: string) =>
  (await store.events.read(thread, 0)).map(({ type }) => type).filter((type) => type.startsWith('action.'));

describe('an action', () => {
  it('[PL-11] is prepared before it is judged: a description, named artifacts, and more capabilities', async () => {
    const { ran, publish } = publisher(() => PREVIEW);
    const { runtime, thread } = await run(publish, ALLOW, 'r1');
    const [requested] = await eventsOf(runtime, thread, 'action.requested');
    const actionId = `${thread}:1:0`;
    expect(requested?.data).toEqual({
      actionId,
      name: 'publish',
      kind: 'tool.call',
      callId: expect.any(String),
      arguments: { id: 'r1', loud: false },
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      capabilities: ['mail.send', 'records.write'],
      description: 'Publishes r1',
      artifacts: [
        {
          kind: 'preview',
          name: 'status',
          mediaType: 'application/json',
          content: { before: 'draft', after: 'published' },
          actionId,
        },
      ],
    });
    expect(ran).toEqual(['prepared', 'done']);
    expect(await kinds(runtime, thread)).toEqual([
      'action.requested',
      'action.policy',
      'action.started',
      'action.completed',
    ]);
    const [kept] = await runtime.client.listActions({ threadId: thread });
    expect(kept).toMatchObject({ id: actionId, state: 'completed', description: 'Publishes r1', step: 1 });
  });

  it('[PL-11] is logged without the secrets that its preparation has read', async () => {
    const publish = defineTool({
      description: 'publishes',
      args: z.object({ id: z.string() }),
      variables: [{ name: 'KEY' }],
      prepareAction: async (_given, { env }) => ({ description: `Publishes with ${await env('KEY')}` }),
      execute: async () => ({ status: 'success', result: 'done' }),
    });
    const model = scriptedModel([calls('publish', { id: 'swordfish-4711' }), says('I see.')]);
    const runtime = await testRuntime({ model, tools: { publish }, agent: { policy: ALLOW } });
    await runtime.client.setEnv({ instance: true }, 'KEY', 'swordfish-4711');
    const thread = await runtime.start('go');
    const [requested] = await eventsOf(runtime, thread, 'action.requested');
    expect(requested?.data).toMatchObject({
      arguments: { id: '[secret KEY]' },
      description: 'Publishes with [secret KEY]',
    });
  });

  it('[PL-11] is denied for a capability added by its preparation', async () => {
    const { ran, publish } = publisher(() => PREVIEW);
    const { runtime, thread } = await run(publish, { 'mail.*': 'deny' }, 'r1');
    expect(ran).toEqual(['prepared']);
    expect(await runtime.client.listActions({ threadId: thread })).toMatchObject([
      { state: 'denied', denied: { code: 'ActionDenied', reason: 'The policy denies: mail.send.' } },
    ]);
  });

  it('is not prepared if a declared capability is denied or the agent has no policy', async () => {
    const denied = publisher(() => PREVIEW);
    await run(denied.publish, { 'records.*': 'deny' }, 'r1');
    expect(denied.ran).toEqual([]);
    const free = publisher(() => PREVIEW);
    const { runtime, thread } = await run(free.publish, undefined, 'r1');
    expect(free.ran).toEqual(['done']);
    expect(await runtime.client.listActions({ threadId: thread })).toEqual([]);
  });

  it('has a fingerprint of everything that would be done', async () => {
    const artifacts = [{ content: 'the same' }];
    const { publish } = publisher((id) => ({ artifacts: id === 'r3' ? [] : artifacts }));
    const { runtime, thread } = await run(publish, ALLOW, 'r1', 'r1', 'r2', 'r3');
    const prints = (await eventsOf(runtime, thread, 'action.requested')).map(({ data }) => data.fingerprint);
    expect(prints[0]).toBe(prints[1]);
    expect(new Set(prints).size).toBe(3);
  });

  it('fails with its body', async () => {
    const { publish } = publisher(() => ({}));
    const { runtime, thread } = await run(publish, ALLOW, 'bad');
    expect(await eventsOf(runtime, thread, 'action.failed')).toMatchObject([
      { data: { name: 'publish', error: 'no such record' } },
    ]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('the books are away')), 'the books are away'],
    ['says what cannot be kept', () => ({ artifacts: [{ content: 1n }] }), 'only JSON values'],
    [
      'has a field that there is not',
      () => ({ preview: 'x' }) as PreparedAction,
      '"preview" is not a known field',
    ],
  ])('does not run if its preparation %s', async (_, prepare, why) => {
    const { ran, publish } = publisher(prepare);
    const { runtime, thread } = await run(publish, ALLOW, 'r1');
    expect(ran).toEqual(['prepared']);
    const lines = await runtime.transcript(thread);
    expect(lines.find((line) => line.startsWith('tool '))).toContain('could not be prepared');
    expect(lines.find((line) => line.startsWith('tool '))).toContain(why);
    expect(await kinds(runtime, thread)).toEqual([]);
  });

  it('is stored for a tool invoked by code, with its end', async () => {
    const { publish } = publisher(() => ({ description: 'by code' }));
    const around = defineTool({
      description: 'around',
      execute: async (state) => state.invokeTool('publish', { id: 'r1' }),
    });
    const model = scriptedModel([calls('around'), says('I see.')]);
    const runtime = await testRuntime({ model, tools: { around, publish }, agent: { policy: ALLOW } });
    const thread = await runtime.start('go');
    expect(await runtime.client.listActions({ threadId: thread })).toMatchObject([
      { id: `${thread}:1:0:invoked:0`, name: 'publish', state: 'completed', description: 'by code', step: 1 },
      { id: `${thread}:1:0`, name: 'around', state: 'completed', capabilities: [] },
    ]);
  });

  it('[PL-11] is judged again if its own code changes its arguments; a change after the judgement does not run', async () => {
    const done: unknown[] = [];
    const publish = defineTool({
      description: 'publishes a record',
      args: z.object({ id: z.string().max(4) }),
      prepareAction: (args) => {
        if (args.id === 'loud') args.id = 'louder';
        args.id = args.id.trim();
        return {};
      },
      confirm: (args) => {
        if (args.id === 'sly') args.id = 'r9';
        return null;
      },
      execute: async (_state, args) => {
        done.push(args);
        return { status: 'success', result: 'done' };
      },
    });
    const relay = defineTool({
      description: 'invokes it',
      execute: (state) => state.invokeTool('publish', { id: 'sly' }),
    });
    const asked = [' r1', 'loud', 'sly'].map((id) => ({ name: 'publish', args: { id } }));
    const model = scriptedModel([callsMany([...asked, { name: 'relay', args: {} }]), says('I see.')]);
    const runtime = await testRuntime({ model, tools: { publish, relay }, agent: { policy: ALLOW } });
    const thread = await runtime.start('go');
    expect(done).toEqual([{ id: 'r1' }]);
    const { messages } = await runtime.client.getMessages(thread);
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results).toEqual([
      'done',
      expect.stringContaining('validation failed after prepareAction: [id]'),
      expect.stringContaining('changed the arguments after they were judged'),
      expect.stringContaining('changed the arguments after they were judged'),
    ]);
  });
});
