import { z } from 'zod';
import { definitionWarnings } from '../../src/definitions/definition-mark.ts';
import { model, problemsOf, provider } from './sample.ts';

const problems = (fields: object) => problemsOf(() => model(fields));

describe('[definitions 4] defineModel', () => {
  it('fills in every default of a minimal model', () => {
    expect(model()).toEqual({
      kind: 'model',
      name: 'fast',
      provider,
      model: 'vendor/fast-1',
      fallbacks: [],
      includedProviders: [],
      capabilities: {},
      providerOptions: {},
      providerTools: [],
    });
  });

  it('keeps every field that an author gives', () => {
    const given = {
      fallbacks: ['slow'],
      includedProviders: ['vendor'],
      inputPrice: 0,
      outputPrice: 1.5,
      cachedPrice: 0.1,
      capabilities: {
        reasoningLevels: { 0: null, 50: 'medium', 100: 'high' },
        supportsImages: true,
        supportsToolCalls: false,
        supportsStreaming: true,
        supportsJsonMode: true,
        maxContextTokens: 1000,
        maxOutputTokens: 100,
      },
      providerOptions: { seed: 1 },
      providerTools: ['web_search'],
      timeouts: { firstChunkSeconds: 5, idleSeconds: 0.5, totalSeconds: 600, plainSeconds: 86_400 },
    };
    expect(model(given)).toMatchObject(given);
  });

  it('reads the old names of capabilities and warns', () => {
    const made = model({ capabilities: { vision: true, functionCalling: false, structuredOutputs: true } });
    expect(made.capabilities).toEqual({
      supportsImages: true,
      supportsToolCalls: false,
      supportsJsonMode: true,
    });
    expect(definitionWarnings(made).map(({ message }) => message)).toEqual([
      'is deprecated: use supportsImages',
      'is deprecated: use supportsToolCalls',
      'is deprecated: use supportsJsonMode',
    ]);
  });

  it("checks providerOptions with the provider's schema and keeps them as written", () => {
    const choosy = Object.assign(() => provider({ apiKey: '' }), {
      providerOptions: z.object({ seed: z.number() }),
    });
    expect(model({ provider: choosy, providerOptions: { seed: 1, more: 2 } }).providerOptions).toEqual({
      seed: 1,
      more: 2,
    });
    expect(problems({ provider: choosy, providerOptions: { seed: 'x' } })).toEqual([
      expect.stringContaining('providerOptions.seed: is refused by the provider:'),
    ]);
  });
});

describe('[definitions 4] problems of a model', () => {
  it.each<[string, object, string[]]>([
    ['no name', { name: undefined }, ['name: is required']],
    ['no model', { model: undefined }, ['model: is required']],
    ['no provider', { provider: undefined }, ['provider: is required']],
    [
      "a provider's name",
      { provider: 'openai' },
      ["provider: must be a provider factory (a function), such as those from 'everthread/models'"],
    ],
    ['a negative inputPrice', { inputPrice: -1 }, ['inputPrice: must be 0 or more']],
    ['a negative outputPrice', { outputPrice: -1 }, ['outputPrice: must be 0 or more']],
    ['a negative cachedPrice', { cachedPrice: -1 }, ['cachedPrice: must be 0 or more']],
    ['itself as a fallback', { fallbacks: ['fast'] }, ['fallbacks: names the model itself']],
    [
      'a level above 100',
      { capabilities: { reasoningLevels: { 101: 'x' } } },
      ['capabilities.reasoningLevels.101: is not a level: levels are whole numbers from 0 to 100'],
    ],
    ['a timeout of nothing', { timeouts: { idleSeconds: 0 } }, ['timeouts.idleSeconds: must be more than 0']],
    [
      'a timeout above a day',
      { timeouts: { totalSeconds: 86_401, plainSeconds: '5' } },
      [
        'timeouts.totalSeconds: must be 86400 (a day) or less',
        'timeouts.plainSeconds: must be a number, not a string',
      ],
    ],
    [
      'a timeout that is invalid',
      { timeouts: { totalSecond: 5 } },
      ["timeouts.totalSecond: is not a field. Did you mean 'totalSeconds'?"],
    ],
    ['a typo', { fallback: ['slow'] }, ["fallback: is not a field. Did you mean 'fallbacks'?"]],
  ])('refuses %s', (_title, fields, expected) => {
    expect(problems(fields)).toEqual(expected);
  });
});
