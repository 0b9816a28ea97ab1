/** A thread forked over HTTP and by both clients, on workers: what it goes on with, and who may do it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { HttpClient } from '../../src/client/http/http-client.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { createToken, storedAccess } from '../../src/server/api/stored-access.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime, testStore } from '../support/runtime.ts';
import {
  cast,
  childrenOf,
  create,
  familyRuntime,
  lastResult,
  RESUMABLE,
} from '../support/subagent-project.ts';

/** `pay` in the first turn; then an answer that counts the messages shown. */
async function paid() {
  const keys: string[] = [];
  const tools = {
    pay: defineTool({
      description: 'pays',
      args: z.object({}),
      execute: (state) => {
        keys.push(state.idempotencyKey ?? '');
        return { status: 'success', result: 'paid' };
      },
    }),
    look: defineTool({
      description: 'looks',
      idempotent: true,
      args: z.object({}),
      execute: () => ({ status: 'success', result: 'seen' }),
    }),
  };
  const model = scriptedModel(({ messages }) => {
    const last = String(messages.at(-1)?.content);
    if (last === 'pay' || last === 'look') return calls(last, {});
    return says(`after ${messages.filter(({ role }) => role !== 'system').length}`);
  });
  const runtime = await testRuntime({ model, tools });
  const threadId = await runtime.client
    .startThread({ agent: 'helper', threadId: randomUUID(), messages: [{ content: 'pay' }] })
    .then((started) => started.threadId);
  await runtime.client.waitForIdle(threadId);
  await runtime.client.queueMessage(threadId, { content: 'look' });
  await runtime.client.waitForIdle(threadId);
  return { runtime, threadId, keys, model };
}

describe('a forked thread', () => {
  it('goes on from its step without a call run again, and its own calls have keys of their own', async () => {
    const { runtime, threadId, keys, model } = await paid();
    const api = await testApi(runtime);
    const client = await HttpClient.connect({ url: api.url });
    const forkId = randomUUID();
    const asked = { at: 2, threadId: forkId, message: { content: 'pay' } };
    const forked = await client.forkThread(threadId, asked);
    expect(forked).toMatchObject({ threadId: forkId, from: threadId, at: 2, state: 'none', messages: 4 });
    expect(forked.effects).toMatchObject([{ step: 1, name: 'pay', outcome: 'success' }]);
    await client.waitForIdle(forkId);
    const again = await api.call('POST', `/v1/threads/${threadId}/fork`, asked);
    expect((await api.call('POST', `/v1/threads/${threadId}/fork`)).status).toBe(201);
    expect([again.status, again.headers.get('location')]).toEqual([201, `/v1/threads/${forkId}`]);
    expect(again.body).toEqual(forked);
    const { thread } = { thread: await client.waitForIdle(forkId) };
    expect(thread).toMatchObject({ status: 'idle', forkedFrom: { threadId, step: 2 }, lastStep: 4 });
    expect(new Set(keys).size).toBe(2);
    expect(keys[1]).toContain(forkId);
    const shown = model.requests.at(-1)?.messages.map(({ role, content }) => `${role}: ${content}`) ?? [];
    expect(shown.slice(1).map((line) => line.slice(0, 30))).toEqual([
      'user: pay',
      expect.stringMatching(/^assistant/),
      'tool: paid',
      'assistant: after 3',
      'user: This conversation is a f',
      'user: pay',
      expect.stringMatching(/^assistant/),
      'tool: paid',
    ]);
    // The source is as it was, and has paid for itself alone.
    expect(await client.getThread(threadId)).toMatchObject({ lastStep: 4, status: 'idle' });
    expect((await client.getThread(threadId)).forkedFrom).toBeUndefined();
    const head = await runtime.client.forkThread(threadId);
    expect(head).toMatchObject({ at: 4, state: 'head' });
    // Idempotent calls can be made again.
    expect(head.effects.map(({ name }) => name)).toEqual(['pay']);
    await expect(
      runtime.client.startThread({ agent: 'helper', threadId: head.threadId }),
    ).rejects.toMatchObject({
      code: 'InvalidStart',
    });
    const story: string[] = [];
    for await (const { event } of client.events(head.threadId, { as: 'story', follow: false }))
      story.push(event.line);
    expect(story[0]).toBe(
      `A fork of the thread ${threadId} is made after its step 4, with 8 messages; 1 call of tools that are not idempotent had ended there.`,
    );
    await client.close();
  });

  it('is refused with what is wrong, and leaves nothing', async () => {
    const { runtime, threadId } = await paid();
    const api = await testApi(runtime, {
      agents: () => [{ name: 'helper', title: null, description: null }],
    });
    const fork = async (body: object, id = threadId) => {
      const answer = await api.call('POST', `/v1/threads/${id}/fork`, body);
      return [answer.status, answer.body.code ?? answer.body.error?.code];
    };
    const given = randomUUID();
    const refused: [object, number, string][] = [
      [{ at: 99 }, 400, 'InvalidValue'],
      [{ at: 0 }, 400, 'InvalidValue'],
      [{ agent: 'nobody' }, 404, 'AgentNotFound'],
      [{ threadId: 'a b' }, 400, 'InvalidStart'],
      [{ threadId }, 400, 'InvalidStart'],
    ];
    for (const [body, ...wanted] of refused)
      expect([body, ...(await fork({ threadId: given, ...body }))]).toEqual([body, ...wanted]);
    for (const body of [{ at: 'two' }, { state: 'then' }, { steps: 2 }])
      expect([body, (await fork(body))[0]]).toEqual([body, 400]);
    expect((await fork({}, 'nowhere'))[1]).toBe('ThreadNotFound');
    expect((await api.call('GET', `/v1/threads/${given}`)).status).toBe(404);
    await runtime.client.deleteThread(threadId);
    expect((await fork({}))[1]).toBe('ThreadNotFound');
  });

  it('belongs to the caller, who must be able to reach its source', async () => {
    const store = await testStore();
    const model = scriptedModel(() => says('Hi.'));
    const runtime = await testRuntime({ model, store });
    const api = await testApi(runtime, { access: storedAccess(store, null) });
    const tokenOf = async (owner: { userId?: string; organizationId?: string }) => {
      const { secret } = await createToken(store, { scopes: ['read', 'write'], ...owner });
      return { authorization: `Bearer ${secret}` };
    };
    const ada = await tokenOf({ userId: 'ada', organizationId: 'acme' });
    const bob = await tokenOf({ userId: 'bob', organizationId: 'acme' });
    const acme = await tokenOf({ organizationId: 'acme' });
    const start = { agent: 'helper', messages: [{ content: 'hello' }], env: { KEY: 'hidden' } };
    const { threadId } = (await api.call('POST', '/v1/threads', start, ada)).body;
    await runtime.client.waitForIdle(threadId);
    const fork = (headers: Readonly<Record<string, string>>, body: object = {}) =>
      api.call('POST', `/v1/threads/${threadId}/fork`, body, headers);
    expect((await fork(bob)).status).toBe(404);
    const own = (await fork(ada, { userId: 'bob' })).body;
    expect(own.withheld).toBeUndefined();
    expect(await runtime.client.getThread(own.threadId)).toMatchObject({
      userId: 'ada',
      organizationId: 'acme',
    });
    const given = (await fork(acme, { userId: 'bob' })).body;
    expect(given.withheld).toEqual(['KEY']);
    expect((await api.call('GET', `/v1/threads/${given.threadId}`, undefined, ada)).status).toBe(404);
    expect((await api.call('GET', `/v1/threads/${given.threadId}`, undefined, bob)).status).toBe(200);
  });

  it('closes the references to subagents of its source', async () => {
    let referenceId = '';
    const actors = cast({
      main: [
        calls(SUBAGENT_CREATE, create('the sky')),
        says('Made.'),
        () => calls(SUBAGENT_MESSAGE, { referenceId, message: 'and at night?', attachments: [] }),
        says('Noted.'),
      ],
      scout_a: [calls('finish', { text: 'blue' })],
    });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const threadId = await runtime.start('what colour?');
    referenceId = (await childrenOf(runtime, threadId))[0]?.threadId ?? '';
    const forked = await runtime.client.forkThread(threadId, { message: { content: 'ask on' } });
    await runtime.client.waitForIdle(forked.threadId);
    expect((await lastResult(runtime, forked.threadId))?.content).toContain('not available in a fork');
    expect(await childrenOf(runtime, forked.threadId)).toEqual([]);
  });
});
