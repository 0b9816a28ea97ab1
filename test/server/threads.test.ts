/** Threads over HTTP: started, messaged, read, ended, through a real socket. */
import { describe, expect, it } from '@jest/globals';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { fails, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

describe('/v1/threads', () => {
  it('starts a thread, sends a message, and reads the answers', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!'), says('Bye!')]) });
    const api = await testApi(runtime);
    const started = await api.call('POST', '/v1/threads', { agent: 'helper', messages: [{ content: 'hi' }] });
    expect(started).toMatchObject({ status: 201, body: { threadId: expect.any(String) } });
    const { threadId } = started.body;
    expect(started.headers.get('location')).toBe(`/v1/threads/${threadId}`);
    await runtime.client.waitForIdle(threadId);
    const sent = await api.call(
      'POST',
      `/v1/threads/${threadId}/messages`,
      { content: 'bye' },
      { 'idempotency-key': 'm-2' },
    );
    expect(sent).toMatchObject({ status: 202, body: { id: 'm-2' } });
    const again = await api.call(
      'POST',
      `/v1/threads/${threadId}/messages`,
      { content: 'bye' },
      { 'idempotency-key': 'm-2' },
    );
    expect(again.body).toEqual({ id: 'm-2' });
    await runtime.client.waitForIdle(threadId);
    const { body } = await api.call('GET', `/v1/threads/${threadId}/messages`);
    expect(body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'hi',
      'Hello!',
      'bye',
      'Bye!',
    ]);
    const thread = await api.call('GET', `/v1/threads/${threadId}`);
    expect(thread).toMatchObject({ status: 200, body: { id: threadId, status: 'idle', agent: 'helper' } });
    const listed = await api.call('GET', '/v1/threads?limit=1');
    expect(listed.body.threads).toHaveLength(1);
    expect((await api.call('GET', `/v1/threads/${threadId}/family`)).body.family).toHaveLength(1);
    expect((await api.call('POST', `/v1/threads/${threadId}/terminate`, {})).status).toBe(200);
    const refused = await api.call('POST', `/v1/threads/${threadId}/messages`, { content: 'more' });
    expect(refused).toMatchObject({ status: 410, body: { code: 'ThreadTerminated' } });
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
  });

  it('continues a stopped thread with its queued message, without another message', async () => {
    const model = scriptedModel([hangs(), says('both')]);
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const client = await RuntimeClient.connect({ url: api.url });
    closeAfterTest(() => client.close());
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    await eventually('the model is asked', () => model.requests.length === 1);
    await client.queueMessage(threadId, { content: 'two' });
    await client.stop(threadId, 'enough');
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped', stopReason: 'enough' });
    await client.continue(threadId);
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(await runtime.transcript(threadId)).toEqual(['user: one', 'user: two', 'assistant: both']);
  });

  it('continues a failed thread with an empty queue from its history, as a new execution', async () => {
    const model = scriptedModel([fails({ status: 400, message: 'no' }), says('better'), says('and more')]);
    const runtime = await testRuntime({ model });
    const api = await testApi(runtime);
    const client = await RuntimeClient.connect({ url: api.url });
    closeAfterTest(() => client.close());
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'failed' });
    await client.continue(threadId);
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle', lastError: null });
    expect(await runtime.transcript(threadId)).toEqual(['user: one', 'assistant: better']);
    const path = `/v1/threads/${threadId}/continue`;
    expect(await api.call('POST', path)).toMatchObject({ status: 202, body: { threadId } });
    await eventually('it has gone on', async () => (await client.getMessages(threadId)).total === 3);
    await client.waitForIdle(threadId);
    const events = await runtime.store.events.read(threadId, 0);
    expect(eventsOf(events, 'execution.started')).toHaveLength(3);
    expect(eventsOf(events, 'step.started').map(({ data }) => data.items)).toEqual([1, 0, 0]);
    await runtime.client.terminate(threadId);
    expect(await api.call('POST', path)).toMatchObject({ status: 410, body: { code: 'ThreadTerminated' } });
  });

  it('ignores a request to continue a thread that is running', async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel(async (_request, index) => {
      if (index === 0) await gate.promise;
      return says(`answer ${index}`);
    });
    const { client, ...runtime } = await testRuntime({ model });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    await eventually('the model is asked', () => model.requests.length === 1);
    await client.continue(threadId);
    // A query is answered after the signals that came before it.
    await askStatus(client.temporal.workflow.getHandle(`thread/${threadId}`));
    gate.resolve();
    await client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual(['user: one', 'assistant: answer 0']);
    expect(model.requests).toHaveLength(1);
  });

  it('starts an execution in a thread without messages', async () => {
    const { client, ...runtime } = await testRuntime({ model: scriptedModel([says('welcome')]) });
    const { threadId } = await client.startThread({ agent: 'helper' });
    await client.waitForIdle(threadId);
    await client.continue(threadId);
    await client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual(['assistant: welcome']);
  });

  it('answers each kind of bad input with a problem and its code, and changes nothing', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const thread = await runtime.start();
    const bad = async (method: string, path: string, body?: unknown) => {
      const { status, body: problem } = await api.call(method, path, body);
      return [status, problem.code, problem.detail];
    };
    expect(await bad('GET', '/v1/threads/nowhere')).toEqual([
      404,
      'ThreadNotFound',
      expect.stringContaining('nowhere'),
    ]);
    expect(await bad('GET', '/v1/nothing')).toEqual([
      404,
      'RouteNotFound',
      expect.stringContaining('/v1/nothing'),
    ]);
    expect(await bad('DELETE', '/v1/threads')).toEqual([
      405,
      'MethodNotAllowed',
      expect.stringContaining('GET, POST'),
    ]);
    expect(await bad('POST', '/v1/threads', '{"agent"')).toEqual([
      400,
      'InvalidRequest',
      expect.stringContaining('JSON'),
    ]);
    expect(await bad('POST', '/v1/threads', { agnet: 'x' })).toEqual([
      400,
      'InvalidRequest',
      expect.stringContaining('agent'),
    ]);
    expect(await bad('GET', '/v1/threads?limit=0')).toEqual([
      400,
      'InvalidRequest',
      expect.stringContaining('limit'),
    ]);
    expect(await bad('GET', `/v1/threads/${thread}/events?after=x`)).toEqual([
      400,
      'InvalidRequest',
      expect.stringContaining('"x"'),
    ]);
    expect(await bad('GET', `/v1/threads/${thread}/events?after=999999`)).toEqual([
      400,
      'InvalidCursor',
      expect.any(String),
    ]);
    expect(await bad('GET', '/v1/waits/none')).toEqual([404, 'WaitNotFound', expect.any(String)]);
    expect(await bad('GET', '/v1/runs/none')).toEqual([404, 'ExecutionNotFound', expect.any(String)]);
    expect(await bad('POST', `/v1/threads/${thread}/cancel`, {})).toEqual([
      404,
      'ExecutionNotFound',
      expect.any(String),
    ]);
    expect((await runtime.client.getMessages(thread)).total).toBe(0);
  });
});
