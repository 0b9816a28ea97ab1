/** Providers as an author writes them from the contract alone (definitions §5), and some that violate it. */
import type { Provider, ProviderFactory, ProviderRequest } from '../../src/core/message/provider.ts';
import type { ProviderFactoryConfig } from '../../src/core/message/provider-terms.ts';
import { type CallModelOptions, callModel } from '../../src/models/call-model.ts';
import { ask, defineTestModel } from './support.ts';

const FINISH = {
  type: 'finish',
  finishReason: 'stop',
  usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 },
};

/** A provider that gives the same answer to every request; `requests` records the requests. */
function saying({ chunks = [FINISH], response = { content: 'x', finishReason: 'stop' }, ...more }: Said) {
  const requests: ProviderRequest[] = [];
  const configs: ProviderFactoryConfig[] = [];
  const provider = {
    name: 'foreign',
    specificationVersion: '1',
    async *stream(request: ProviderRequest) {
      requests.push(request);
      yield* chunks;
    },
    async generate(request: ProviderRequest) {
      requests.push(request);
      return response;
    },
    ...more,
  } as unknown as Provider;
  const house: ProviderFactory = (config) => {
    configs.push(config);
    return provider;
  };
  return { house, requests, configs };
}

interface Said extends Partial<Record<keyof Provider, unknown>> {
  readonly chunks?: readonly unknown[];
  readonly response?: unknown;
}

async function answerOf(
  factory: ProviderFactory,
  { capabilities = {}, ...options }: Partial<CallModelOptions> & { capabilities?: object } = {},
) {
  const waits: number[] = [];
  const result = await callModel({
    models: [defineTestModel('main', factory, { capabilities })],
    request: (model) => ask('hello', { model: model.model }),
    signal: new AbortController().signal,
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { result, waits };
}

const whole = { capabilities: { supportsStreaming: false } };

describe('[definitions 5.4] chunks as the contract defines them', () => {
  it('carry a call whose arguments are text, an object, or deltas', async () => {
    const { house } = saying({
      chunks: [
        { type: 'content-delta', delta: 'Adding' },
        { type: 'content-done' },
        { type: 'tool-call-start', id: 'a', name: 'add' },
        { type: 'tool-call-start', id: 'b', name: 'subtract', extraContent: { signature: 's' } },
        { type: 'tool-call-start', id: 'c', name: 'multiply' },
        { type: 'tool-call-delta', id: 'a', argumentsDelta: '{"x"' },
        { type: 'tool-call-delta', id: 'c', argumentsDelta: '{"z":' },
        { type: 'tool-call-done', id: 'b', arguments: { y: 2 } },
        { type: 'tool-call-done', id: 'a', arguments: '{"x":1}' },
        { type: 'tool-call-delta', id: 'c', argumentsDelta: '3}' },
        { ...FINISH, finishReason: 'tool_calls', responseId: 'r1' },
      ],
    });
    const { result } = await answerOf(house);
    expect(result).toMatchObject({ ok: true, attempts: 1 });
    expect(result.ok && result.response).toEqual({
      content: 'Adding',
      toolCalls: [
        { id: 'a', name: 'add', arguments: { x: 1 } },
        { id: 'b', name: 'subtract', arguments: { y: 2 }, extraContent: { signature: 's' } },
        { id: 'c', name: 'multiply', arguments: { z: 3 } },
      ],
      finishReason: 'tool_calls',
      usage: FINISH.usage,
      responseId: 'r1',
    });
  });

  it('carry images, searches, provider tools and reasoning details, which are stored', async () => {
    const image = {
      id: 'i',
      toolName: 'draw',
      data: 'iVBORw0KGgo=',
      mediaType: 'image/png',
      revisedPrompt: 'a dot',
    };
    const tool = {
      id: 't',
      name: 'fetch',
      type: 'tool',
      provider: 'foreign',
      status: 'completed',
      result: 1,
    };
    const reasoningDetails = [{ type: 'encrypted', data: 'xyz', id: 'd1' }];
    const { house } = saying({
      chunks: [
        { type: 'reasoning-delta', delta: 'hm' },
        { type: 'reasoning-done' },
        { type: 'image-delta', index: 0, data: 'iVBO' },
        { type: 'image-done', index: 0, image },
        { type: 'web-search-done', result: { hits: ['a'] } },
        { type: 'provider-tool-done', tool },
        { ...FINISH, reasoningDetails },
      ],
    });
    const { result } = await answerOf(house);
    expect(result.ok && result.response).toEqual({
      content: null,
      reasoning: 'hm',
      reasoningDetails,
      images: [image],
      providerTools: [
        {
          id: 'web_search_0',
          name: 'web_search',
          type: 'web_search',
          provider: '',
          status: 'completed',
          result: { hits: ['a'] },
        },
        tool,
      ],
      finishReason: 'stop',
      usage: FINISH.usage,
    });
  });

  it('of unknown kinds are dropped and named', async () => {
    const { house } = saying({
      chunks: [
        { type: 'audio-delta', data: 'x' },
        { type: 'audio-delta', data: 'y' },
        { type: 'toString' },
        FINISH,
      ],
    });
    const ignored: (readonly string[])[] = [];
    const { result } = await answerOf(house, {
      onAttemptEnd: ({ outcome }) => void ignored.push(outcome.ok ? outcome.ignored : []),
    });
    expect(result).toMatchObject({ ok: true });
    expect(ignored).toEqual([['audio-delta', 'toString']]);
  });
});

describe('[definitions 5.3] a complete answer as the contract defines it', () => {
  it('has calls with arguments as text or as an object', async () => {
    const { house } = saying({
      response: {
        content: null,
        reasoning: null,
        toolCalls: [
          { id: 'a', name: 'add', arguments: { x: 1 }, extraContent: 's' },
          { id: 'b', name: 'add', arguments: '{"x":2}' },
          { id: 'a', name: 'none' },
        ],
        finishReason: 'tool_calls',
        usage: FINISH.usage,
      },
    });
    const { result } = await answerOf(house, whole);
    expect(result.ok && result.response).toMatchObject({
      content: null,
      toolCalls: [
        { id: 'a', name: 'add', arguments: { x: 1 }, extraContent: 's' },
        { id: 'b', name: 'add', arguments: { x: 2 } },
        { id: 'a', name: 'none', arguments: {} },
      ],
    });
  });

  it('may be returned without a promise', async () => {
    const generate = () => ({ content: 'at once', finishReason: 'stop' });
    const { result } = await answerOf(saying({ generate }).house, whole);
    expect(result).toMatchObject({ ok: true, response: { content: 'at once' } });
  });
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('[definitions 5.5] an answer that violates the contract fails with InvalidAnswer after one request:', () => {
  it.each<[string, unknown[]]>([
    ['a chunk that is invalid', [null]],
    ['a chunk that is a list', [[]]],
    ['a chunk without a kind', [{ delta: 'x' }]],
    ['text that is an object', [{ type: 'content-delta', delta: { a: 1 } }]],
    ['reasoning that is a number', [{ type: 'reasoning-delta', delta: 7 }]],
    ['a call without a name', [{ type: 'tool-call-done', id: 'a', arguments: '{}' }]],
    ['a call with a name that is not text', [{ type: 'tool-call-start', id: 'a', name: 7 }]],
    ['a call with an id that is not text', [{ type: 'tool-call-start', id: 7, name: 'add' }]],
    ['arguments that are a list', [{ type: 'tool-call-done', id: 'a', name: 'add', arguments: [1] }]],
    ['arguments without JSON', [{ type: 'tool-call-done', id: 'a', name: 'add', arguments: cyclic }]],
    ['arguments of a call that has not begun', [{ type: 'tool-call-delta', id: 'a', argumentsDelta: '{' }]],
    [
      'an image that is invalid',
      [{ type: 'image-done', index: 0, image: { data: '<svg>', mediaType: 'image/png' } }],
    ],
    ['a tool that ran without a name', [{ type: 'provider-tool-done', tool: { id: 't' } }]],
    ['a search without JSON', [{ type: 'web-search-done', result: cyclic }]],
  ])('%s', async (_title, chunks) => {
    const { house, requests } = saying({ chunks: [...chunks, FINISH] });
    const { result, waits } = await answerOf(house);
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'InvalidAnswer' } });
    expect([requests.length, waits]).toEqual([1, []]);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'Hello'],
    ['content that is an object', { content: { a: 1 } }],
    ['calls that are no list', { toolCalls: { id: 'a' } }],
    ['a call that is invalid', { toolCalls: [null] }],
    ['a call without a name', { toolCalls: [{ id: 'a', arguments: {} }] }],
    ['arguments that are a number', { toolCalls: [{ id: 'a', name: 'add', arguments: 7 }] }],
    ['arguments without JSON', { toolCalls: [{ id: 'a', name: 'add', arguments: { big: 1n } }] }],
    ['tools that ran and are no list', { providerTools: 'search' }],
  ])('in a complete answer, %s', async (_title, response) => {
    const { house, requests } = saying({
      response: typeof response === 'object' && response ? { finishReason: 'stop', ...response } : response,
    });
    const { result, waits } = await answerOf(house, whole);
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'InvalidAnswer' } });
    expect([requests.length, waits]).toEqual([1, []]);
  });

  it.each<[string, unknown]>([
    ['no object', undefined],
    ['a promise', Promise.resolve({})],
    ['without a stream', { generate: () => undefined }],
  ])('a provider that is %s', async (_title, made) => {
    const { result } = await answerOf(() => made as Provider);
    expect(result).toMatchObject({
      ok: false,
      attempts: 1,
      error: { code: 'InvalidAnswer', message: expect.stringContaining('"main" did not return a provider') },
    });
  });

  it.each<[string, unknown]>([
    ['no iterable', {}],
    ['nothing', undefined],
    ['an iterator that yields nothing', { [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }],
  ])('a stream that is %s', async (_title, stream) => {
    const { result } = await answerOf(saying({ stream: async () => stream }).house);
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'InvalidAnswer' } });
  });

  it('then the fallback model is called', async () => {
    const models = [
      defineTestModel('main', saying({ chunks: [{ type: 'content-delta', delta: 7 }] }).house),
      defineTestModel('other', saying({ chunks: [{ type: 'content-delta', delta: 'Hello' }, FINISH] }).house),
    ];
    const { result } = await answerOf(saying({}).house, { models });
    expect(result).toMatchObject({ ok: true, attempts: 2, response: { content: 'Hello' } });
  });

  it('and invalid numbers in its errors do not reach the plan of retries', async () => {
    const error = Object.assign(new Error('slow down'), {
      name: 'ProviderError',
      code: 'server_error',
      retryAfter: 'soon',
      statusCode: 'x',
    });
    const { result, waits } = await answerOf(saying({ stream: async () => Promise.reject(error) }).house);
    expect(result).toMatchObject({ ok: false, attempts: 3, error: { code: 'server_error' } });
    expect(waits).toEqual([1000, 2000]);
  });
});

describe('[definitions 5.1] a provider factory gets', () => {
  const lookup = (values: Readonly<Record<string, string>>) => async () => (name: string) => values[name];

  it('its key and base URL from variables named after it, and the timeout of its model', async () => {
    const { house, configs } = saying({});
    const variables = lookup({ HOUSE_API_KEY: 'k', HOUSE_BASE_URL: 'http://house' });
    await answerOf(house, { variables });
    expect(configs).toEqual([{ apiKey: 'k', baseUrl: 'http://house', timeout: 615_000 }]);
  });

  it('the values of the worker’s environment if no variable is set', async () => {
    process.env.HOUSE_API_KEY = 'of the worker';
    try {
      const { house, configs } = saying({});
      await answerOf(house, { variables: lookup({}) });
      await answerOf(house, { variables: lookup({ HOUSE_API_KEY: 'of the thread' }) });
      expect(configs.map(({ apiKey }) => apiKey)).toEqual(['of the worker', 'of the thread']);
    } finally {
      delete process.env.HOUSE_API_KEY;
    }
  });

  it.each<[string, ProviderFactory, string]>([
    [
      'createOpenRouter',
      function createOpenRouter() {
        throw new Error('x');
      },
      'OPEN_ROUTER_API_KEY',
    ],
    [
      'houseProvider',
      function houseProvider() {
        throw new Error('x');
      },
      'HOUSE_API_KEY',
    ],
    [
      '',
      (() => () => {
        throw new Error('x');
      })(),
      'PROVIDER_API_KEY',
    ],
  ])('a key by its name: %s', async (_title, factory, variable) => {
    const asked: string[] = [];
    await answerOf(factory, {
      variables: async () => (name) => {
        asked.push(name);
        return undefined;
      },
    });
    expect(asked[0]).toBe(variable);
  });

  it('its declared settings, and fails if a required one has no value', async () => {
    const { house, configs } = saying({});
    const configSlots = {
      apiKey: { type: 'secret', required: true, defaultEnv: 'THE_KEY' },
      region: { default: 'north' },
      retries: { type: 'number' },
    };
    const factory = Object.assign(house, { configSlots });
    const refused = await answerOf(factory, { variables: lookup({}) });
    expect(refused.result).toMatchObject({
      ok: false,
      attempts: 1,
      error: { code: 'invalid_request', message: expect.stringContaining('lacks "apiKey" (THE_KEY)') },
    });
    await answerOf(factory, { variables: lookup({ THE_KEY: 'k', HOUSE_RETRIES: '3' }) });
    expect(configs).toEqual([{ apiKey: 'k', region: 'north', retries: 3, timeout: 615_000 }]);
  });

  it('one call per configuration, and another for another key', async () => {
    const { house, configs } = saying({});
    const models = [defineTestModel('main', house)];
    for (const key of ['a', 'b', 'a'])
      await answerOf(house, { models, variables: lookup({ HOUSE_API_KEY: key }) });
    expect(configs.map(({ apiKey }) => apiKey)).toEqual(['a', 'b']);
  });

  it('a hint where to set its key when it is refused without one, and its key is redacted from its errors', async () => {
    const refusing = (config: ProviderFactoryConfig) => ({
      ...saying({}).house(config),
      stream: async () => {
        throw Object.assign(new Error(`No such key: ${config.apiKey}`), { status: 401 });
      },
    });
    const house = (config: ProviderFactoryConfig) => refusing(config) as unknown as Provider;
    const { result } = await answerOf(house);
    expect(!result.ok && result.error).toMatchObject({
      code: 'auth_error',
      message: expect.stringContaining('Set HOUSE_API_KEY with'),
    });
    const known = await answerOf(house, { variables: lookup({ HOUSE_API_KEY: 'top-secret-4711' }) });
    expect(!known.result.ok && known.result.error.message).toBe('No such key: [redacted]');
  });
});

describe('[definitions 5.1] a provider is asked once for', () => {
  it('the capabilities of its model, which the definition overrides', async () => {
    const asked: string[] = [];
    const { house } = saying({
      response: { content: 'whole', finishReason: 'stop' },
      getModelCapabilities: async (id: string) => {
        asked.push(id);
        return {
          supportsStreaming: false,
          supportsImages: false,
          maxOutputTokens: 100,
          supportsJsonMode: 'yes',
        };
      },
    });
    const models = [defineTestModel('main', house, { capabilities: { maxOutputTokens: 50 } })];
    const heard: unknown[] = [];
    const request: CallModelOptions['request'] = (model) => {
      heard.push(model.capabilities);
      return ask('x');
    };
    await answerOf(house, { models, request });
    const { result } = await answerOf(house, { models, request });
    expect(result).toMatchObject({ ok: true, response: { content: 'whole' } });
    expect(asked).toEqual(['main-id']);
    expect(heard[1]).toEqual({ supportsStreaming: false, supportsImages: false, maxOutputTokens: 50 });
  });

  it('the tools that it runs itself', async () => {
    const { house } = saying({ getTools: () => ({ draw: { description: 'Draws.' } }) });
    const heard: unknown[] = [];
    await answerOf(house, {
      request: (_model, tools) => {
        heard.push(tools);
        return ask('x');
      },
    });
    expect(heard).toEqual([{ draw: { description: 'Draws.' } }]);
  });

  it('its support of the model: if it has none, no request is sent', async () => {
    const { house, requests } = saying({ supportsModel: () => false });
    const { result } = await answerOf(house);
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'invalid_request' } });
    expect(requests).toEqual([]);
  });

  it('these facts, and called anyway if it fails to answer', async () => {
    const { house } = saying({
      chunks: [{ type: 'content-delta', delta: 'Hello' }, FINISH],
      getModelCapabilities: async () => {
        throw new Error('no list today');
      },
    });
    expect((await answerOf(house)).result).toMatchObject({ ok: true, response: { content: 'Hello' } });
  });
});
