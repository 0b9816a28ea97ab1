/** Which refusals mean tools beside a format of the answer, in the words of each provider, and what is sent next. */
import { describe, expect, it } from '@jest/globals';
import { ProviderError, type ProviderRequest } from '../../src/core/message/provider.ts';
import { askApart, refusesFormat } from '../../src/models/refused-format.ts';
import { ask } from './support.ts';

const request: ProviderRequest = {
  ...ask('x', {
    tools: [{ type: 'function', function: { name: 'add', description: '', parameters: { type: 'object' } } }],
    toolChoice: 'auto',
  }),
  messages: [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: 'x' },
  ],
  responseFormat: { type: 'json_schema' },
};
const refusal = (message: string, status = 400) => new ProviderError(message, 'invalid_request', status);
const GEMINI = "Function calling with a response mime type: 'application/json' is unsupported";

describe('a refusal', () => {
  it.each([
    GEMINI,
    'json mode cannot be combined with tool/function calling',
    'response_format json_schema is not supported with tools',
    '"tools" is incompatible with "response_format"',
    'cannot specify response_format and tools at the same time',
    'Structured outputs cannot be used together with tool calling.',
  ])('means both together: %s', (message) => {
    expect(refusesFormat(refusal(message), request)).toBe(true);
    expect(refusesFormat(refusal(message, 422), request)).toBe(true);
  });

  it.each<[string, ProviderError, Partial<ProviderRequest>]>([
    ['of another status', refusal(GEMINI, 500), {}],
    ['of a request without tools', refusal(GEMINI), { tools: [] }],
    ['of a request without a format', refusal(GEMINI), { responseFormat: undefined }],
    ['of the schema alone', refusal("Invalid schema for response_format 'weather': required is missing"), {}],
    ['of a tool alone', refusal("Invalid schema for function 'add': array schema missing items"), {}],
    ['for its length', refusal("This model's maximum context length is 8192 tokens."), {}],
  ])('means something else: %s', (_what, error, more) => {
    expect(refusesFormat(error, { ...request, ...more })).toBe(false);
  });
});

describe('the next request', () => {
  it('has the tools and the words, or the format without tools', () => {
    const first = askApart(request, { words: 'Write JSON.', isLast: false });
    expect(first).not.toHaveProperty('responseFormat');
    expect(first).toMatchObject({
      tools: request.tools,
      messages: [{ content: 'You help.\n\nWrite JSON.' }, {}],
    });
    const last = askApart(request, { words: 'Write JSON.', isLast: true });
    expect(last).not.toHaveProperty('tools');
    expect(last).not.toHaveProperty('toolChoice');
    expect(last).toMatchObject({ responseFormat: request.responseFormat, messages: request.messages });
  });
});
