/** The limit of open streams, for requests that store something and stream the answer to it. */
import { describe, expect, it } from '@jest/globals';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const REFUSED = { status: 503 };
const asked = { role: 'user', content: 'hi' };

describe('a request that finds no free stream', () => {
  it('is refused before its message is stored, in every protocol', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { streams: 0 });
    const threads = ['chat', 'ag-ui', 'completion', 'execution', 'a2a'];
    for (const threadId of threads) await runtime.client.startThread({ agent: 'helper', threadId });
    const chat = { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] };
    const run = { threadId: 'ag-ui', runId: 'r', messages: [{ id: 'm', ...asked }], tools: [], context: [] };
    const completion = { model: 'helper', messages: [asked], metadata: { thread_id: 'completion' } };
    const task = {
      message: { messageId: 'm', contextId: 'a2a', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    };
    const execution = { agent: 'helper', sessionId: 'execution', message: 'hi', executionId: 'x-1' };
    expect(await api.call('POST', '/v1/agents/helper/chat', chat)).toMatchObject(REFUSED);
    expect(await api.call('POST', '/ag-ui/helper', run)).toMatchObject(REFUSED);
    expect(await api.call('POST', '/v1/chat/completions', completion)).toMatchObject(REFUSED);
    expect(await api.call('POST', '/agents/run/stream', execution)).toMatchObject(REFUSED);
    for (const method of ['send', 'stream'])
      expect(
        await api.call('POST', `/a2a/helper/message:${method}`, task, { 'a2a-version': '1.0' }),
      ).toMatchObject(REFUSED);
    // What was stored before would come before this message.
    for (const threadId of threads) {
      await runtime.client.queueMessage(threadId, { content: 'after' });
      const first = await eventually('the message is stored', async () => {
        const { messages } = await runtime.client.getMessages(threadId);
        return messages.at(0)?.content;
      });
      expect([threadId, first]).toEqual([threadId, 'after']);
    }
  });

  it('is refused before a result of the client’s own tool is taken', async () => {
    const runtime = await testRuntime({ model: scriptedModel([calls('client__weather', {}), says('rain')]) });
    const [open, full] = [await testApi(runtime), await testApi(runtime, { streams: 0 })];
    const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }];
    const first = { model: 'helper', tools, messages: [asked] };
    const { body } = await open.call('POST', '/v1/chat/completions', first);
    const { message } = body.choices[0];
    const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' };
    const second = { ...first, messages: [asked, message, result] };
    expect(await full.call('POST', '/v1/chat/completions', second)).toMatchObject(REFUSED);
    expect(await runtime.client.getWait(result.tool_call_id)).toMatchObject({ state: 'open' });
    expect(await open.call('POST', '/v1/chat/completions', second)).toMatchObject({ status: 200 });
  });
});
