/**
 * The routes of Standard Agents under `/api`, through the real server: shapes and statuses as its client library
 * expects them.
 */
import { describe, expect, it } from '@jest/globals';
import { tokenAccess } from '../../../src/server/api/access.ts';
import { STANDARD_ROUTES } from '../../../src/server/standard/standard-door.ts';
import { hangs, says, scriptedModel } from '../../../src/testing/index.ts';
import { collect } from '../../projections/golden.ts';
import { testApi } from '../../support/api.ts';
import { eventually, testRuntime } from '../../support/runtime.ts';

const [ADA, READER, BOB] = ['ada', 'reader', 'bob'].map((name) => name.padEnd(20, '-'));
const access = tokenAccess(`${ADA}=read+write+answer@ada,${READER}=read,${BOB}@bob`);
const as = (token: string | undefined) => ({ authorization: `Bearer ${token}` });
const agents = () => [
  {
    name: 'helper',
    title: 'Helper',
    description: 'helps',
    icon: '/icons/helper.png',
    sideA: { prompt: 'main', label: 'Agent' },
  },
];

describe('/api, the routes of Standard Agents', () => {
  it('creates, reads and deletes a thread, takes a message and lists rows', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime, { agents });
    const made = await api.call('POST', '/api/threads', {
      agent_id: 'helper',
      tags: ['vip'],
      initial_messages: [],
    });
    expect(made).toMatchObject({ status: 200, body: { agent_id: 'helper', threadId: expect.any(String) } });
    const { threadId } = made.body;
    const path = `/api/threads/${threadId}`;
    const sent = await api.call('POST', `${path}/messages`, { role: 'user', content: 'hi' });
    expect(sent).toMatchObject({ status: 202, body: { status: 'queued', messageId: sent.body.queueId } });
    await runtime.client.waitForIdle(threadId);
    const { body: page } = await api.call('GET', `${path}/messages?limit=100&offset=0&order=asc&depth=0`);
    expect(page).toMatchObject({ total: 2, hasMore: false });
    expect(page.messages[0]).toEqual({
      id: sent.body.messageId,
      role: 'user',
      content: 'hi',
      name: null,
      tool_calls: null,
      tool_call_id: null,
      tool_status: null,
      log_id: null,
      created_at: expect.any(Number),
      silent: false,
      parent_id: null,
      depth: 0,
      status: 'completed',
      reasoning_content: null,
      reasoning_details: null,
      attachments: null,
      metadata: expect.any(Object),
      subagent_id: null,
    });
    const [first, second] = page.messages;
    const named = await api.call(
      'GET',
      `${path}/messages?ids=${second.id},none,${first.id}&includeWorkblocks=true`,
    );
    expect(named.body).toEqual({ messages: [second, first], total: 2, hasMore: false });
    const { body: told } = await api.call('GET', path);
    expect(told).toMatchObject({
      thread: {
        id: threadId,
        agent_id: 'helper',
        user_id: null,
        tags: ['vip'],
        parent: null,
        terminated: null,
      },
      agent: {
        id: 'helper',
        title: 'Helper',
        icon: `${api.url}/icons/helper.png`,
        side_a_backing: 'prompt',
        side_a_label: 'Agent',
        side_a_agent_prompt: 'main',
        side_b_backing: 'human',
        side_b_handler: null,
      },
      stats: { message_count: 2, log_count: 1 },
    });
    expect(await api.call('DELETE', `${path}/messages/${first.id}`)).toMatchObject({
      body: { success: true },
    });
    expect((await api.call('DELETE', `${path}/messages/${first.id}`)).status).toBe(404);
    expect((await api.call('GET', `${path}/messages`)).body.total).toBe(1);
    expect(await api.call('POST', `${path}/stop`)).toMatchObject({
      status: 200,
      body: { status: 'stopped' },
    });
  });

  it('stops a running answer; a system message is stored and not answered', async () => {
    const runtime = await testRuntime({ model: scriptedModel([hangs()]) });
    const api = await testApi(runtime);
    const { threadId } = (await api.call('POST', '/api/threads', { agent_id: 'helper' })).body;
    await runtime.client.waitForIdle(threadId);
    const note = await api.call('POST', `/api/threads/${threadId}/messages`, {
      role: 'system',
      content: 'Note.',
    });
    expect(note.status).toBe(202);
    expect((await runtime.client.getThread(threadId)).status).toBe('idle');
    await api.call('POST', `/api/threads/${threadId}/messages`, { role: 'user', content: 'hi' });
    await eventually('the model is asked', async () =>
      (await collect(runtime.client.events(threadId, { follow: false }))).some(
        ({ type }) => type === 'model.called',
      ),
    );
    expect((await api.call('POST', `/api/threads/${threadId}/stop`)).status).toBe(200);
    expect((await runtime.client.waitForIdle(threadId)).status).toBe('stopped');
  });

  it('stores a file sent as bytes or as JSON, lists it, and serves it safely', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const { threadId } = (await api.call('POST', '/api/threads', { agent_id: 'helper' })).body;
    const fs = `/api/threads/${threadId}/fs`;
    const wrote = await api.call('POST', `${fs}/a%20b.txt`, 'hello', { 'content-type': 'text/plain' });
    expect(wrote).toMatchObject({
      status: 201,
      body: {
        id: '/a b.txt',
        type: 'file',
        path: '/a b.txt',
        name: 'a b.txt',
        mimeType: 'text/plain',
        size: 5,
      },
    });
    const page = {
      data: Buffer.from('<p>').toString('base64'),
      mimeType: 'text/html',
      metadata: { width: 3 },
    };
    expect((await api.call('POST', `${fs}/page.html`, page)).body).toMatchObject({ size: 3, width: 3 });
    // A JSON body that is itself the content of the file.
    expect((await api.call('POST', `${fs}/list.json`, [1])).body).toMatchObject({
      mimeType: 'application/json',
    });
    await runtime.client.waitForIdle(threadId);
    const found = await api.call('GET', `${fs}?find=**/*&type=file`);
    expect(found.body.pattern).toBe('**/*');
    expect(found.body.files.map(({ path }: { path: string }) => path)).toEqual([
      '/a b.txt',
      '/list.json',
      '/page.html',
    ]);
    const read = await api.call('GET', `${fs}/a%20b.txt`);
    expect([read.status, read.body]).toEqual([200, 'hello']);
    expect(read.headers.get('x-content-type-options')).toBe('nosniff');
    const html = await api.call('GET', `${fs}/page.html`);
    expect(html.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(html.headers.get('content-security-policy')).toContain('sandbox');
    const text = Buffer.from('seen').toString('base64');
    const attachments = [{ name: 'n.txt', mimeType: 'text/plain', data: text, width: 1, height: 1 }];
    const sent = await api.call('POST', `/api/threads/${threadId}/messages`, {
      role: 'assistant',
      content: '',
      attachments,
    });
    expect(sent.status).toBe(202);
  });

  it('refuses an invalid request with a status and `{ error }`', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { agents });
    const { threadId } = (await api.call('POST', '/api/threads', { agent_id: 'helper' })).body;
    const path = `/api/threads/${threadId}`;
    const refusals: readonly (readonly [number, string, string, unknown?])[] = [
      [400, 'POST', '/api/threads', {}],
      [400, 'POST', '/api/threads', 'no json'],
      [404, 'POST', '/api/threads', { agent_id: 'nobody' }],
      [404, 'GET', '/api/threads/none'],
      [400, 'POST', `${path}/messages`, { role: 'user', content: '' }],
      [400, 'POST', `${path}/messages`, { role: 'robot', content: 'x' }],
      [400, 'GET', `${path}/messages?limit=0`],
      [400, 'GET', `${path}/messages?order=up`],
      [400, 'GET', `${path}/messages?ids=${Array.from({ length: 201 }, (_, n) => n).join(',')}`],
      [404, 'GET', `${path}/fs/none.txt`],
      [400, 'GET', `${path}/fs/%zz`],
      [400, 'POST', `${path}/fs/x.png`, { data: '%%', mimeType: 'image/png' }],
      [426, 'GET', `${path}/stream`],
      [400, 'POST', '/api/auth/websocket-ticket', { pathname: '/v1/threads' }],
      [404, 'POST', '/api/auth/websocket-ticket', { pathname: '/api/threads/none/stream' }],
      [404, 'GET', `${path}/variables/none`],
      [400, 'POST', `${path}/variables/none`, {}],
      [404, 'POST', `${path}/variables/none`, { env: {} }],
      [404, 'GET', `${path}/bridge`],
      [404, 'GET', '/api/nothing'],
    ];
    for (const [status, method, at, body] of refusals) {
      const answer = await api.call(method, at, body);
      expect([method, at, answer.status]).toEqual([method, at, status]);
      expect(answer.body).toMatchObject({ error: expect.any(String) });
    }
  });

  it('requires a token on every route, and hides threads of other users', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const api = await testApi(runtime, { access });
    const threadId = `bobs-${Date.now()}`;
    await runtime.client.startThread({
      agent: 'helper',
      threadId,
      userId: 'bob',
      messages: [{ content: 'hi' }],
    });
    await runtime.client.waitForIdle(threadId);
    const bodies: Readonly<Record<string, object>> = {
      '/api/threads/:threadId/messages': { role: 'user', content: 'x' },
      '/api/auth/websocket-ticket': { pathname: `/api/threads/${threadId}/stream` },
    };
    for (const { method, path, scope } of STANDARD_ROUTES) {
      const at = path.replace(':threadId', threadId).replace(/:\w+|\*/g, 'x');
      const body = method === 'POST' ? (bodies[path] ?? {}) : undefined;
      const ask = async (token?: string) => (await api.call(method, at, body, token ? as(token) : {})).status;
      const asked = [await ask(), await ask('unknown-unknown-unknown'), await ask(ADA)];
      expect([method, path, ...asked]).toEqual([method, path, 401, 401, path === '/api/threads' ? 400 : 404]);
      if (scope !== 'read') expect([method, path, await ask(READER)]).toEqual([method, path, 403]);
    }
    expect((await runtime.client.getMessages(threadId)).total).toBe(2);
    const own = await api.call('POST', '/api/threads', { agent_id: 'helper' }, as(ADA));
    await runtime.client.waitForIdle(own.body.threadId);
    expect(await runtime.client.getThread(own.body.threadId)).toMatchObject({ userId: 'ada' });
    const page = await testApi(runtime);
    const foreign = await page.call('GET', `/api/threads/${threadId}`, undefined, {
      origin: 'https://evil.example',
    });
    expect(foreign).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
  });
});
