/** A stream that breaks is followed by one plain call; all requests to one model share a time limit. */
import { expect, test } from '@jest/globals';
import {
  type Provider,
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../../src/core/message/provider.ts';
import type { ProviderFactoryConfig } from '../../src/core/message/provider-terms.ts';
import { defineModel } from '../../src/definitions/index.ts';
import { limitsOf } from '../../src/models/attempt-plan.ts';
import { type CallModelOptions, callModel } from '../../src/models/call-model.ts';
import { ask, defineTestModel } from './support.ts';

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
const WHOLE: ProviderResponse = { content: 'Here.', finishReason: 'stop', usage };
const say = (delta: string): ProviderStreamChunk => ({ type: 'content-delta', delta });
const FINISH: ProviderStreamChunk = { type: 'finish', finishReason: 'stop', usage };

/** Never answers; rejects when the request is aborted. */
const silence = ({ signal }: ProviderRequest) =>
  new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));

type Stream = (request: ProviderRequest) => AsyncIterable<ProviderStreamChunk>;

function modelOf(stream: Stream, generate: Provider['generate'] = async () => WHOLE) {
  const asked: string[] = [];
  const provider: Provider = {
    name: 'own',
    specificationVersion: '1',
    async stream(request) {
      asked.push('stream');
      return stream(request);
    },
    async generate(request) {
      asked.push('whole');
      return generate(request);
    },
  };
  return { asked, model: defineTestModel('main', () => provider) };
}

async function run(options: Pick<CallModelOptions, 'models'> & Partial<CallModelOptions>) {
  const told: string[] = [];
  const result = await callModel({
    request: () => ask('hello'),
    signal: new AbortController().signal,
    onWaiting: ({ attempt }) => void told.push(`${attempt} waits`),
    onChunk: ({ attempt, delta }) => void told.push(`${attempt} ${delta}`),
    onAttemptEnd: ({ attempt, outcome }) =>
      void told.push(`${attempt} ${outcome.ok ? 'ok' : `${outcome.error.code} ${outcome.next}`}`),
    wait: async (ms) => void told.push(`pause ${ms}`),
    ...options,
  });
  return { result, told };
}

const answered = { ok: true, response: { content: 'Here.' }, attempts: 2 };

test('[AX-31] a stream that does not start is reported once and followed by a call without streaming', async () => {
  const { model, asked } = modelOf(async function* (request) {
    yield await silence(request);
  });
  const { result, told } = await run({ models: [model], limits: { firstChunkMs: 200, feedbackMs: 20 } });
  expect(result).toMatchObject(answered);
  expect(asked).toEqual(['stream', 'whole']);
  expect(told).toEqual(['1 waits', '1 timeout plain', '2 Here.', '2 ok']);
});

test('[AX-32] [AX-37] a stream that stalls is followed by a call without streaming, and no wait is reported', async () => {
  const { model, asked } = modelOf(
    async function* (request) {
      yield say('Well');
      yield await silence(request);
    },
    () => new Promise((resolve) => setTimeout(resolve, 60, WHOLE)),
  );
  const limits = { betweenChunksMs: 100, feedbackMs: 20 };
  const { result, told } = await run({ models: [model], limits });
  expect(result).toMatchObject(answered);
  expect(asked).toEqual(['stream', 'whole']);
  expect(told).toEqual(['1 Well', '1 timeout plain', '2 Here.', '2 ok']);
});

test('[AX-37] no wait is reported once an answer has started', async () => {
  const { model } = modelOf(async function* () {
    yield say('Well');
    await new Promise((resolve) => setTimeout(resolve, 60));
    yield FINISH;
  });
  const { told } = await run({ models: [model], limits: { feedbackMs: 20 } });
  expect(told).toEqual(['1 Well', '1 ok']);
});

test('[AX-33] an endless stream is aborted and followed by a call without streaming', async () => {
  const { model, asked } = modelOf(async function* ({ signal }) {
    while (!signal?.aborted) {
      yield say('x');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  const { result, told } = await run({ models: [model], limits: { totalMs: 200 } });
  expect(result).toMatchObject(answered);
  expect(asked).toEqual(['stream', 'whole']);
  expect(told.filter((line) => line !== '1 x')).toEqual(['1 timeout plain', '2 Here.', '2 ok']);
});

test('[AX-34] nothing of a broken stream is stored, calls included', async () => {
  const { model } = modelOf(async function* () {
    yield say('Well');
    yield { type: 'tool-call-start', id: 'a', name: 'look' };
    yield { type: 'tool-call-delta', id: 'a', argumentsDelta: '{"x":1}' };
    throw new Error('socket hang up');
  });
  const { result, told } = await run({ models: [model] });
  expect(result).toMatchObject(answered);
  expect(result.ok && result.response).not.toHaveProperty('toolCalls');
  expect(told).toEqual(['1 Well', '1 {"x":1}', '1 server_error plain', '2 Here.', '2 ok']);
});

test('[AX-34] a call without streaming is made once per model, and failures after it are retried as usual', async () => {
  const failing: Stream = async function* () {
    yield say('Well');
    throw new Error('socket hang up');
  };
  const { model, asked } = modelOf(failing, () =>
    Promise.reject(new ProviderError('busy', 'server_error', 503)),
  );
  const { result, told } = await run({ models: [model] });
  expect(result).toMatchObject({ ok: false, attempts: 3 });
  expect(asked).toEqual(['stream', 'whole', 'stream']);
  expect(told).toEqual([
    ...['1 Well', '1 server_error plain'],
    ...['2 server_error retry', 'pause 2000'],
    ...['3 Well', '3 server_error give_up'],
  ]);
});

test('[AX-34] a stream refused by its provider is not repeated without streaming', async () => {
  const { model, asked } = modelOf(async function* () {
    yield say('Well');
    if (asked.length < 3) throw new ProviderError('too many', 'rate_limit', 429);
    yield FINISH;
  });
  await run({ models: [model] });
  expect(asked).toEqual(['stream', 'stream', 'stream']);
});

test('[AX-35] a timeout without streaming is an error that names provider and model, and nothing is tried after a stall', async () => {
  const { model, asked } = modelOf(async function* (request) {
    yield await silence(request);
  }, silence);
  const { result } = await run({ models: [model], limits: { firstChunkMs: 50, generateMs: 50 } });
  expect(asked).toEqual(['stream', 'whole']);
  const message = 'The model "main" (main-id of own) stalled: no answer within 50 ms.';
  expect(result).toMatchObject({ ok: false, error: { code: 'timeout', message } });
});

test('[AX-36] a model without streaming is called without streaming at once', async () => {
  const { model, asked } = modelOf(async function* () {
    yield FINISH;
  });
  await run({ models: [{ ...model, capabilities: { supportsStreaming: false } }] });
  expect(asked).toEqual(['whole']);
});

test('[AX-38] a provider gets the longest timeout plus 15 seconds, whatever a budget leaves', async () => {
  const told: unknown[] = [];
  const { model } = modelOf(async function* () {
    yield FINISH;
  });
  const provider = (config: ProviderFactoryConfig) => {
    told.push(config.timeout);
    return model.provider(config);
  };
  for (const configSlots of [undefined, {}]) {
    const slots = configSlots ? { configSlots } : {};
    const timed = { ...model, provider: Object.assign(provider, slots), timeouts: { totalSeconds: 700 } };
    await run({ models: [timed], leftMs: () => 1000 });
  }
  expect(told).toEqual([715_000, 715_000]);
});

test('all requests to one model share its total timeout, which a retry wait may not exceed', async () => {
  const refusing: Stream = async function* () {
    yield await Promise.reject(new ProviderError('later', 'rate_limit', 429, 30));
  };
  const { model, asked } = modelOf(refusing);
  const { told } = await run({ models: [model], limits: { totalMs: 10_000, generateMs: 10_000 } });
  expect(asked).toEqual(['stream']);
  expect(told).toEqual(['1 rate_limit give_up']);
});

const define = (feedbackSeconds: unknown) =>
  defineModel({
    ...{ name: 'main', model: 'm', provider: modelOf(() => ReadableStream.from([FINISH])).model.provider },
    timeouts: { feedbackSeconds: feedbackSeconds as number },
  });

test.each([0, -1, Number.NaN, '60', null])('[AX-39] a timeout of %p is refused by its name', (seconds) => {
  expect(() => define(seconds)).toThrow(/timeouts\.feedbackSeconds/);
});

test('[AX-39] an absent timeout has its default', () => {
  expect(limitsOf(define(undefined).timeouts)).toMatchObject({ feedbackMs: 8000, firstChunkMs: 120_000 });
});
