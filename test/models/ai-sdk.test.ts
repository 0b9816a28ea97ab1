import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV2,
  LanguageModelV2Prompt,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import type { ProviderMessage, ProviderRequest } from '../../src/core/message/provider.ts';
import { toCallOptions } from '../../src/models/ai-sdk-request.ts';
import { callModel } from '../../src/models/call-model.ts';
import { type AiSdkLanguageModel, aiSdk } from '../../src/models/index.ts';
import {
  calls,
  disconnects,
  fails,
  hangs,
  type ScriptedServer,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { ask, collect, defineTestModel, until } from './support.ts';

const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A scripted server, and an AI SDK provider as its client. */
async function connectTo(script: ReturnType<typeof scriptedModel>) {
  const server = await script.serve();
  servers.push(server);
  const sdk = createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true });
  return aiSdk((modelId) => sdk(modelId));
}

const usage = { promptTokens: 9, completionTokens: 4, totalTokens: 13, cachedTokens: 3, reasoningTokens: 2 };

test('[definitions 5.1] language models of every version of the AI SDK fit by shape', () => {
  // Checked by the compiler: our types import no package, and must stay compatible with the real ones.
  const asOurs = (model: LanguageModelV2 | LanguageModelV3 | LanguageModelV4): AiSdkLanguageModel => model;
  const model = asOurs(createOpenAICompatible({ name: 'any', baseURL: 'http://127.0.0.1:1/v1' })('m'));
  expect(model).toMatchObject({ specificationVersion: 'v4', modelId: 'm', provider: 'any.chat' });
});

test('[definitions 5.3] a complete answer carries content, tool calls, usage and id', async () => {
  const script = scriptedModel([
    says('Hello', { reasoning: 'hm', usage }),
    calls('add', { a: 1 }, { text: 'Adding.' }),
    calls('add', '{"a": 1'),
  ]);
  const provider = (await connectTo(script))({ apiKey: '' });
  expect(await provider.generate(ask('hello'))).toEqual({
    content: 'Hello',
    reasoning: 'hm',
    finishReason: 'stop',
    usage,
    responseId: 'scripted-1',
  });
  expect(await provider.generate(ask('go'))).toMatchObject({
    content: 'Adding.',
    toolCalls: [{ id: 'call_1', name: 'add', arguments: { a: 1 } }],
    finishReason: 'tool_calls',
  });
  expect((await provider.generate(ask('go'))).toolCalls).toEqual([
    { id: 'call_2', name: 'add', arguments: {}, rawArguments: '{"a": 1' },
  ]);
});

test('[definitions 5.4] a streamed answer arrives in chunks and ends with usage', async () => {
  const script = scriptedModel([says('Hello', { reasoning: 'hm', usage })]);
  const provider = (await connectTo(script))({ apiKey: '' });
  expect(await collect(await provider.stream(ask('hello')))).toEqual([
    { type: 'reasoning-delta', delta: 'hm' },
    { type: 'reasoning-done' },
    { type: 'content-delta', delta: 'Hel' },
    { type: 'content-delta', delta: 'lo' },
    { type: 'content-done' },
    { type: 'finish', finishReason: 'stop', usage, responseId: 'scripted-1' },
  ]);
});

test('[definitions 5.4] streamed tool calls are assembled', async () => {
  const provider = (await connectTo(scriptedModel([calls('add', { a: 1 })])))({ apiKey: '' });
  const chunks = await collect(await provider.stream(ask('go')));
  expect(chunks[0]).toEqual({ type: 'tool-call-start', id: 'call_1', name: 'add' });
  expect(chunks.at(-2)).toEqual({ type: 'tool-call-done', id: 'call_1', name: 'add', arguments: '{"a":1}' });
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool_calls' });
});

const conversation: ProviderMessage[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Look:' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ],
  },
  { role: 'assistant', content: 'Adding.', toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }] },
  { role: 'tool', toolCallId: 'c1', toolName: 'add', content: '2' },
  { role: 'assistant', content: 'Again.' },
];

test('[definitions 5.2] a request arrives unchanged: messages, parts, tools and settings', async () => {
  const script = scriptedModel([says('done')]);
  const provider = (await connectTo(script))({ apiKey: '' });
  const request: ProviderRequest = {
    model: 'm',
    messages: conversation,
    tools: [
      { type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } },
    ],
    toolChoice: { name: 'add' },
    maxOutputTokens: 100,
    temperature: 0.5,
    topP: 0.9,
    stopSequences: ['END'],
    providerOptions: { custom: 7 },
  };
  await provider.generate(request);
  expect(script.requests).toEqual([request]);
});

test('[definitions 5.2] tool errors and file data are sent in the format of each version', () => {
  const model = (specificationVersion: string) =>
    ({ specificationVersion, provider: 'any.chat' }) as AiSdkLanguageModel;
  const messages: ProviderMessage[] = [
    {
      role: 'user',
      content: [{ type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' }],
    },
    { role: 'tool', toolCallId: 'c1', toolName: 'add', content: { type: 'error', error: 'no' } },
  ];
  const toPrompt = (version: string) => toCallOptions({ model: 'm', messages }, model(version)).prompt;
  const file = { type: 'file' as const, mediaType: 'application/pdf', filename: 'a.pdf' };
  const output = { type: 'error-text' as const, value: 'no' };
  const result = {
    role: 'tool' as const,
    content: [{ type: 'tool-result' as const, toolCallId: 'c1', toolName: 'add', output }],
  };
  const v4: LanguageModelV4Prompt = [
    { role: 'user', content: [{ ...file, data: { type: 'data', data: 'aGk=' } }] },
    result,
  ];
  expect(toPrompt('v4')).toEqual(v4);
  const v2: LanguageModelV2Prompt = [{ role: 'user', content: [{ ...file, data: 'aGk=' }] }, result];
  expect(toPrompt('v2')).toEqual(v2);
});

test('[definitions 5.3] the flat usage and plain finish reason of older versions are read', async () => {
  const old: AiSdkLanguageModel = {
    specificationVersion: 'v2',
    provider: 'old',
    modelId: 'm',
    doGenerate: async () => ({
      content: [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
        { type: 'tool-call', toolCallId: 'p1', toolName: 'search', input: '{}', providerExecuted: true },
      ],
      finishReason: 'length',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1 },
    }),
    doStream: async () => ({ stream: ReadableStream.from([]) }),
  };
  const provider = aiSdk(() => old)({ apiKey: '' });
  expect(await provider.generate(ask('x'))).toEqual({
    content: 'Hello',
    parts: expect.objectContaining({ origin: 'old:m' }),
    finishReason: 'length',
    usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5, cachedTokens: 1 },
    providerTools: [
      { id: 'p1', name: 'search', type: 'tool', provider: 'old', status: 'in_progress', input: '{}' },
    ],
  });
  await expect(provider.stream(ask('x')).then(collect)).rejects.toMatchObject({ code: 'server_error' });
});

test.each(['generate', 'stream'] as const)(
  '[definitions 5.5] %s turns failures into ProviderErrors',
  async (kind) => {
    const script = scriptedModel([
      fails({ status: 429, message: 'slow down', retryAfter: 2 }),
      fails({ status: 401, message: 'who are you' }),
      fails({ status: 500, message: 'oops' }),
      disconnects(),
    ]);
    const provider = (await connectTo(script))({ apiKey: '' });
    const failure = () =>
      (kind === 'generate' ? provider.generate(ask('x')) : provider.stream(ask('x')).then(collect)).catch(
        (error: unknown) => error,
      );
    expect(await failure()).toMatchObject({
      code: 'rate_limit',
      statusCode: 429,
      retryAfter: 2,
      message: 'slow down',
    });
    expect(await failure()).toMatchObject({ code: 'auth_error', statusCode: 401 });
    expect(await failure()).toMatchObject({ code: 'server_error', statusCode: 500 });
    expect(await failure()).toMatchObject({ code: 'server_error', statusCode: undefined });
    expect(script.requests).toHaveLength(4);
  },
);

test('[definitions 4] a stream of the AI SDK that breaks is retried like any other', async () => {
  const script = scriptedModel([disconnects({ after: 'Well' }), says('Here')]);
  const result = await callModel({
    models: [defineTestModel('main', await connectTo(script))],
    request: (model) => ask('x', { model: model.model }),
    signal: new AbortController().signal,
    wait: async () => undefined,
  });
  expect(result).toMatchObject({ ok: true, attempts: 2, response: { content: 'Here' } });
});

test.each([
  ['a whole answer', hangs(), false],
  ['a stream that has not begun', hangs(), true],
  ['a stream within its text', hangs({ after: 'Well' }), true],
] as const)(
  '[definitions 5.2] the abort signal closes the socket of %s at once',
  async (_title, step, streamed) => {
    const script = scriptedModel([step]);
    const provider = (await connectTo(script))({ apiKey: '' });
    const abort = new AbortController();
    const request = ask('x', { signal: abort.signal });
    const answer = streamed ? provider.stream(request).then(collect) : provider.generate(request);
    const outcome = answer.catch((error: unknown) => error);
    await until(() => script.requests.length === 1, 'the request');
    const reason = new Error('the user pressed stop');
    abort.abort(reason);
    expect(await outcome).toBe(reason);
    await until(() => script.connections[0]?.closedAt != null, 'the socket to close');
    expect(script.connections[0]?.completed).toBe(false);
  },
);
