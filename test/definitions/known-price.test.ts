/** definitions/known-price.ts: prices where a definition names none. */
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { costOf } from '../../src/core/message/model-price.ts';
import { PRICE_DATA, pricesOf } from '../../src/definitions/known-price.ts';
import { type AiSdkLanguageModel, aiSdk, openaiCompatible } from '../../src/models/index.ts';
import { defineTestModel } from '../models/support.ts';

const claude = aiSdk(() => ({}) as AiSdkLanguageModel);
const modelOf = (provider: typeof claude, model: string, rest = {}) =>
  defineTestModel('main', provider, { model, ...rest });

describe('[definitions 4] prices of a model', () => {
  it('are those of a list, with source and date, if its definition has none', () => {
    expect(pricesOf(modelOf(claude, 'claude-sonnet-4-5'))).toMatchObject({
      ...{ inputPrice: 3, outputPrice: 15, cachedPrice: 0.3, cacheWritePrice: 3.75, cacheWrite1hPrice: 6 },
      ...PRICE_DATA,
    });
    const { dependencies } = createRequire(import.meta.url)('../../package.json');
    const version = dependencies['@pydantic/genai-prices'];
    expect(PRICE_DATA.source).toBe(`@pydantic/genai-prices ${version}`);
  });

  it('are those of its definition only, if it has one', () => {
    const model = modelOf(claude, 'claude-sonnet-4-5', { inputPrice: 0, outputPrice: 0 });
    expect(pricesOf(model)).toEqual({ inputPrice: 0, outputPrice: 0, source: 'definition' });
  });

  it.each([
    ['a model that the list does not know', modelOf(claude, 'my-own-model')],
    [
      'a server of the author',
      modelOf(openaiCompatible({ baseUrl: 'http://127.0.0.1:8000/v1' }), 'gpt-5-mini'),
    ],
    ['a provider of the author', modelOf(() => ({}) as never, 'gpt-5-mini')],
  ])('are unknown for %s', (_title, model) => {
    expect(pricesOf(model)).toBeUndefined();
  });

  it('of a service are found by its address', () => {
    const openai = openaiCompatible({ baseUrl: 'https://api.openai.com/v1' });
    expect(pricesOf(modelOf(openai, 'gpt-5-mini'))).toMatchObject({ inputPrice: 0.25, outputPrice: 2 });
  });

  it('of long requests apply above their threshold', () => {
    const prices = pricesOf(modelOf(claude, 'claude-sonnet-4-5'));
    const cost = (promptTokens: number) =>
      costOf(prices, { promptTokens, completionTokens: 0, totalTokens: promptTokens });
    expect(cost(200_000)).toBe(600_000_000_000n);
    expect(cost(200_001)).toBe(1_200_006_000_000n);
  });
});
