/** What models were sent, as the API and the command show it: compared with what each provider has received. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import type { ProviderRequest } from '../../src/core/message/provider.ts';
import { canonicalJson } from '../../src/core/value/canonical-json.ts';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { toChatBody } from '../../src/models/openai-request.ts';
import type { ModelCallRecord, ShownRequest } from '../../src/store/request/request-record.ts';
import { showMessage } from '../../src/store/request/shown-message.ts';
import {
  calls,
  disconnects,
  fails,
  hangs,
  type RecordedRequest,
  type ScriptedModel,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { agentOf } from '../support/agent-of.ts';
import { testApi } from '../support/api.ts';
import { png } from '../support/image.ts';
import { consulting } from '../support/prompt-project.ts';
import { closeAfterTest, eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

const photo = { name: 'photo.png', mimeType: 'image/png', data: png(40, 30) };
const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'a view' }) });

/** A request as it is shown: what is no text has its digest. */
function asShown({ messages, ...rest }: RecordedRequest): unknown {
  const shown = messages.map((message) => JSON.parse(showMessage(message).text));
  return JSON.parse(JSON.stringify({ ...rest, messages: shown }));
}

async function readAll({ client }: TestRuntime, threadId: string) {
  const listed = await client.listModelCalls(threadId);
  const requests = await Promise.all(listed.map(({ id }) => client.getRequest(threadId, id)));
  return { listed, requests };
}

/** Every request of the models is kept, as canonical JSON, and no other. */
async function expectKept(
  runtime: TestRuntime,
  threadId: string,
  ...models: readonly ScriptedModel[]
): Promise<{ listed: readonly ModelCallRecord[]; requests: readonly ShownRequest[] }> {
  const read = await readAll(runtime, threadId);
  const sent = models.flatMap(({ requests }) => requests.map((each) => canonicalJson(asShown(each))));
  const kept = read.requests.map(({ request }) => JSON.stringify(request));
  expect(kept.sort()).toEqual(sent.sort());
  expect(read.requests.flatMap(({ gaps }) => gaps)).toEqual([]);
  return read;
}

describe('requests of a thread’s model calls', () => {
  it('are those that its models received: steps, calls, images, another execution', async () => {
    const model = scriptedModel([calls('look'), says('nice'), says('again')]);
    const runtime = await testRuntime({ model, tools: { look } });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'What is it?', attachments: [photo] }],
    });
    await runtime.client.waitForIdle(threadId);
    await runtime.say(threadId, 'and now?');
    const { listed, requests } = await expectKept(runtime, threadId, model);
    expect(listed.map(({ id, kind, status }) => [id, kind, status])).toEqual([
      ['1.1.1', 'step', 'ok'],
      ['2.1.1', 'step', 'ok'],
      ['3.1.1', 'step', 'ok'],
    ]);
    expect(requests.map(({ changedFrom }) => changedFrom)).toEqual([null, '1.1.1', '2.1.1']);
    expect(JSON.stringify(requests)).not.toContain(Buffer.from(photo.data).toString('base64'));
  });

  it('are those of each attempt: a plain call after a broken stream, repetitions, fallbacks', async () => {
    const first = scriptedModel([disconnects({ after: 'half' }), fails({ status: 400, message: 'no' })]);
    const second = scriptedModel([says('whole')]);
    const registry = agentOf({
      first: { script: first, capabilities: { supportsImages: false } },
      second: { script: second, providerOptions: { seed: 7 } },
    });
    const runtime = await testRuntime({ registry });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'What is it?', attachments: [photo] }],
    });
    await runtime.client.waitForIdle(threadId);
    const { listed } = await expectKept(runtime, threadId, first, second);
    expect(listed.map(({ id, model, status }) => [id, model, status])).toEqual([
      ['1.1.1', 'first', 'error'],
      ['1.1.2', 'first', 'error'],
      ['1.1.3', 'second', 'ok'],
    ]);
  });

  it('are those of sub-prompts', async () => {
    const model = scriptedModel([calls('consult', { topic: 'tea' }), says('Green.'), says('It is green.')]);
    const runtime = await consulting(model);
    const threadId = await runtime.start('which tea?');
    const { listed } = await expectKept(runtime, threadId, model);
    expect(listed.map(({ kind, prompt }) => [kind, prompt])).toEqual([
      ['step', 'main'],
      ['sub_prompt', 'consult'],
      ['step', 'main'],
    ]);
  });

  it('are those of summaries, and begin with them', async () => {
    const model = scriptedModel((request) =>
      request.messages[0]?.content === INSTRUCTIONS ? says('a summary') : says('re'),
    );
    const guards = { compaction: { thresholdMessages: 8, retainRecentMessages: 4 } };
    const runtime = await testRuntime({ model, agent: { guards } });
    const threadId = await runtime.start();
    for (let word = 1; word <= 7; word += 1) await runtime.say(threadId, `word ${word}`);
    const { listed, requests } = await expectKept(runtime, threadId, model);
    const at = listed.findIndex(({ kind }) => kind === 'summary');
    expect(requests[at]).toMatchObject({ id: expect.stringMatching(/^\d+\.1\.1001$/), changedFrom: null });
    // The answer of the same step, whose request comes after the summary and begins with it.
    expect(requests[at - 1]?.changedFrom).toBe(listed[at - 2]?.id);
    expect(requests[at - 1]?.diff.filter(({ change }) => change === 'removed').length).toBeGreaterThan(3);
    // The record that the model summarised quotes the messages that it covers.
    const { messages } = await runtime.client.getMessages(threadId);
    expect(JSON.stringify(requests[at])).toContain('word 1');
    await runtime.client.updateMessage(threadId, messages[0]?.id ?? '', { content: 'another' });
    const left = await runtime.client.getRequest(threadId, requests[at]?.id ?? '');
    expect(left.gaps).toEqual([{ position: 1, reason: 'edited' }]);
    expect(JSON.stringify(left)).not.toContain('word 1');
  });

  it('are those that hooks have changed', async () => {
    let turn = 0;
    const hooks = [
      defineHook({
        hook: 'prefilter_llm_history',
        id: 'mask',
        execute: (_state, messages) => {
          turn += 1;
          return [
            ...messages.map((each) =>
              each.role === 'user' ? { ...each, content: `masked ${String(each.content).length}` } : each,
            ),
            { role: 'user' as const, content: `turn ${turn}` },
          ];
        },
      }),
      defineHook({
        hook: 'after_system_message',
        id: 'today',
        execute: (_state, text) => `${text} Turn ${turn}.`,
      }),
    ];
    const model = scriptedModel([calls('look'), says('nice'), says('again')]);
    const registry = agentOf({ main: { script: model } }, {}, { look }, hooks as never);
    const runtime = await testRuntime({ registry });
    const threadId = await runtime.start('My number is 4711.');
    await runtime.say(threadId, 'and now?');
    const { requests } = await expectKept(runtime, threadId, model);
    expect(requests[1]?.diff).toContainEqual({ position: 0, change: 'changed' });
  });

  it('are those that a stop has cut off', async () => {
    const model = scriptedModel([hangs({ after: 'I am' })]);
    const runtime = await testRuntime({ model });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go on' }],
    });
    await eventually('a request', () => model.requests.length === 1);
    await expect(runtime.client.getRequest(threadId, '1.1.1')).rejects.toMatchObject({
      code: 'RequestRemoved',
      message: expect.stringContaining('has not ended'),
    });
    await runtime.client.stop(threadId);
    await eventually('the request', async () => {
      const [call] = await runtime.client.listModelCalls(threadId);
      return call?.request === 'kept';
    });
    await expectKept(runtime, threadId, model);
  });

  it('are byte for byte what openaiCompatible sends', async () => {
    const bodies: unknown[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(JSON.parse((await request.toArray()).join('')));
      const first = bodies.length === 1;
      const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1}' } };
      const message = first ? { content: null, tool_calls: [call] } : { content: 'nice' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: 'r',
          choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closeAfterTest(async () => {
      server.close();
      server.closeAllConnections();
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const provider = openaiCompatible({ baseUrl, apiKey: 'sk-test-0123456789abcdef' });
    const registry = agentOf(
      {
        main: {
          script: { provider } as ScriptedModel,
          capabilities: { supportsStreaming: false },
          providerOptions: { seed: 7 },
        },
      },
      { toolChoice: 'auto' },
      { look },
    );
    const runtime = await testRuntime({ registry });
    const threadId = await runtime.start('Look — “there”: \u{1F600} \\ \n"x"');
    const { requests } = await readAll(runtime, threadId);
    expect(bodies).toHaveLength(2);
    const sent = requests.map(({ request }) => ({
      ...JSON.parse(JSON.stringify(toChatBody(request as unknown as ProviderRequest, 'compatible'))),
      stream: false,
    }));
    expect(sent).toEqual(bodies);
    expect(JSON.stringify(requests)).not.toContain('sk-test');
  });
});

describe('the API', () => {
  it('lists the model calls of a thread page by page, and shows the request of each', async () => {
    const model = scriptedModel([calls('look'), says('nice')]);
    const runtime = await testRuntime({ model, tools: { look } });
    const threadId = await runtime.start('look');
    const api = await testApi(runtime);
    const path = `/v1/threads/${threadId}/model-calls`;
    const first = await api.call('GET', `${path}?limit=1`);
    expect(first.body).toMatchObject({ modelCalls: [{ id: '1.1.1', request: 'kept' }], cursor: '1.1.1' });
    const rest = await api.call('GET', `${path}?after=${first.body.cursor}`);
    expect(rest.body).toMatchObject({ modelCalls: [{ id: '2.1.1' }], cursor: null });
    const { body } = await api.call('GET', `${path}/2.1.1/request`);
    expect(body).toEqual(await runtime.client.getRequest(threadId, '2.1.1'));
    expect(body.request.messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    const unknown = await api.call('GET', `${path}/9.1.1/request`);
    expect([unknown.status, unknown.body.code]).toEqual([404, 'ModelCallNotFound']);
    const invalid = await api.call('GET', `${path}?after=first`);
    expect([invalid.status, invalid.body.code]).toEqual([400, 'InvalidValue']);
  });
});
