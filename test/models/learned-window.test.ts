/** The window of a model that a refusal has named. */
import { describe, expect, it } from '@jest/globals';
import { defineModel } from '../../src/definitions/index.ts';
import { forgetWindow, keepWindow, windowOf } from '../../src/models/learned-facts.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const modelOf = () =>
  defineModel({
    ...{ name: 'scripted', provider: scriptedModel([]).provider, model: 'scripted-1' },
    capabilities: { maxContextTokens: 8000 },
  });

describe('a context window named in a refusal', () => {
  it('applies to all threads of the worker for ten minutes, if it is smaller', () => {
    const model = modelOf();
    keepWindow(model, 9000, 0);
    expect(windowOf(model, 1)).toBe(8000);
    keepWindow(model, 800, 1000);
    keepWindow(model, 3000, 2000);
    expect(windowOf(model, 601_999)).toBe(800);
    expect(windowOf(model, 602_000)).toBe(8000);
  });

  it('applies until the provider accepts a longer request', () => {
    const model = modelOf();
    keepWindow(model, 800);
    forgetWindow(model, 800);
    expect(windowOf(model)).toBe(800);
    forgetWindow(model, 1010);
    expect(windowOf(model)).toBe(8000);
  });
});
