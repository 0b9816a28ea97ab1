/** What providers mean by a refusal, and what follows it: a row for each way in which they say so. */
import { APICallError } from '@ai-sdk/provider';
import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ProviderError } from '../../src/core/message/provider.ts';
import { type AttemptEnd, type CallModelOptions, callModel } from '../../src/models/call-model.ts';
import { classifyError, isRetryable } from '../../src/models/classify.ts';
import { type Refusal, refusalOf } from '../../src/models/refusal.ts';
import { planAfterRefusal } from '../../src/models/refusal-plan.ts';
import { fails, type Script, says, scriptedModel } from '../../src/testing/index.ts';
import { ask, defineTestModel } from './support.ts';

const openai = (status: number, error: object) =>
  OpenAI.APIError.generate(status, { error }, undefined, new Headers());
const aiSdk = (statusCode: number, body: object, data?: unknown) =>
  new APICallError({
    ...{ message: 'no', url: 'http://x', requestBodyValues: {}, statusCode, responseHeaders: {}, data },
    responseBody: JSON.stringify(body),
  });
const gemini = (quotaId: string) => ({
  error: {
    code: 429,
    message: 'You exceeded your current quota, please check your plan and billing details.',
    details: [{ violations: [{ quotaId }] }, { retryDelay: '34.07s' }],
  },
});
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
const tpm = 'Request too large for gpt-x on tokens per min (TPM): Limit 8000, Requested 34041.';

const ROWS: [string, unknown, Refusal | undefined, number | undefined][] = [
  ['a plain 429', openai(429, { message: 'slow down' }), 'busy', undefined],
  [
    'OpenAI without quota',
    openai(429, { message: 'You exceeded', code: 'insufficient_quota' }),
    'quota',
    undefined,
  ],
  [
    'OpenAI without quota, through the AI SDK',
    aiSdk(429, { error: { code: 'insufficient_quota' } }),
    'quota',
    undefined,
  ],
  [
    'OpenAI without quota, in the data of the AI SDK',
    aiSdk(429, {}, { error: { type: 'insufficient_quota' } }),
    'quota',
    undefined,
  ],
  ['a payment that is due', openai(402, { message: 'Insufficient Balance' }), 'quota', undefined],
  [
    'Anthropic without credit',
    aiSdk(400, { error: { message: 'Your credit balance is too low to access the API.' } }),
    'quota',
    undefined,
  ],
  [
    'Gemini, for the day',
    aiSdk(429, gemini('GenerateRequestsPerDayPerProjectPerModel-FreeTier')),
    'quota',
    34.07,
  ],
  ['Gemini, for the minute', aiSdk(429, gemini('GenerateRequestsPerMinutePerProject')), 'busy', 34.07],
  [
    'a delay in a sentence',
    openai(429, { message: 'Rate limit. Please try again in 1m2.5s.' }),
    'busy',
    62.5,
  ],
  [
    'a delay in milliseconds',
    openai(429, { message: 'Rate limit. Please try again in 20ms.' }),
    'busy',
    0.02,
  ],
  ['Anthropic overloaded', aiSdk(529, overloaded), 'busy', undefined],
  ['Gemini overloaded', aiSdk(503, { error: { message: 'The model is overloaded.' } }), 'busy', undefined],
  ['an overload within a stream', overloaded, 'busy', undefined],
  ['an overload within a stream, as one object', overloaded.error, 'busy', undefined],
  ['a request that is too large', openai(429, { message: tpm }), undefined, undefined],
  ['any 503', openai(503, { message: 'busy' }), undefined, undefined],
  ['an invalid request', openai(400, { message: 'no' }), undefined, undefined],
];

describe('a refusal', () => {
  it.each(ROWS)('is read from %s', (_what, thrown, means, retryAfter) => {
    const error = classifyError(thrown, { now: 0 });
    expect([refusalOf(error), error.retryAfter]).toEqual([means, retryAfter]);
    if (means) expect(isRetryable(error)).toBe(means === 'busy');
  });

  it('is read from an error thrown by project code', () => {
    expect(refusalOf(new ProviderError('later', 'rate_limit'))).toBe('busy');
    expect(refusalOf(new ProviderError('insufficient_quota', 'rate_limit', 429))).toBe('quota');
    expect(refusalOf(new ProviderError('no', 'server_error', 500))).toBeUndefined();
  });
});

describe('what follows a refusal', () => {
  const plan = (given: object) =>
    planAfterRefusal({ refusals: 1, waitMs: 1000, leftMs: 60_000, modelsLeft: 1, ...given });

  it.each<[string, object, string]>([
    ['the first one, with a fallback left, is the same model', {}, 'retry'],
    ['the second one, with a fallback left, is the fallback', { refusals: 2 }, 'fallback'],
    ['a wait of ten seconds, with a fallback left, is the same model', { waitMs: 10_000 }, 'retry'],
    ['a longer one, with a fallback left, is the fallback', { waitMs: 10_001 }, 'fallback'],
    ['any number of them, at the last model, is that model', { refusals: 99, modelsLeft: 0 }, 'retry'],
    ['a long wait, at the last model, is that model', { waitMs: 59_999, modelsLeft: 0 }, 'retry'],
    [
      'a wait beyond what is left, at the last model, is the end',
      { waitMs: 60_000, modelsLeft: 0 },
      'give_up',
    ],
  ])('%s', (_what, given, next) => {
    expect(plan(given).next).toBe(next);
  });
});

async function run(options: Pick<CallModelOptions, 'models'> & Partial<CallModelOptions>) {
  const ends: AttemptEnd[] = [];
  const waits: number[] = [];
  const result = await callModel({
    request: (model) => ask('hello', { model: model.model }),
    signal: new AbortController().signal,
    onAttemptEnd: (end) => void ends.push(end),
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { result, waits, asked: ends.map(({ model }) => model.name) };
}

const scripted = (name: string, script: Script) => defineTestModel(name, scriptedModel(script).provider);
const slow = (retryAfter?: number) =>
  fails({ status: 429, message: 'slow down', ...(retryAfter === undefined ? {} : { retryAfter }) });
const broke = fails({ status: 429, message: 'insufficient_quota' });

describe('a model whose provider refuses', () => {
  it('is called twice before its fallback', async () => {
    const models = [scripted('first', [slow(), slow()]), scripted('second', [says('Here')])];
    expect((await run({ models })).asked).toEqual(['first', 'first', 'second']);
  });

  it('is called once before its fallback if it asks for a wait above ten seconds', async () => {
    const models = [scripted('first', [slow(11)]), scripted('second', [says('Here')])];
    expect((await run({ models })).asked).toEqual(['first', 'second']);
  });

  it('is called until it answers if it is the last, at jittered intervals', async () => {
    const script = () => [...Array.from({ length: 9 }, () => slow()), says('Here')];
    const one = await run({ models: [scripted('last', script())] });
    const other = await run({ models: [scripted('last', script())] });
    expect(one.result).toMatchObject({ ok: true, attempts: 10 });
    expect(one.waits).not.toEqual(other.waits);
  });

  it('fails at once if it asks for a wait beyond the remaining time', async () => {
    const { result } = await run({ models: [scripted('last', [slow(86_400)])] });
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'rate_limit' } });
  });

  it('is called once before its fallback if its account has no credit', async () => {
    const models = [scripted('first', [broke]), scripted('second', [says('Here')])];
    expect((await run({ models })).asked).toEqual(['first', 'second']);
    expect((await run({ models: [scripted('last', [broke])] })).asked).toEqual(['last']);
  });
});
