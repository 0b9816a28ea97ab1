/** An organisation as a tenant: stored with its threads and their subagents, and used as a filter by every endpoint. */
import { describe, expect, it } from '@jest/globals';
import { createToken, storedAccess } from '../../src/server/api/stored-access.ts';
import { calls, says } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testStore } from '../support/runtime.ts';
import { cast, childrenOf, familyRuntime } from '../support/subagent-project.ts';

describe('an organisation', () => {
  it('owns its threads and their subagents, finds them, and hides them from tokens of another organisation', async () => {
    const store = await testStore();
    const actors = cast({
      main: (request) => (request.messages.at(-1)?.content === 'go' ? calls('scout') : says('noted')),
      scout_a: () => calls('finish', { text: 'found' }),
    });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'], runtime: { store } });
    const { client } = runtime;
    const api = await testApi(runtime, { access: storedAccess(store, null) });
    const tokenOf = async (organizationId: string) => {
      const { secret } = await createToken(store, { scopes: ['read', 'write'], organizationId });
      return { authorization: `Bearer ${secret}` };
    };
    const acme = await tokenOf('acme');
    const other = await tokenOf('other');
    const begin = { agent: 'helper', messages: [{ content: 'go' }], context: { organizationId: 'other' } };
    const { threadId } = (await api.call('POST', '/v1/threads', begin, acme)).body;
    await client.waitForIdle(threadId);
    const { threadId: free } = await client.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    await client.waitForIdle(free);

    const [child] = await childrenOf(runtime, threadId);
    const family = [threadId, child?.threadId];
    for (const id of family)
      expect(await client.getThread(id ?? '')).toMatchObject({ organizationId: 'acme' });
    expect(await client.getThread(free)).toEqual(
      expect.not.objectContaining({ organizationId: expect.anything() }),
    );
    const found = await client.listThreads({ organizationId: 'acme' });
    expect(found.map(({ id }) => id).sort()).toEqual(family.sort());
    expect(await client.listThreads({ organizationId: 'nobody' })).toEqual([]);

    const listed = async (headers: Readonly<Record<string, string>>, query = '') => {
      const { body } = await api.call('GET', `/v1/threads${query}`, undefined, headers);
      return body.threads.map(({ id }: { id: string }) => id).sort();
    };
    expect(await listed(acme)).toEqual(family);
    expect(await listed(acme, '?organizationId=other')).toEqual(family);
    expect(await listed(other)).toEqual([]);
    const status = async (headers: Readonly<Record<string, string>>, path: string) =>
      (await api.call('GET', path, undefined, headers)).status;
    expect(await status(acme, `/v1/threads/${child?.threadId}`)).toBe(200);
    for (const id of [threadId, child?.threadId, free])
      expect(await status(other, `/v1/threads/${id}/messages`)).toBe(404);
    expect(await status(other, '/v1/waits')).toBe(400);
    const said = { content: 'hello' };
    expect((await api.call('POST', `/v1/threads/${threadId}/messages`, said, other)).status).toBe(404);

    // A message in the name of another organisation runs under the thread's own.
    await client.queueMessage(threadId, { ...said, context: { organizationId: 'other', sessionId: 's' } });
    await client.waitForIdle(threadId);
    expect((await client.getExecution(threadId)).context).toMatchObject({
      organizationId: 'acme',
      sessionId: 's',
    });
  });
});
