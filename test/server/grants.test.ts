/** Grants over HTTP: listed and revoked by whoever may reach the thread that asked. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

const pay = defineTool({
  description: 'pays',
  capabilities: ['money.move'],
  execute: () => ({ status: 'success', result: 'paid' }),
});
const tokens = { operator: 'o'.repeat(32), ada: 'a'.repeat(32), bob: 'b'.repeat(32) };
const access = tokenAccess(
  `${tokens.operator}=admin,${tokens.ada}=read+answer@ada,${tokens.bob}=read+answer@bob`,
);

async function granted(scope: 'thread' | 'always') {
  const runtime = await testRuntime({
    model: scriptedModel([calls('pay'), says('done')]),
    tools: { pay },
    agent: { policy: { 'money.*': 'require_approval' } },
  });
  const { client } = runtime;
  const { threadId } = await client.startThread({
    agent: 'helper',
    userId: 'ada',
    messages: [{ content: 'go' }],
  });
  await client.waitForIdle(threadId);
  const [wait] = await client.listWaits({ threadId });
  const api = await testApi(runtime, { access });
  const as = (name: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[name]}` });
  const answer = { approved: true, scope, covers: 'tool' };
  const answered = await api.call('POST', `/v1/waits/${wait?.id}/answer`, answer, as('ada'));
  expect(answered.status).toBe(200);
  await client.waitForIdle(threadId);
  return { client, api, as, threadId, id: String(wait?.id) };
}

describe('/v1/grants', () => {
  it('lists what applies to a thread, and revokes it once, for its user', async () => {
    const { api, as, threadId, id } = await granted('thread');
    const list = `/v1/grants?threadId=${threadId}`;
    const listed = await api.call('GET', list, undefined, as('ada'));
    expect(listed.body).toMatchObject({
      grants: [{ id, threadId, scope: 'thread', covers: 'tool', tool: 'pay', grantedBy: expect.any(String) }],
    });
    expect((await api.call('GET', '/v1/grants', undefined, as('ada'))).status).toBe(400);
    expect((await api.call('GET', '/v1/grants', undefined, as('operator'))).status).toBe(200);
    const revoke = `/v1/grants/${id}/revoke`;
    for (const _ of [1, 2])
      expect((await api.call('POST', revoke, undefined, as('ada'))).body).toMatchObject({
        revokedBy: expect.any(String),
      });
    expect((await api.call('GET', list, undefined, as('ada'))).body).toEqual({ grants: [] });
    expect((await api.call('GET', `${list}&all=true`, undefined, as('ada'))).body).toMatchObject({
      grants: [{ id }],
    });
    expect((await api.call('POST', '/v1/grants/none/revoke', {}, as('operator'))).body).toMatchObject({
      code: 'GrantNotFound',
    });
  });

  it('names the field of an answer that does not fit', async () => {
    const { api, as, id } = await granted('thread');
    const answer = { approved: true, scope: 'treads', covers: 'tol' };
    const { status, body } = await api.call('POST', `/v1/waits/${id}/answer`, answer, as('ada'));
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/scope: .*covers: /)]);
  });

  it('hides a grant from other users, also once its thread is deleted', async () => {
    const { client, api, as, threadId, id } = await granted('always');
    const revoke = `/v1/grants/${id}/revoke`;
    expect((await api.call('POST', revoke, {}, as('bob'))).status).toBe(404);
    expect((await api.call('GET', `/v1/grants?threadId=${threadId}`, undefined, as('bob'))).status).toBe(404);
    await client.terminate(threadId);
    await client.deleteThread(threadId);
    expect(await api.call('POST', revoke, {}, as('bob'))).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining(id) },
    });
    expect((await api.call('POST', revoke, { by: 'a\0da' }, as('ada'))).status).toBe(400);
    expect((await client.grants.get(id)).revokedAt).toBeNull();
    expect((await api.call('POST', revoke, {}, as('ada'))).body).toMatchObject({ id, threadId: null });
  });
});
