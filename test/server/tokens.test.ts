/** Tokens kept in the store, through the real server. */
import { describe, expect, it } from '@jest/globals';
import { tokenAccess } from '../../src/server/api/access.ts';
import { createToken, storedAccess } from '../../src/server/api/stored-access.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

const as = (secret: string) => ({ authorization: `Bearer ${secret}` });

describe('stored tokens', () => {
  it('close open access once the first exists, each grant only its scopes, and end when revoked', async () => {
    const store = await testStore();
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]), store });
    const api = await testApi(runtime, { access: storedAccess(store, null) });
    const list = async (headers = {}) => (await api.call('GET', '/v1/threads', undefined, headers)).status;
    expect(await list()).toBe(200);
    const web = await createToken(store, {
      name: 'web',
      scopes: ['read', 'write'],
      userId: 'ada',
      organizationId: 'acme',
    });
    expect(web.secret).toMatch(/^et_[\w-]{43}$/);
    expect(JSON.stringify(await store.tokens.list())).not.toContain(web.secret);
    expect([await list(), await list(as(`${web.secret}x`)), await list(as(web.secret))]).toEqual([
      401, 401, 200,
    ]);
    const started = {
      agent: 'helper',
      userId: 'bob',
      messages: [{ content: 'hi' }],
      context: { organizationId: 'other', sessionId: 's' },
    };
    const { threadId } = (await api.call('POST', '/v1/threads', started, as(web.secret))).body;
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.client.getThread(threadId)).toMatchObject({ userId: 'ada' });
    expect((await runtime.client.getExecution(threadId)).context).toMatchObject({
      organizationId: 'acme',
      sessionId: 's',
    });
    const answer = await api.call('POST', '/v1/waits/x/answer', { approved: true }, as(web.secret));
    expect(answer).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
    await store.tokens.revoke(web.token.id);
    // With the last token revoked, the API still requires one.
    expect([await list(as(web.secret)), await list()]).toEqual([401, 401]);
    await expect(createToken(store, { scopes: ['wirte'] })).rejects.toMatchObject({ code: 'InvalidValue' });
  });

  it('are accepted besides those of the environment', async () => {
    const store = await testStore();
    const runtime = await testRuntime({ model: scriptedModel([]), store });
    const given = 'of-the-environment-1';
    const api = await testApi(runtime, { access: storedAccess(store, tokenAccess(given)) });
    const { secret } = await createToken(store, { lifeMs: 60_000 });
    const status = async (headers = {}) => (await api.call('GET', '/v1/agents', undefined, headers)).status;
    expect([await status(), await status(as(given)), await status(as(secret))]).toEqual([401, 200, 200]);
  });
});
