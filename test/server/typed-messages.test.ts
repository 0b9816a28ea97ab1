/** Messages over HTTP with the type of their answer: by the client, and by a plain request. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest, testRuntime } from '../support/runtime.ts';

const output = z.object({ line: z.string() });
const schema = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] };
const answer = (line: string) => says(JSON.stringify({ line }));

describe('a message over HTTP with the type of its answer', () => {
  it('is started with, sent, and answered again with another type', async () => {
    const model = scriptedModel([answer('one'), says('no'), answer('two'), says('{"n":3}')]);
    const { url } = await testApi(await testRuntime({ model }));
    const client = await RuntimeClient.connect({ url, patienceMs: 120_000 });
    closeAfterTest(() => client.close());
    const { threadId } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'Go.', output }],
    });
    const value = async () => (await client.waitForIdle(threadId)).output;
    expect(await value()).toEqual({ line: 'one' });
    await client.queueMessage(threadId, { content: 'Go on.', output: schema });
    expect(await value()).toEqual({ line: 'two' });
    await client.supersede(threadId, { output: { type: 'object', required: ['n'] } });
    expect(await value()).toEqual({ n: 3 });
    const refused = client.queueMessage(threadId, { content: 'x', output: { type: 'array' } });
    await expect(refused).rejects.toMatchObject({ code: 'InvalidSchema' });
  });

  it('is refused with its reason, and leaves nothing in line', async () => {
    const runtime = await testRuntime({ model: scriptedModel([answer('one')]) });
    const api = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    const send = (more: object) =>
      api.call('POST', `/v1/threads/${threadId}/messages`, { content: 'x', ...more });
    const refused = await send({ output: { type: 'object', properties: { a: { $ref: 'http://x/y' } } } });
    expect([refused.status, refused.body.code]).toEqual([400, 'InvalidSchema']);
    expect(refused.body.detail).toMatch(/same document/);
    expect((await send({ role: 'assistant', output: schema })).body.code).toBe('InvalidMessage');
    expect((await send({ output: schema })).status).toBe(202);
    expect((await runtime.client.waitForIdle(threadId)).output).toEqual({ line: 'one' });
    const thread = await api.call('GET', `/v1/threads/${threadId}`);
    expect(thread.body.output).toEqual({ line: 'one' });
    expect(await runtime.messages(threadId)).toHaveLength(2);
  });
});

describe('a message by a plain signal with the type of its answer', () => {
  it('is taken, or rejected with its reason', async () => {
    const { client, store } = await testRuntime({ model: scriptedModel([answer('one')]) });
    const { threadId } = await client.startThread({ agent: 'helper' });
    const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
    await handle.signal('queueMessage', { id: 'bad', content: 'x', output: { type: 'list' } });
    await handle.signal('queueMessage', { id: 'good', content: 'x', output: schema });
    const { output: value } = await client.waitForIdle(threadId, {
      sent: { ids: ['good'], words: ['good'], signalled: false },
    });
    expect(value).toEqual({ line: 'one' });
    const rejected = (await store.events.read(threadId, 0)).filter(({ type }) => type === 'item.rejected');
    expect(rejected.map(({ data }) => data)).toEqual([
      { id: 'bad', code: 'InvalidMessage', reason: expect.stringContaining('"output" has "/type"') },
    ]);
  });
});
