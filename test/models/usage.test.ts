/** Usage as providers report it, read through the real bridges and normalised once. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { costOf } from '../../src/core/message/model-price.ts';
import type { Provider, ProviderFactory, ProviderUsage } from '../../src/core/message/provider.ts';
import { normaliseUsage } from '../../src/core/message/usage.ts';
import { toUsd } from '../../src/core/value/money.ts';
import { callModel } from '../../src/models/call-model.ts';
import { type AiSdkLanguageModel, aiSdk, openaiCompatible } from '../../src/models/index.ts';
import { ask, defineTestModel } from './support.ts';

interface SdkAnswer {
  readonly version: string;
  readonly provider: string;
  readonly usage: unknown;
  readonly providerMetadata?: unknown;
}

function sdk({ version, provider, usage, providerMetadata }: SdkAnswer): ProviderFactory {
  const model = {
    specificationVersion: version,
    provider,
    modelId: 'm',
    doGenerate: async () => ({
      content: [{ type: 'text', text: 'Hello, all' }],
      finishReason: 'stop',
      usage,
      providerMetadata,
    }),
  };
  return aiSdk(() => model as unknown as AiSdkLanguageModel);
}

function foreign(usage: unknown, content = 'Hello, all'): ProviderFactory {
  const provider = {
    name: 'foreign',
    specificationVersion: '1',
    stream: async () => [],
    generate: async () => ({ content, finishReason: 'stop', usage }),
  };
  return () => provider as unknown as Provider;
}

async function usageOf(factory: ProviderFactory): Promise<ProviderUsage> {
  const result = await callModel({
    models: [defineTestModel('main', factory, { capabilities: { supportsStreaming: false } })],
    request: (model) => ask('x'.repeat(400), { model: model.model }),
    signal: new AbortController().signal,
  });
  if (!result.ok) throw result.error;
  return result.response.usage;
}

const WRITTEN = { input_tokens: 3, cache_creation_input_tokens: 109_075, cache_read_input_tokens: 0 };

/** USD per 1,000,000 tokens. */
const PRICES = { inputPrice: 3, outputPrice: 15, cachedPrice: 0.3 };

/** The costs are in 10⁻¹² USD. */
const SHAPES: readonly [string, SdkAnswer, Partial<ProviderUsage>, bigint][] = [
  [
    'Anthropic of version 2 leaves reads and writes out of its input',
    {
      version: 'v2',
      provider: 'anthropic.messages',
      usage: { inputTokens: 3, outputTokens: 93, totalTokens: 96, cachedInputTokens: 50 },
      providerMetadata: {
        anthropic: {
          cacheCreationInputTokens: 109_025,
          usage: {
            ...WRITTEN,
            cache_creation: { ephemeral_5m_input_tokens: 9025, ephemeral_1h_input_tokens: 100_000 },
          },
        },
      },
    },
    {
      promptTokens: 109_078,
      completionTokens: 93,
      cachedTokens: 50,
      cacheWriteTokens: 109_025,
      cacheWrite1hTokens: 100_000,
    },
    635_262_750_000n,
  ],
  [
    'Anthropic of version 3 nests its counts and has the times in the raw ones',
    {
      version: 'v3',
      provider: 'anthropic.messages',
      usage: {
        inputTokens: { total: 109_078, noCache: 3, cacheRead: 0, cacheWrite: 109_075 },
        outputTokens: { total: 93 },
        raw: { ...WRITTEN, cache_creation: { ephemeral_1h_input_tokens: 75 } },
      },
    },
    { promptTokens: 109_078, cachedTokens: 0, cacheWriteTokens: 109_075, cacheWrite1hTokens: 75 },
    410_604_000_000n,
  ],
  [
    'Bedrock of version 2 leaves reads and writes out of its input',
    {
      version: 'v2',
      provider: 'amazon-bedrock',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 2000 },
      providerMetadata: { bedrock: { usage: { cacheWriteInputTokens: 300 } } },
    },
    { promptTokens: 2310, completionTokens: 5, cachedTokens: 2000, cacheWriteTokens: 300 },
    1_830_000_000n,
  ],
  [
    'Gemini of version 2 has its thoughts outside of the output',
    {
      version: 'v2',
      provider: 'google.generative-ai',
      usage: { inputTokens: 20, outputTokens: 50, reasoningTokens: 1544, totalTokens: 1614 },
    },
    { promptTokens: 20, completionTokens: 1594, reasoningTokens: 1544, totalTokens: 1614 },
    23_970_000_000n,
  ],
  [
    'OpenAI of version 2 has reads and reasoning inside',
    {
      version: 'v2',
      provider: 'openai.responses',
      usage: {
        inputTokens: 2000,
        outputTokens: 300,
        totalTokens: 2300,
        reasoningTokens: 200,
        cachedInputTokens: 1920,
      },
    },
    {
      promptTokens: 2000,
      completionTokens: 300,
      totalTokens: 2300,
      reasoningTokens: 200,
      cachedTokens: 1920,
    },
    5_316_000_000n,
  ],
];

test.each(SHAPES)(
  '[definitions 5.3] the usage and the cost of %s',
  async (_title, answer, expected, pico) => {
    const usage = await usageOf(sdk(answer));
    expect(usage).toMatchObject(expected);
    expect(costOf(PRICES, usage)).toBe(pico);
  },
);

const COMPLETIONS: readonly [string, object, Partial<ProviderUsage>, bigint][] = [
  [
    'OpenAI has cached tokens as a part of the prompt',
    {
      ...{ prompt_tokens: 2006, completion_tokens: 300, total_tokens: 2306 },
      prompt_tokens_details: { cached_tokens: 1920 },
      completion_tokens_details: { reasoning_tokens: 256 },
    },
    { promptTokens: 2006, completionTokens: 300, cachedTokens: 1920, reasoningTokens: 256 },
    5_334_000_000n,
  ],
  [
    'DeepSeek names hits of its cache',
    {
      ...{ prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 },
      ...{ prompt_cache_hit_tokens: 896, prompt_cache_miss_tokens: 104 },
    },
    { promptTokens: 1000, cachedTokens: 896 },
    730_800_000n,
  ],
  [
    'xAI has its reasoning outside of the answer',
    {
      ...{ prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 },
      completion_tokens_details: { reasoning_tokens: 94 },
    },
    { promptTokens: 32, completionTokens: 103, reasoningTokens: 94, totalTokens: 135 },
    1_641_000_000n,
  ],
  [
    'Gemini counts its thoughts in the total alone',
    { prompt_tokens: 20, completion_tokens: 50, total_tokens: 1614 },
    { promptTokens: 20, completionTokens: 1594, reasoningTokens: 1544 },
    23_970_000_000n,
  ],
  [
    'a router with the key of the author claims only its fee',
    {
      ...{ prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cost: 0.001, is_byok: true },
      cost_details: { upstream_inference_cost: 0.02 },
    },
    { promptTokens: 100, cost: 0.021 },
    21_000_000_000n,
  ],
];

describe('over Chat Completions', () => {
  let usage: object = {};
  const server = createServer((_request, response) => {
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'r', object: 'chat.completion', choices, usage }));
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  const provider = () => {
    const { port } = server.address() as AddressInfo;
    return openaiCompatible({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k' });
  };

  test.each(COMPLETIONS)(
    '[definitions 5.3] the usage and the cost of %s',
    async (_t, reported, expected, pico) => {
      usage = reported;
      const read = await usageOf(provider());
      expect(read).toMatchObject(expected);
      expect(costOf(PRICES, read)).toBe(pico);
    },
  );
});

test('[definitions 5.3] 109,075 tokens written to a cache, then read from it, cost what the provider charges', () => {
  const prices = { ...PRICES, cacheWritePrice: 3.75 };
  const usage = { promptTokens: 109_078, completionTokens: 96, totalTokens: 109_174 };
  const cost = (more: Partial<ProviderUsage>) => toUsd(costOf(prices, { ...usage, ...more }) ?? 0n);
  expect(cost({ cacheWriteTokens: 109_075 })).toBe(0.41048025);
  expect(cost({ cachedTokens: 109_075 })).toBe(0.0341715);
});

describe('[definitions 5.3] the usage of a provider that breaks the contract', () => {
  test('is read as exclusive if more tokens are cached than the prompt has', async () => {
    const usage = { promptTokens: 3, completionTokens: 5, totalTokens: 8, cachedTokens: 109_075 };
    expect(await usageOf(foreign(usage))).toEqual({
      ...{ promptTokens: 109_078, completionTokens: 5, totalTokens: 109_083, cachedTokens: 109_075 },
    });
  });

  test.each([0, 1e-300, 4e-13])('is not free if its cost is %d', async (cost) => {
    const usage = { promptTokens: 3, completionTokens: 5, totalTokens: 8, cost };
    expect(await usageOf(foreign(usage))).not.toHaveProperty('cost');
  });

  test.each([
    ['missing', undefined],
    ['zero', { promptTokens: 0, completionTokens: 0, totalTokens: 0, cost: 0 }],
    ['text', { promptTokens: '3', completionTokens: '5', totalTokens: '8' }],
    ['no object', '8 tokens'],
  ])('is estimated from the texts, and marked, if it is %s', async (_title, usage) => {
    expect(await usageOf(foreign(usage, 'word'.repeat(60)))).toEqual({
      ...{ promptTokens: 104, completionTokens: 60, totalTokens: 164, estimated: true },
    });
  });

  test('keeps its plausible part if another is missing', async () => {
    const usage = { promptTokens: 900, completionTokens: 0, totalTokens: 900, estimated: 'no' };
    expect(await usageOf(foreign(usage, 'word'))).toEqual({
      ...{ promptTokens: 900, completionTokens: 1, totalTokens: 901, estimated: true },
    });
  });
});

test('[definitions 5.3] normalising usage twice equals normalising it once', () => {
  const numbers = [0, 1, 3, 50, 2000];
  for (const promptTokens of numbers)
    for (const completionTokens of numbers)
      for (const cachedTokens of numbers)
        for (const cacheWriteTokens of numbers)
          for (const reasoningTokens of numbers)
            for (const totalTokens of numbers) {
              const usage = normaliseUsage({
                ...{ promptTokens, completionTokens, totalTokens },
                ...{ cachedTokens, cacheWriteTokens, reasoningTokens },
              });
              expect(usage.promptTokens).toBeGreaterThanOrEqual(cachedTokens + cacheWriteTokens);
              expect(usage.completionTokens).toBeGreaterThanOrEqual(reasoningTokens);
              expect(normaliseUsage(usage)).toEqual(usage);
            }
});
