/** What A2A forbids: accessing other users' tasks, using another version, starting without required values. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { tokenAccess } from '../../../src/server/api/access.ts';
import { says, scriptedModel } from '../../../src/testing/index.ts';
import { a2aClient, answerOf, asTask, sending, stateOf, textsOf } from '../../support/a2a.ts';
import { testApi } from '../../support/api.ts';
import { envRuntime } from '../../support/env-project.ts';
import { testRuntime } from '../../support/runtime.ts';

const [ADA, BOB, READER] = ['ada-0123456789abcdef', 'bob-0123456789abcdef', 'reader-0123456789ab'];
const access = tokenAccess(`${ADA}=read+write+answer@ada,${BOB}=read+write@bob,${READER}=read`);
const VERSION = { 'a2a-version': '1.0' };
const as = (token: string) => ({ ...VERSION, authorization: `Bearer ${token}` });
const message = (more = {}) => ({ messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more });

describe('the A2A endpoint', () => {
  it('hides tasks of other users, refuses a token without the scope, and serves the agent card without a token', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!'), says('Hello too!')]) });
    const api = await testApi(runtime, { access });
    const path = '/a2a/helper';
    expect((await api.call('GET', `${path}/.well-known/agent-card.json`)).body).toMatchObject({
      name: 'helper',
      supportedInterfaces: [{ url: `${api.url}${path}`, protocolBinding: 'JSONRPC' }, {}],
    });
    expect((await api.call('POST', `${path}/message:send`, { message: message() }, VERSION)).status).toBe(
      401,
    );
    const sent = await api.call('POST', `${path}/message:send`, { message: message() }, as(ADA));
    const { id, contextId } = sent.body.task;
    const own = await api.call('GET', `${path}/tasks/${id}`, undefined, as(ADA));
    expect([own.status, own.body.status.state]).toEqual([200, 'TASK_STATE_COMPLETED']);
    const codes = async (method: string, tail: string, body?: unknown) => {
      const { status, body: answer } = await api.call(method, `${path}${tail}`, body, as(BOB));
      return [status, answer.error?.status ?? answer.code];
    };
    expect(await codes('GET', `/tasks/${id}`)).toEqual([404, 'TASK_NOT_FOUND']);
    expect(await codes('POST', `/tasks/${id}:cancel`)).toEqual([404, 'TASK_NOT_FOUND']);
    expect(await codes('POST', `/tasks/${id}:subscribe`)).toEqual([404, 'TASK_NOT_FOUND']);
    expect(await codes('POST', '/tasks/cancel', { id })).toEqual([404, 'ExecutionNotFound']);
    expect(await codes('GET', `/tasks?contextId=${contextId}`)).toEqual([404, 'TASK_NOT_FOUND']);
    const into = { message: message({ contextId, messageId: 'm-2' }) };
    expect(await codes('POST', '/message:send', into)).toEqual([404, 'TASK_NOT_FOUND']);
    // The same message id from another user is another message.
    const other = await api.call('POST', `${path}/message:send`, { message: message() }, as(BOB));
    expect(other.body.task.contextId).not.toBe(contextId);
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message() } };
    expect((await api.call('POST', path, rpc, as(READER))).body).toMatchObject({ code: 'Forbidden' });
  });

  it('answers an invalid request with the A2A error code for it', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const refused = async (body: unknown, headers: Readonly<Record<string, string>> = VERSION) => {
      const { status, body: answer } = await api.call('POST', '/a2a/helper', body, headers);
      return [status, answer.id, answer.error?.code];
    };
    const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
    expect(await refused('{')).toEqual([200, null, -32700]);
    expect(await refused({ id: 7 })).toEqual([200, null, -32600]);
    expect(await refused(rpc('Nothing'))).toEqual([200, 7, -32601]);
    expect(await refused(rpc('GetTask', { id: 'x' }), {})).toEqual([200, 7, -32009]);
    expect(await refused(rpc('SendMessage', { message: { messageId: 'm' } }))).toEqual([200, 7, -32602]);
    expect(await refused(rpc('SendMessage', { message: message({ parts: [{}] }) }))).toEqual([
      200, 7, -32602,
    ]);
    expect(await refused(rpc('ListTasks', { status: 'TASK_STATE_DONE' }))).toEqual([200, 7, -32602]);
    expect(await refused(rpc('ListTasks', { status: 'TASK_STATE_REJECTED' }))).toEqual([200, 7, undefined]);
    const listed = await api.call('GET', '/a2a/helper/tasks?status=completed', undefined, VERSION);
    expect(listed.status).toBe(400);
    const pushed = { message: message(), configuration: { taskPushNotificationConfig: { url: 'http://x' } } };
    expect(await refused(rpc('SendMessage', pushed))).toEqual([200, 7, -32003]);
    expect(await refused(rpc('GetExtendedAgentCard'))).toEqual([200, 7, -32007]);
    // A different text under the id of a message that was accepted in its context.
    const contextId = randomUUID();
    const { body } = await api.call(
      'POST',
      '/a2a/helper',
      rpc('SendMessage', { message: message({ contextId }) }),
      VERSION,
    );
    expect(body.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const changed = message({ contextId, parts: [{ text: 'something else' }] });
    expect(await refused(rpc('SendMessage', { message: changed }))).toEqual([200, 7, -32602]);
  });

  it('fails a task that lacks required variables and names them; its context continues once they are set', async () => {
    const runtime = await envRuntime({
      model: scriptedModel([says('Hello!')]),
      agent: { variables: [{ name: 'KEY', required: true }] },
    });
    const api = await testApi(runtime);
    const client = await a2aClient(`${api.url}/a2a/helper/`);
    const lacking = asTask(await client.sendMessage(sending('hi')));
    expect(stateOf(lacking)).toBe('TASK_STATE_FAILED');
    expect(textsOf(lacking.status?.message?.parts ?? [])).toContain('"KEY"');
    const { contextId } = lacking;
    await runtime.client.setEnv({ thread: contextId }, 'KEY', 'a secret');
    const done = asTask(await client.sendMessage(sending('now', { contextId })));
    expect([stateOf(done), answerOf(done)]).toEqual(['TASK_STATE_COMPLETED', 'Hello!']);
  });
});
