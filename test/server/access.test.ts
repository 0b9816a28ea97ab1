/**
 * Authentication and what a token gives access to: every route of the table, with another user's token and with none.
 */
import { request as httpRequest } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { tokenAccess } from '../../src/server/api/access.ts';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

const [ALL, ADA, READER, ANSWERER] = ['all', 'ada', 'reader', 'answerer'].map((name) => name.padEnd(20, '-'));
const access = tokenAccess(`${ALL},${ADA}=read+write+answer@ada,${READER}=read,${ANSWERER}=answer`);
const as = (token: string | undefined) => ({ authorization: `Bearer ${token}`, 'a2a-version': '1.0' });

/** The path of a valid request, for a thread of another user. */
function toRequest(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');
}

const BODIES: Readonly<Record<string, object>> = {
  startThread: { agent: 'helper' },
  sendMessage: { content: 'hi' },
  answerWait: { approved: true },
  updateThread: { tags: ['mine'] },
  updateMessage: { content: 'mine' },
  signFileAddress: { path: '/x' },
  reconcileAction: { completed: true },
};

/**
 * Routes that name no thread of another user: the caller's own threads, the agents, and a new thread of the caller's.
 */
const OWN = new Set([
  ...['get /v1/threads', 'post /v1/threads', 'get /v1/tasks', 'post /v1/tasks'],
  ...['get /v1/agents', 'get /v1/agents/{agent}', 'get /v1/models', 'get /a2a/{agent}/tasks'],
  ...['get /v1/whoami', 'get /v1/server', 'get /v1/threads/counts', 'get /v1/threads/changes'],
]);

/** Error code of A2A over JSON-RPC. */
const TASK_NOT_FOUND = -32_001;

describe('access to the API', () => {
  it('requires a token on every route but the two of the service, and hides threads of other users', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const api = await testApi(runtime, { access });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      userId: 'bob',
      messages: [{ content: 'hi' }],
    });
    await runtime.client.waitForIdle(threadId);
    const [run] = await runtime.client.runs.list({ threadId });
    const ids = {
      threadId,
      agent: 'helper',
      chatId: threadId,
      runId: run?.id ?? '',
      waitId: 'none',
      messageId: 'none',
      effectId: 'none',
      tokenId: 'none',
      taskId: 'none',
      key: 'none',
    };
    const outcomes = new Map<string, readonly [number, number, number]>();
    const bodies: Readonly<Record<string, object>> = {
      ...BODIES,
      createCompletion: {
        model: 'helper',
        messages: [{ role: 'user', content: 'hi' }],
        metadata: { thread_id: threadId },
      },
      callAgent: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: run?.id } },
      runAgUi: { threadId, runId: 'r', messages: [{ id: 'm-9', role: 'user', content: 'hi' }] },
      chat: { id: threadId, message: { id: 'm-9', role: 'user', parts: [{ type: 'text', text: 'hi' }] } },
    };
    for (const { method, path, scope, document } of API_ROUTES) {
      const body =
        method === 'get' || method === 'delete' ? undefined : (bodies[document.operationId ?? ''] ?? {});
      const query = path.endsWith('/file') ? '?path=/x' : '';
      const ask = async (headers: Readonly<Record<string, string>>) => {
        const request = [method.toUpperCase(), toRequest(path, ids) + query] as const;
        const { status, body: answer } = await api.call(...request, body, headers);
        // JSON-RPC reports a missing task within a successful response.
        return status === 200 && answer?.error?.code === TASK_NOT_FOUND ? 404 : status;
      };
      if (method === 'get' && scope !== 'none') {
        const head = await api.call('HEAD', toRequest(path, ids) + query);
        expect([path, head.status]).toEqual([path, 401]);
      }
      const told = [await ask({}), await ask(as('unknown-unknown-unknown')), await ask(as(ADA))] as const;
      if (scope === 'none') expect(told).toEqual([200, 200, 200]);
      else outcomes.set(`${method} ${path}`, told);
    }
    for (const [route, [none, unknown, foreign]] of outcomes) {
      expect([route, none, unknown]).toEqual([route, 401, 401]);
      if (route.includes('/v1/tokens')) {
        expect([route, foreign]).toEqual([route, 403]);
        continue;
      }
      const own = OWN.has(route);
      // A page requests the stream and the messages of its chat before one exists.
      const isStream = route.endsWith('/chat/{chatId}/stream');
      const nothing = isStream ? 204 : route.endsWith('/chat/{chatId}/messages') ? 200 : 404;
      // Lists over all threads require a thread id; if the path has one, the rest of the request is not read.
      const unnamed = foreign === 400 && !route.includes('{threadId}');
      expect([route, foreign]).toEqual([route, own ? expect.any(Number) : unnamed ? 400 : nothing]);
    }
    expect((await api.call('GET', '/v1/threads', undefined, as(ADA))).body.threads).not.toContainEqual(
      expect.objectContaining({ userId: 'bob' }),
    );
    const chat = `/v1/agents/helper/chat/${threadId}/messages`;
    expect((await api.call('GET', chat, undefined, as(ADA))).body).toEqual({ messages: [], before: null });
    expect((await api.call('GET', '/v1/waits', undefined, as(ADA))).body.code).toBe('InvalidRequest');
    expect(await runtime.client.getThread(threadId)).toMatchObject({ status: 'idle', terminatedAt: null });
    expect((await runtime.client.getMessages(threadId)).total).toBe(2);
  });

  it('limits a token to its scopes, and gives a thread to the user of the token that started it', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { access });
    const refused = async (token: string | undefined, method: string, path: string, body?: object) => {
      const { status, body: problem } = await api.call(method, path, body, as(token));
      return [status, problem.code];
    };
    expect(await refused(READER, 'POST', '/v1/threads', { agent: 'helper' })).toEqual([403, 'Forbidden']);
    expect(await refused(READER, 'POST', '/v1/waits/x/answer', { approved: true })).toEqual([
      403,
      'Forbidden',
    ]);
    expect(await refused(ANSWERER, 'GET', '/v1/threads')).toEqual([403, 'Forbidden']);
    expect(await refused(ANSWERER, 'POST', '/v1/waits/x/answer', { approved: true })).toEqual([
      404,
      'WaitNotFound',
    ]);
    const { body } = await api.call('POST', '/v1/threads', { agent: 'helper', userId: 'bob' }, as(ADA));
    await runtime.client.waitForIdle(body.threadId);
    expect(await runtime.client.getThread(body.threadId)).toMatchObject({ userId: 'ada' });
    expect((await api.call('GET', `/v1/threads/${body.threadId}`, undefined, as(ADA))).status).toBe(200);
    expect((await api.call('GET', `/v1/threads/${body.threadId}`, undefined, as(ALL))).status).toBe(200);
  });

  it('refuses requests of web pages when no tokens are set, also under a host name that resolves to this machine', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    expect((await api.call('GET', '/v1/threads')).status).toBe(200);
    const page = await api.call('GET', '/v1/threads', undefined, { origin: 'https://evil.example' });
    expect(page).toMatchObject({ status: 403, body: { code: 'Forbidden' } });
    expect(
      (await api.call('GET', '/v1/threads', undefined, { origin: 'http://localhost:5173' })).status,
    ).toBe(200);
    // Simulates a name that resolves to this machine; with `httpRequest`, since `fetch` sets the host header itself.
    const status = await new Promise((resolve, reject) => {
      httpRequest(`${api.url}/v1/threads`, { headers: { host: 'evil.example' } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
    expect(
      (await api.call('OPTIONS', '/v1/threads', undefined, { origin: 'https://evil.example' })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull();
  });
});
