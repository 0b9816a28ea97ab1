/** Approvals that reach further than one call: for the same arguments, or for every call of a tool. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentInput, defineTool, type ToolInput } from '../../src/definitions/index.ts';
import type { Wait } from '../../src/store/wait/wait-record.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const ARGS = z.object({ cents: z.number() });
type Fields = Partial<Pick<ToolInput<typeof ARGS>, 'prepareAction' | 'grantable' | 'version' | 'confirm'>>;

interface Paying extends Fields {
  readonly policy?: AgentInput['policy'];
}

/** Each message to a thread is an amount, which the model pays. */
async function paying({ policy = { 'money.*': 'require_approval' }, ...fields }: Paying = {}) {
  const paid: number[] = [];
  const pay = defineTool({
    description: 'pays',
    args: ARGS,
    capabilities: ['money.move'],
    ...fields,
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: `paid ${cents}` };
    },
  });
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'user' ? calls('pay', { cents: Number(last.content) }) : says('done');
  });
  const runtime = await testRuntime({ model, tools: { pay }, agent: { policy } });
  const { client } = runtime;
  const start = async (content: string, userId = 'ada') => {
    const { threadId } = await client.startThread({ agent: 'helper', userId, messages: [{ content }] });
    await client.waitForIdle(threadId);
    return threadId;
  };
  const say = async (threadId: string, content: string) => {
    await client.queueMessage(threadId, { content });
    return client.waitForIdle(threadId);
  };
  const waitOf = async (threadId: string): Promise<Wait> => {
    const [wait] = await client.listWaits({ threadId });
    if (!wait) throw new Error('Nothing waits.');
    return wait;
  };
  const approve = async (threadId: string, given: object = {}) => {
    const { id } = await waitOf(threadId);
    expect(await client.answerWait(id, { approved: true, by: 'eve', ...given })).toEqual({
      outcome: 'taken',
    });
    await client.waitForIdle(threadId);
    return id;
  };
  const deny = async (threadId: string) => {
    await client.answerWait((await waitOf(threadId)).id, { approved: false });
    await client.waitForIdle(threadId);
  };
  return { runtime, client, paid, start, say, approve, deny, waitOf };
}

describe('a grant of a tool', () => {
  it('[PL-09a] covers calls with other arguments in its thread, is shown with them, and in no other thread', async () => {
    const { runtime, client, paid, start, say, approve, deny } = await paying();
    const thread = await start('1');
    const id = await approve(thread, { scope: 'thread', covers: 'tool' });
    expect(await say(thread, '2')).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([1, 2]);
    const policies = await eventsOf(runtime, thread, 'action.policy');
    expect(policies.at(-1)?.data).toMatchObject({ effect: 'require_approval', grantId: id });
    expect(await client.grants.list({ threadId: thread })).toMatchObject([
      { id, scope: 'thread', covers: 'tool', tool: 'pay', capabilities: ['money.move'], grantedBy: 'eve' },
    ]);
    const other = await start('3');
    expect(await client.grants.list({ threadId: other })).toEqual([]);
    await deny(other);
    expect(paid).toEqual([1, 2]);
  });

  it('for an execution ends with it', async () => {
    const { client, paid, start, say, approve, deny } = await paying();
    const thread = await start('1');
    await approve(thread, { scope: 'execution', covers: 'tool' });
    expect(await say(thread, '2')).toMatchObject({ status: 'waiting' });
    await deny(thread);
    expect(paid).toEqual([1]);
    expect(await client.grants.list({ threadId: thread })).toHaveLength(1);
  });

  it('for always is for the same user, also once the thread that asked is deleted, until it is revoked', async () => {
    const { client, paid, start, say, approve, deny } = await paying();
    const user = randomUUID();
    const first = await start('1', user);
    const id = await approve(first, { scope: 'always', covers: 'tool' });
    await client.terminate(first);
    await client.deleteThread(first);
    const second = await start('2', user);
    expect(paid).toEqual([1, 2]);
    await deny(await start('3', 'bob'));
    expect(await client.grants.list({ threadId: second })).toMatchObject([{ id, threadId: null }]);
    expect(await client.grants.revoke(id, { by: 'eve' })).toMatchObject({ revokedBy: 'eve' });
    const { revokedAt } = await client.grants.get(id);
    expect(await client.grants.revoke(id, { by: 'bob' })).toMatchObject({ revokedBy: 'eve', revokedAt });
    expect(await say(second, '4')).toMatchObject({ status: 'waiting' });
    await deny(second);
    expect(paid).toEqual([1, 2]);
    expect(await client.grants.list({ threadId: second })).toEqual([]);
    expect(await client.grants.list({ threadId: second, all: true })).toMatchObject([{ id }]);
  });

  it('is told in its thread when it is revoked', async () => {
    const { runtime, client, start, approve } = await paying();
    const thread = await start('1');
    const id = await approve(thread, { scope: 'thread' });
    for (const _ of [1, 2]) await client.grants.revoke(id, { by: 'eve' });
    const told = await eventsOf(runtime, thread, 'grant.revoked');
    expect(told.map(({ data }) => data)).toEqual([{ grantId: id, name: 'pay', by: 'eve' }]);
  });

  it('covers no call that needs more than was granted, and one that needs less', async () => {
    const { paid, start, say, approve, deny } = await paying({
      prepareAction: ({ cents }) => ({ capabilities: cents > 100 ? ['money.much'] : [] }),
    });
    const thread = await start('1');
    await approve(thread, { scope: 'thread', covers: 'tool' });
    expect(await say(thread, '500')).toMatchObject({ status: 'waiting' });
    await approve(thread, { scope: 'thread', covers: 'tool' });
    await say(thread, '600');
    await say(thread, '2');
    expect(paid).toEqual([1, 500, 600, 2]);
    await deny(await start('3'));
  });

  it('does not override what a rule denies', async () => {
    const { paid, start, say, approve } = await paying({
      policy: { 'money.move': 'require_approval', 'money.much': 'deny' },
      prepareAction: ({ cents }) => ({ capabilities: cents > 100 ? ['money.much'] : [] }),
    });
    const thread = await start('1');
    await approve(thread, { scope: 'thread', covers: 'tool' });
    expect(await say(thread, '500')).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([1]);
  });

  it('ends at its time', async () => {
    const { paid, client, start, say, deny, waitOf } = await paying();
    const thread = await start('1');
    const past = { approved: true, scope: 'thread', until: 1 } as const;
    await expect(client.answerWait((await waitOf(thread)).id, past)).rejects.toThrow('"until" has passed');
    // As long as a busy machine needs to answer before it is over.
    for (let ms = 500, answered = false; !answered; ms *= 2) {
      const { id } = await waitOf(thread);
      const until = (Date.now() + ms) * 1000;
      answered = await client
        .answerWait(id, { approved: true, scope: 'thread', covers: 'tool', until })
        .then(() => true)
        .catch((error: Error) => {
          expect(error.message).toContain('"until" has passed');
          return false;
        });
    }
    await client.waitForIdle(thread);
    await eventually('its end', async () => (await client.grants.list({ threadId: thread })).length === 0);
    expect(await say(thread, '2')).toMatchObject({ status: 'waiting' });
    await deny(thread);
    expect(paid).toEqual([1]);
  });

  it.each<[string, Paying, object]>([
    ['a tool that is not grantable', { grantable: false }, { scope: 'execution' }],
    [
      'a capability whose rule lets each call be asked about',
      { policy: { rules: { '*': 'require_approval' }, grants: { 'money.*': 'once' } } },
      { scope: 'thread', covers: 'tool' },
    ],
    [
      'more than the rule lets a person grant',
      { policy: { rules: { '*': 'require_approval' }, grants: { 'money.*': 'thread' } } },
      { scope: 'always', covers: 'tool' },
    ],
  ])('is refused for %s, and the wait stays open', async (_, fields, given) => {
    const { client, paid, start, approve, waitOf } = await paying(fields);
    const thread = await start('1');
    const { id } = await waitOf(thread);
    await expect(client.answerWait(id, { approved: true, ...given })).rejects.toMatchObject({
      code: 'InvalidValue',
    });
    await approve(thread);
    expect(paid).toEqual([1]);
  });
});
