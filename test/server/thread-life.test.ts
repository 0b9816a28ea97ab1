/** Changes to threads over HTTP, and their end: paged lists, tags, variables, messages, effects, deletion. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineEffect } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { storedAccess } from '../../src/server/index.ts';
import type { DecidedAction } from '../../src/store/action/action-record.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { ended, schedule } from '../support/effects.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

/** An action that an effect has begun, as the effect reports it. */
function lostAction(threadId: string): DecidedAction {
  const says = { reason: 'because', matchedCapabilities: ['pay'], capabilities: {}, sources: {} };
  return {
    action: {
      ...{ id: `${threadId}:effect:0`, kind: 'tool.call', name: 'pay', callId: 'c-1' },
      ...{ capabilities: ['pay'], fingerprint: 'f' },
    },
    decision: { effect: 'allow', ...says },
  };
}

describe('threads over HTTP', () => {
  it('are listed in pages and found by their tags', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const tag = randomUUID();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { body } = await api.call('POST', '/v1/threads', { agent: 'helper', tags: [tag] });
      ids.push(body.threadId);
      await runtime.client.waitForIdle(body.threadId);
    }
    const first = await api.call('GET', `/v1/threads?tag=${tag}&limit=2`);
    expect(first.body.threads).toMatchObject([{ tags: [tag] }, { tags: [tag] }]);
    const second = await api.call('GET', `/v1/threads?tag=${tag}&limit=2&cursor=${first.body.cursor}`);
    expect(second.body.cursor).toBeNull();
    const found = [...first.body.threads, ...second.body.threads].map(({ id }: { id: string }) => id);
    expect(found.toSorted()).toEqual(ids.toSorted());
    const changed = await api.call('PATCH', `/v1/threads/${ids[0]}`, {
      tags: ['other'],
      env: { CITY: { value: 'Rome', type: 'text' }, KEY: 'secret' },
    });
    expect(changed).toMatchObject({ status: 200, body: { id: ids[0], tags: ['other'] } });
    expect(await runtime.client.listEnv({ thread: ids[0] ?? '' })).toMatchObject([
      { name: 'CITY', value: 'Rome' },
      { name: 'KEY', type: 'secret' },
    ]);
    await api.call('PATCH', `/v1/threads/${ids[0]}`, { env: { KEY: null } });
    expect(await runtime.client.listEnv({ thread: ids[0] ?? '' })).toHaveLength(1);
    expect((await api.call('GET', `/v1/threads?tag=${tag}`)).body.threads).toHaveLength(2);
    const bad = async (method: string, path: string, body?: unknown) =>
      (await api.call(method, path, body)).body.code;
    expect(await bad('GET', '/v1/threads?cursor=x')).toBe('InvalidCursor');
    expect(await bad('GET', '/v1/threads?sort=size')).toBe('InvalidRequest');
    expect(await bad('PATCH', `/v1/threads/${ids[0]}`, {})).toBe('InvalidRequest');
    expect(await bad('PATCH', `/v1/threads/${ids[0]}`, { tags: [''] })).toBe('InvalidValue');
    expect(await bad('PATCH', `/v1/threads/${ids[0]}`, { env: { GOOD: 'x', 'b d': 'x' } })).toBe(
      'InvalidVariable',
    );
    expect(await runtime.client.listEnv({ thread: ids[0] ?? '' })).toHaveLength(1);
    expect(await bad('POST', '/v1/threads', { agent: 'helper', tags: ['a\nb'] })).toBe('InvalidStart');
  });

  it('have messages that can be changed and removed, and effects that can be run now', async () => {
    const model = scriptedModel([says('Hello!'), says('Yes.')]);
    const nudge = defineEffect({
      description: 'nudges',
      execute: async (state) => state.setValue('nudged', true),
    });
    const runtime = await testRuntime({ model, effects: { nudge } });
    const api = await testApi(runtime);
    const { threadId: thread } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ id: 'm-1', content: 'hi' }],
    });
    await runtime.client.waitForIdle(thread);
    const at = `/v1/threads/${thread}/messages/m-1`;
    const changed = await api.call('PATCH', at, { content: 'good day', metadata: { seen: true } });
    expect(changed).toMatchObject({ status: 200, body: { content: 'good day', metadata: { seen: true } } });
    await runtime.say(thread, 'and now?');
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('good day');
    await schedule(runtime.client, thread, 'nudge', { delayMs: 3_600_000 });
    const run = `/v1/threads/${thread}/effects/nudge/run`;
    expect(await api.call('POST', run)).toMatchObject({ status: 202, body: { due: true } });
    await ended(runtime, thread, 1);
    expect((await api.call('GET', `/v1/threads/${thread}/values/nudged`)).body.value).toBe(true);
    expect((await api.call('POST', run)).body).toEqual({ due: false });
    expect(await api.call('DELETE', at)).toMatchObject({ status: 200, body: { id: 'm-1' } });
    expect((await api.call('DELETE', at)).body.code).toBe('MessageNotFound');
    expect((await api.call('PATCH', at, { content: 'x' })).body.code).toBe('MessageNotFound');
    expect((await api.call('PATCH', at, {})).body.code).toBe('InvalidRequest');
    expect((await api.call('PATCH', at, { role: 'system' })).body.code).toBe('InvalidRequest');
  });

  it('are deleted with their descendants, and a reader that follows one reads its end', async () => {
    const model = modelOf({
      main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
      scribe_desk: () => handsIn('written'),
    });
    const registry = childProject({
      model,
      entries: [{ name: 'scribe', blocking: true }],
      children: { scribe: {} },
    });
    const runtime = await testRuntime({ model, registry });
    const api = await testApi(runtime);
    const thread = await runtime.start('go');
    const [child] = await runtime.store.children.list(thread);
    const childId = child?.threadId ?? '';
    const ofChild = await api.call('DELETE', `/v1/threads/${childId}`);
    expect(ofChild.body).toMatchObject({ code: 'InvalidRequest', detail: expect.stringContaining(thread) });
    const path = `/v1/threads/${thread}`;
    const stream = await fetch(`${api.url}${path}/events`, { headers: { accept: 'application/x-ndjson' } });
    const deleted = await api.call('DELETE', path);
    expect(deleted).toMatchObject({ status: 200 });
    expect(deleted.body.deleted).toEqual([thread, childId]);
    expect((await api.call('GET', `/v1/threads/${childId}`)).body.code).toBe('ThreadNotFound');
    expect(await stream.text()).toContain('"thread.terminated"');
    for (const [method, body] of [
      ['GET', undefined],
      ['DELETE', undefined],
      ['PATCH', { tags: [] }],
    ] as const)
      expect((await api.call(method, path, body)).body.code).toBe('ThreadNotFound');
    const again = await api.call('POST', '/v1/threads', { agent: 'helper', threadId: thread });
    expect(again.body.code).toBe('ThreadTerminated');
    expect((await api.call('GET', '/v1/threads?limit=1000')).body.threads).not.toContainEqual(
      expect.objectContaining({ id: thread }),
    );
  });
});

describe('an action whose outcome is unknown', () => {
  it('[PL-26] is found and reconciled over HTTP, once, by those who may answer in its thread', async () => {
    const [bob, ada] = ['bob-and-nobody-else-', 'ada-and-nobody-else-'];
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { access: tokenAccess(`${bob}@bob,${ada}@ada`) });
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', userId: 'bob' });
    await runtime.client.waitForIdle(threadId);
    const { actions } = runtime.store;
    await actions.record({ threadId, told: lostAction(threadId), leaseMs: -1 });
    await actions.closeLost();
    const path = `/v1/threads/${threadId}/actions?state=uncertain`;
    const { body } = await api.call('GET', path, undefined, as(bob));
    expect(body.actions).toMatchObject([{ name: 'pay', state: 'uncertain' }]);
    const { id } = body.actions[0];
    const reconcile = async (token: string, said: object) => {
      const answer = await api.call('POST', `/v1/actions/${id}/reconcile`, said, as(token));
      return [answer.status, answer.body.code ?? answer.body.reconciliation];
    };

    expect(await reconcile(ada, { completed: true })).toEqual([404, 'ThreadNotFound']);
    expect(await reconcile(bob, { completed: 'yes' })).toEqual([400, 'InvalidRequest']);
    expect(await reconcile(bob, { completed: true, note: 'seen at the bank' })).toEqual([
      200,
      { completed: true, note: 'seen at the bank', by: 'token 1' },
    ]);
    expect(await reconcile(bob, { completed: true })).toEqual([409, 'ActionNotUncertain']);
    const none = await api.call('POST', '/v1/actions/none/reconcile', { completed: true }, as(bob));
    expect(none.body.code).toBe('ActionNotFound');
  });
});

describe('/v1/tokens', () => {
  it('creates, lists and revokes tokens for an admin of all threads only: no user, no organisation', async () => {
    const [root, ada] = ['root-of-this-server-', 'ada-and-nobody-else-'];
    const runtime = await testRuntime({ model: scriptedModel([]), store: await testStore() });
    const access = storedAccess(runtime.client, tokenAccess(`${root},${ada}@ada`));
    const api = await testApi(runtime, { access });
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const made = await api.call('POST', '/v1/tokens', { name: 'web', scopes: ['read'] }, as(root));
    expect(made).toMatchObject({ status: 201, body: { token: { name: 'web', scopes: ['read'] } } });
    const { secret, token } = made.body;
    const status = async (path: string) => (await api.call('GET', path, undefined, as(secret))).status;
    expect([await status('/v1/threads'), await status('/v1/tokens')]).toEqual([200, 403]);
    const listed = await api.call('GET', '/v1/tokens', undefined, as(root));
    expect(listed.body.tokens).toContainEqual(token);
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    const acme = { scopes: ['admin'], organizationId: 'acme' };
    const ofAcme = (await api.call('POST', '/v1/tokens', acme, as(root))).body.secret;
    for (const limited of [ada, ofAcme])
      for (const [method, path, body] of [
        ['GET', '/v1/tokens', undefined],
        ['POST', '/v1/tokens', {}],
        ['DELETE', `/v1/tokens/${token.id}`, undefined],
      ] as const)
        expect((await api.call(method, path, body, as(limited))).body.code).toBe('Forbidden');
    const revoked = await api.call('DELETE', `/v1/tokens/${token.id}`, undefined, as(root));
    expect(revoked.body.revokedAt).toEqual(expect.any(Number));
    expect(await status('/v1/threads')).toBe(401);
    expect((await api.call('DELETE', '/v1/tokens/none', undefined, as(root))).body.code).toBe(
      'TokenNotFound',
    );
    const wrong = await api.call('POST', '/v1/tokens', { scopes: ['all'] }, as(root));
    expect(wrong.body.code).toBe('InvalidRequest');
  });
});
