/** Refusals of requests for their length, in each provider's words, and what is not one. */
import { APICallError } from '@ai-sdk/provider';
import OpenAI from 'openai';
import { type Provider, ProviderError, type ProviderResponse } from '../../src/core/message/provider.ts';
import type { LengthRefusal } from '../../src/core/message/provider-terms.ts';
import { type AttemptEnd, callModel } from '../../src/models/call-model.ts';
import { classifyError } from '../../src/models/classify.ts';
import { ask, defineTestModel } from './support.ts';

const ROWS: readonly [
  name: string,
  status: number | undefined,
  message: string,
  refusal: Omit<LengthRefusal, 'unit'>,
][] = [
  [
    'OpenAI, of the sum',
    400,
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
    { limit: 8192, requested: 9000, covers: 'both' },
  ],
  [
    'OpenAI, of the messages',
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140,123 tokens. Please reduce the length of the messages.",
    { limit: 128_000, requested: 140_123 },
  ],
  [
    'OpenRouter',
    400,
    "This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (69000 of text input, 1000 in the output).",
    { limit: 65_536, requested: 70_000, covers: 'both' },
  ],
  [
    'vLLM',
    400,
    "You passed 9001 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens",
    { limit: 8192, requested: 9101, covers: 'both' },
  ],
  ['a code alone', 400, 'context_length_exceeded', {}],
  [
    'Anthropic',
    400,
    'prompt is too long: 208732 tokens > 200000 maximum',
    { limit: 200_000, requested: 208_732 },
  ],
  [
    'Anthropic, with the answer',
    400,
    'input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    { limit: 200_000, requested: 219_211, covers: 'both' },
  ],
  [
    'OpenAI and Groq, tokens of a minute',
    429,
    'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 8000, Requested 34041. The input or output tokens must be reduced in order to run successfully.',
    { limit: 8000, requested: 34_041, covers: 'both', ofMinute: true },
  ],
  ['Bedrock', 400, 'Input is too long for requested model.', {}],
  [
    'Gemini',
    400,
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    { limit: 1_048_576, requested: 1_200_000 },
  ],
  [
    'Gemini, of the limit alone',
    400,
    'The input token count exceeds the maximum number of tokens allowed 1048576.',
    { limit: 1_048_576 },
  ],
  [
    'xAI',
    400,
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    { limit: 131_072, requested: 140_000 },
  ],
  [
    'Mistral',
    400,
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    { limit: 32_768, requested: 40_000 },
  ],
  [
    'Cohere',
    400,
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4465. Try using a shorter prompt.',
    { limit: 4081, requested: 4465 },
  ],
  [
    'llama.cpp',
    400,
    'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    { limit: 4096, requested: 5000 },
  ],
  [
    'an error inside a stream that began with 200',
    undefined,
    'prompt is too long: 9000 tokens > 8000 maximum',
    { limit: 8000, requested: 9000 },
  ],
];

describe('a refusal for length is recognised from the thrown error', () => {
  test.each(ROWS)('%s', (_, status, message, refusal) => {
    const thrown =
      status === undefined
        ? [{ type: 'error', error: { type: 'invalid_request_error', message } }, { message }]
        : [
            OpenAI.APIError.generate(status, { error: { message } }, undefined, new Headers()),
            new APICallError({
              message: 'failed',
              url: 'http://x',
              requestBodyValues: {},
              statusCode: status,
              responseBody: message,
            }),
            new ProviderError(message, 'invalid_request', status),
          ];
    for (const each of thrown)
      expect(classifyError(each, { now: 0 }).tooLong).toEqual({ unit: 'tokens', ...refusal });
  });

  test('status 413 counts bytes, whatever its message', () => {
    for (const message of ['request_too_large', 'Request Entity Too Large', 'no'])
      expect(classifyError({ status: 413, message }, { now: 0 }).tooLong).toEqual({ unit: 'bytes' });
  });

  test.each([
    [
      429,
      'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29500, Requested 900. Please try again in 800ms.',
    ],
    [400, 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'],
    [400, 'Your credit balance is too low to access the Anthropic API.'],
    [500, 'Internal server error'],
  ])('%i "%s" is not a refusal for length', (status, message) => {
    expect(classifyError({ status, message }, { now: 0 }).tooLong).toBeUndefined();
  });

  test('a refusal for length given by the provider is kept, also when a key is redacted from its message', () => {
    const tooLong = { unit: 'tokens', limit: 10 } as const;
    const given = new ProviderError('no: sk-12345678901234567890', 'invalid_request', 400, undefined, {
      tooLong,
    });
    expect(classifyError(given, { now: 0, secrets: ['sk-12345678901234567890'] }).tooLong).toEqual(tooLong);
  });
});

const answer = (rest: Partial<ProviderResponse>): ProviderResponse => ({
  content: null,
  finishReason: 'length',
  usage: { promptTokens: 100, completionTokens: 0, totalTokens: 100 },
  ...rest,
});

/** A provider that gives these in turn, whole. */
function inTurn(answers: readonly (ProviderResponse | Error)[]): () => Provider {
  let asked = 0;
  const next = async () => {
    const given = answers[asked++] as ProviderResponse | Error;
    if (given instanceof Error) throw given;
    return given;
  };
  async function* stream() {}
  return () => ({ name: 'turns', specificationVersion: '1', generate: next, stream: async () => stream() });
}

async function run(answers: readonly (ProviderResponse | Error)[], shrinks = true, fallbacks = 0) {
  const ends: AttemptEnd[] = [];
  const refusals: LengthRefusal[] = [];
  const capabilities = { supportsStreaming: false };
  const provider = inTurn(answers);
  const models = Array.from({ length: fallbacks + 1 }, (_, at) =>
    defineTestModel(`m${at}`, provider, { capabilities }),
  );
  const result = await callModel({
    models,
    request: () => ask('hello'),
    signal: new AbortController().signal,
    onTooLong: (_, refusal) => refusals.push(refusal) > 0 && shrinks,
    onAttemptEnd: (end) => void ends.push(end),
    limits: { retryDelaysMs: [0, 0] },
  });
  return { result, refusals, moves: ends.map(({ outcome }) => (outcome.ok ? 'ok' : outcome.next)) };
}

const tooLong = new ProviderError('prompt is too long: 9 tokens > 8 maximum', 'rate_limit', 429);

describe('a model that refuses a request for its length', () => {
  test('gets up to three smaller requests before the fallback is called', async () => {
    const { moves, refusals } = await run(
      [tooLong, tooLong, tooLong, tooLong, answer({ content: 'hi', finishReason: 'stop' })],
      true,
      1,
    );
    expect(moves).toEqual(['smaller', 'smaller', 'smaller', 'fallback', 'ok']);
    expect(refusals[0]).toEqual({ unit: 'tokens', limit: 8, requested: 9 });
  });

  test('is not called again, nor waited for, if the request cannot be made smaller', async () => {
    expect((await run([tooLong], false)).moves).toEqual(['give_up']);
  });

  test('keeps its retries for other failures', async () => {
    const busy = new ProviderError('busy', 'server_error', 503);
    const { moves } = await run([tooLong, tooLong, busy, busy, answer({ content: 'hi' })]);
    expect(moves).toEqual(['smaller', 'smaller', 'retry', 'retry', 'ok']);
  });

  test.each(['length', 'model_context_window_exceeded'])(
    'is recognised by an empty answer with the finish reason "%s"',
    async (reason) => {
      const finishReason = reason as ProviderResponse['finishReason'];
      const { moves, result } = await run([
        answer({ finishReason }),
        answer({ content: 'cut', finishReason }),
      ]);
      expect(moves).toEqual(['smaller', 'ok']);
      expect(result.ok && result.response.finishReason).toBe('length');
    },
  );

  test('is not recognised by reasoning that reached its limit', async () => {
    expect((await run([answer({ reasoning: 'hm' })])).moves).toEqual(['ok']);
    const usage = { promptTokens: 1, completionTokens: 9, totalTokens: 10, reasoningTokens: 9 };
    expect((await run([answer({ usage })])).moves).toEqual(['ok']);
  });
});
