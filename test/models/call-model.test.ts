import { ProviderError, type ProviderStreamChunk } from '../../src/core/message/provider.ts';
import { type AttemptEnd, type CallModelOptions, callModel } from '../../src/models/call-model.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import {
  calls,
  delays,
  disconnects,
  fails,
  hangs,
  type Script,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { ask, defineTestModel, until } from './support.ts';

/** Runs a step and records its reports; waits are recorded without sleeping. */
async function run(options: Pick<CallModelOptions, 'models'> & Partial<CallModelOptions>) {
  const log: string[] = [];
  const ends: AttemptEnd[] = [];
  const waits: number[] = [];
  const result = await callModel({
    request: (model) => ask('hello', { model: model.model }),
    signal: new AbortController().signal,
    onAttempt: async ({ attempt, model }) => void log.push(`${attempt} ${model.name}`),
    onChunk: ({ attempt, kind, delta }) => void log.push(`${attempt} ${kind} ${delta}`),
    onAttemptEnd: (end) => {
      ends.push(end);
      log.push(`${end.attempt} ${end.outcome.ok ? 'ok' : `${end.outcome.error.code} ${end.outcome.next}`}`);
    },
    wait: async (ms) => void waits.push(ms),
    ...options,
  });
  return { result, log, ends, waits };
}

function scripted(name: string, script: Script) {
  const model = scriptedModel(script);
  return { ...defineTestModel(name, model.provider), script: model };
}

const busy = fails({ status: 503, message: 'busy' });

test('[definitions 4] an answer is streamed, assembled and reported with its times', async () => {
  const model = scripted('main', [says('Hello', { chunks: 2, reasoning: 'hm' })]);
  const { result, log, ends } = await run({ models: [model] });
  expect(log).toEqual(['1 main', '1 reasoning hm', '1 content Hel', '1 content lo', '1 ok']);
  expect(result).toMatchObject({
    ok: true,
    attempts: 1,
    response: { content: 'Hello', reasoning: 'hm', finishReason: 'stop', responseId: 'scripted-1' },
  });
  expect(result.ok && result.model).toBe(model);
  const end = ends[0]!;
  expect(end.outcome).toMatchObject({ ok: true, firstTokenAt: expect.any(Number) });
  expect(end.startedAt).toBeLessThanOrEqual(end.endedAt);
  expect(model.script.requests[0]?.model).toBe('main-id');
});

test('[definitions 5.4] streamed tool calls are part of the response', async () => {
  const { result } = await run({ models: [scripted('main', [calls('add', { a: 1 }, { text: 'Adding.' })])] });
  expect(result.ok && result.response).toMatchObject({
    content: 'Adding.',
    toolCalls: [{ id: 'call_1', name: 'add', arguments: { a: 1 } }],
    finishReason: 'tool_calls',
  });
});

test('[definitions 4] a model without streaming answers in one piece, and reports its text as one chunk', async () => {
  const model = {
    ...scripted('main', [says('Hello', { chunks: 5 })]),
    capabilities: { supportsStreaming: false },
  };
  const { result, log } = await run({ models: [model] });
  expect(log).toEqual(['1 main', '1 content Hello', '1 ok']);
  expect(result).toMatchObject({ ok: true, response: { content: 'Hello' } });
});

test('[definitions 4] each model gets a first call and two retries, 1 s and 2 s apart, then the fallbacks in order', async () => {
  const models = [
    scripted('first', [busy, busy, busy]),
    scripted('second', [busy, disconnects({ after: 'Well' }), busy]),
    scripted('third', [busy, says('Here')]),
  ];
  const { result, log, waits, ends } = await run({ models });
  expect(log.filter((line) => !line.includes('content'))).toEqual([
    ...[
      '1 first',
      '1 server_error retry',
      '2 first',
      '2 server_error retry',
      '3 first',
      '3 server_error fallback',
    ],
    ...[
      '4 second',
      '4 server_error retry',
      '5 second',
      '5 server_error plain',
      '6 second',
      '6 server_error fallback',
    ],
    ...['7 third', '7 server_error retry', '8 third', '8 ok'],
  ]);
  // After a stream that broke off, a plain call follows without a wait.
  expect(waits).toEqual([1000, 2000, 1000, 1000]);
  expect(ends[0]?.outcome).toMatchObject({ ok: false, next: 'retry', willRetryInMs: 1000 });
  expect(result).toMatchObject({ ok: true, attempts: 8, model: { name: 'third' } });
  for (const model of models) model.script.assertConsumed();
});

test('[definitions 4] when every model has failed the last failure is the result, not an exception', async () => {
  const models = [
    scripted('first', [busy, busy, busy]),
    scripted('second', [fails({ status: 400, message: 'no' })]),
  ];
  const { result, ends } = await run({ models });
  expect(result).toMatchObject({ ok: false, attempts: 4, error: { code: 'invalid_request', message: 'no' } });
  expect(ends.at(-1)?.outcome).toMatchObject({ ok: false, next: 'give_up' });
});

test('[definitions 4] waits follow retry-after, up to a minute', async () => {
  const slow = (retryAfter: number) => fails({ status: 500, message: 'slow down', retryAfter });
  const { waits } = await run({ models: [scripted('main', [slow(7.5), slow(3600), says('Here')])] });
  expect(waits).toEqual([7500, 60_000]);
});

test('[definitions 5.5] auth_error and invalid_request are not retried', async () => {
  for (const status of [400, 401, 403, 404, 422]) {
    const models = [
      scripted('first', [fails({ status, message: 'no' })]),
      scripted('second', [says('Here')]),
    ];
    const { log, waits } = await run({ models });
    expect(log[1]).toContain('fallback');
    expect(log[2]).toBe('2 second');
    expect(waits).toEqual([]);
  }
});

test('[definitions 4] a factory that throws is a failed attempt like any other', async () => {
  const broken = defineTestModel('broken', () => {
    throw new ProviderError('No API key.', 'auth_error');
  });
  const { result, log } = await run({ models: [broken, scripted('second', [says('Here')])] });
  expect(log.slice(0, 2)).toEqual(['1 broken', '1 auth_error fallback']);
  expect(result.ok).toBe(true);
});

test('[definitions 5.1] a model has one provider, made at its first use', async () => {
  const script = scriptedModel(() => says('Here'));
  let made = 0;
  const model = defineTestModel('main', (config) => {
    made += 1;
    return script.provider(config);
  });
  await run({ models: [model] });
  await run({ models: [model] });
  expect(made).toBe(1);
});

test('[definitions 5.3] an answer that ends with an error, or without an end, is a failure', async () => {
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  const endings: ProviderStreamChunk[] = [
    { type: 'finish', finishReason: 'error', usage },
    { type: 'content-done' },
    { type: 'error', error: 'broken', code: 'server_error' },
  ];
  for (const last of endings) {
    const chunks: ProviderStreamChunk[] = [{ type: 'content-delta', delta: 'Hel' }, last];
    const model = defineTestModel('main', () => ({
      name: 'own',
      specificationVersion: '1',
      generate: () => Promise.reject(new Error('not used')),
      stream: async () => ReadableStream.from(chunks),
    }));
    const { result } = await run({ models: [model] });
    expect(result).toMatchObject({ ok: false, attempts: 3, error: { code: 'server_error' } });
  }
});

test('[definitions 4] a call without models fails with zero attempts', async () => {
  expect((await run({ models: [] })).result).toMatchObject({ ok: false, attempts: 0 });
});

describe('stalls', () => {
  const limits = { firstChunkMs: 200, generateMs: 200 };

  test.each([
    ['its first chunk', hangs(), limits, 'no first chunk within 200 ms'],
    ['a further chunk', hangs({ after: 'Well' }), { betweenChunksMs: 200 }, 'no further chunk within 200 ms'],
    ['a late answer', delays(60_000, says('late')), limits, 'no first chunk within 200 ms'],
  ])(
    '[definitions 4] a model that stalls before %s is given up for the next one, and its socket is closed',
    async (_title, step, limits, message) => {
      const script = scriptedModel([step, hangs()]);
      const server = await script.serve();
      try {
        const stalling = defineTestModel('stalling', openaiCompatible({ baseUrl: server.url }));
        const { result, ends, waits } = await run({
          models: [stalling, scripted('second', [says('Here')])],
          limits: { generateMs: 200, ...limits },
        });
        const timedOut = (words: string) => ({ code: 'timeout', message: expect.stringContaining(words) });
        expect(ends[0]?.outcome).toMatchObject({ next: 'plain', error: timedOut(message) });
        expect(ends[1]?.outcome).toMatchObject({
          next: 'fallback',
          error: timedOut('no answer within 200 ms'),
        });
        expect(result).toMatchObject({ ok: true, attempts: 3 });
        expect(waits).toEqual([]);
        // On a busy machine the time may be over before a request has reached the server.
        await until(
          () => script.connections.every(({ closedAt }) => closedAt !== null),
          'all sockets to close',
        );
        expect(script.connections.filter(({ completed }) => completed)).toEqual([]);
      } finally {
        await server.close();
      }
    },
  );

  test('[definitions 4] a model without streaming stalls too', async () => {
    const model = { ...scripted('main', [hangs()]), capabilities: { supportsStreaming: false } };
    expect((await run({ models: [model], limits })).result).toMatchObject({ ok: false, attempts: 1 });
  });

  test('[definitions 4] a slow stream that keeps sending is not a stall', async () => {
    // 400 ms in total, which is more than the limit between two chunks. A chunk's timer is always due before that of
    // its limit, however late both are noticed.
    const model = scripted('main', [says('Hello there. '.repeat(4), { chunks: 20, chunkDelayMs: 20 })]);
    const result = await run({ models: [model], limits: { betweenChunksMs: 300 } });
    expect(result.result).toMatchObject({ ok: true, attempts: 1 });
  });
});

describe('abort', () => {
  const reason = new Error('the user pressed stop');

  test.each([
    ['before a stream begins', hangs(), 0],
    ['within a stream', hangs({ after: 'Well' }), 1],
  ])(
    '[definitions 4] an abort %s is thrown at once, closes the socket and never falls back',
    async (_title, step, chunks) => {
      const first = scriptedModel([step]);
      const second = scripted('second', [says('Here')]);
      const server = await first.serve();
      try {
        const abort = new AbortController();
        const pieces: string[] = [];
        const models = [defineTestModel('first', openaiCompatible({ baseUrl: server.url })), second];
        const onChunk = ({ delta }: { delta: string }) => void pieces.push(delta);
        const outcome = run({ models, signal: abort.signal, onChunk }).catch((error: unknown) => error);
        await until(() => first.requests.length === 1 && pieces.length === chunks, 'the stream');
        abort.abort(reason);
        expect(await outcome).toBe(reason);
        await until(() => first.connections[0]?.closedAt != null, 'the socket to close');
        expect(second.script.requests).toHaveLength(0);
      } finally {
        await server.close();
      }
    },
  );

  test('[definitions 4] an abort between two attempts is thrown, and there is no further attempt', async () => {
    const abort = new AbortController();
    const model = scripted('main', [busy, says('Here')]);
    const wait = async () => abort.abort(reason);
    await expect(run({ models: [model], signal: abort.signal, wait })).rejects.toBe(reason);
    expect(model.script.requests).toHaveLength(1);
  });

  test('[definitions 4] the default wait ends with the abort', async () => {
    const abort = new AbortController();
    const model = scripted('main', [fails({ status: 503, message: 'busy', retryAfter: 60 })]);
    const wait = undefined;
    const outcome = run({ models: [model], signal: abort.signal, wait }).catch((error: unknown) => error);
    await until(() => model.script.requests.length === 1, 'the request');
    abort.abort(reason);
    expect(await outcome).toBe(reason);
  });

  test('[definitions 4] a signal that is aborted already sends nothing', async () => {
    const model = scripted('main', [says('Here')]);
    await expect(run({ models: [model], signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(model.script.requests).toHaveLength(0);
  });
});
