/** Answers of misbehaving providers, over real sockets: each cap of docs/operations.md. */
import { gzipSync } from 'node:zlib';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ProviderFactory } from '../../src/core/message/provider.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { callModel } from '../../src/models/call-model.ts';
import { aiSdk, boundedFetch, openaiCompatible } from '../../src/models/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { isLong } from '../support/long-form.ts';
import {
  again,
  type Body,
  event,
  FINISH,
  type RudeAnswer,
  type RudeServer,
  serveRudely,
} from './rude-server.ts';
import { ask, defineTestModel } from './support.ts';

const servers: RudeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(answer: RudeAnswer | (() => RudeAnswer)): Promise<RudeServer> {
  const server = await serveRudely(() => (typeof answer === 'function' ? answer() : answer));
  servers.push(server);
  return server;
}

const openai = (url: string) => openaiCompatible({ baseUrl: url });
const bridge = (url: string): ProviderFactory =>
  aiSdk((id) =>
    createOpenAICompatible({ name: 'rude', baseURL: url, fetch: boundedFetch, includeUsage: true })(id),
  );

/** Calls one model once; what would follow a failed attempt is in its outcome's `next`. */
async function call(provider: ProviderFactory, capabilities = {}) {
  const ends: string[] = [];
  const result = await callModel({
    models: [defineTestModel('rude', provider, { capabilities })],
    request: (model) => ask('hello', { model: model.model }),
    signal: new AbortController().signal,
    onAttemptEnd: ({ outcome }) => void ends.push(outcome.ok ? 'ok' : outcome.next),
    // No time limit may end the call on a busy machine.
    limits: {
      retryDelaysMs: [],
      firstChunkMs: NEVER,
      betweenChunksMs: NEVER,
      totalMs: NEVER,
      generateMs: NEVER,
    },
  });
  return { result, ends };
}

const NEVER = 3_600_000;
const KILOBYTE = 'x'.repeat(1024);
const MEGABYTE = KILOBYTE.repeat(1024);
const toolCall = (index: number, rest: object = {}) =>
  event({ tool_calls: [{ index, id: `c${index}`, function: { name: 'add', arguments: '{}' }, ...rest }] });
const JSON_TYPE = { 'content-type': 'application/json' };
const completion = (message: object) =>
  JSON.stringify({ id: 'r', choices: [{ message, finish_reason: 'stop' }] });

/** Title, expected message and body of each stream; most bodies are endless, and only a cap ends them. */
const STREAMS: [string, string, () => Body][] = [
  ['bytes of text', `${LIMITS.answerTextBytes} bytes of text`, () => again(event({ content: MEGABYTE }))],
  [
    'bytes of reasoning',
    `${LIMITS.answerReasoningBytes} bytes of reasoning`,
    () => again(event({ reasoning_content: MEGABYTE })),
  ],
  [
    'tool calls',
    `${LIMITS.answerCalls} tool calls`,
    () =>
      (function* () {
        for (let n = 0; ; n++) yield toolCall(n);
      })(),
  ],
  [
    'bytes of arguments in one call',
    `${LIMITS.callArgumentBytes} bytes of arguments in one tool call`,
    () => again(toolCall(0, { function: { name: 'add', arguments: MEGABYTE } })),
  ],
  [
    'bytes of arguments in all calls',
    `${LIMITS.answerArgumentBytes} bytes of arguments in all tool calls`,
    () =>
      (function* () {
        for (let n = 0; ; n++) yield toolCall(n, { function: { name: 'add', arguments: MEGABYTE } });
      })(),
  ],
  [
    'characters of a tool name',
    'the name of a tool has more than 128 characters',
    () => [toolCall(0, { function: { name: KILOBYTE, arguments: '{}' } }), FINISH],
  ],
  [
    'levels of nested arguments',
    'nested deeper than 1000 levels',
    () => [
      toolCall(0, {
        function: { name: 'add', arguments: `{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}` },
      }),
      FINISH,
    ],
  ],
  [
    'bytes of one line',
    `${LIMITS.answerEventBytes} bytes`,
    () =>
      (function* () {
        yield 'data: ';
        yield* again(MEGABYTE);
      })(),
  ],
  [
    'bytes of one event in many lines',
    `${LIMITS.answerEventBytes} bytes`,
    () => again(`data: ${KILOBYTE}\r\n`),
  ],
  [
    'bytes of comments',
    `${LIMITS.answerStreamBytes} bytes on the wire`,
    () => again(`: ${KILOBYTE}\n\n`.repeat(64)),
  ],
];

describe('[definitions 5.5] an endless answer fails with AnswerTooLarge at its limit of', () => {
  it.each(STREAMS)('%s', async (_title, message, body) => {
    const server = await serve({ body: body() });
    const { result, ends } = await call(openai(server.url));
    expect(result).toMatchObject({
      ok: false,
      attempts: 1,
      error: { code: 'AnswerTooLarge', message: expect.stringContaining(message) },
    });
    expect(ends).toEqual(['give_up']);
    // The server notices the closed socket and stops writing.
    expect(server.sent).toBeLessThan(LIMITS.answerStreamBytes + 32 * MEGABYTE.length);
  });

  // Bytes on the wire are bounded by the same `fetch` for both: with the AI SDK they are tested in the long form only.
  const ON_THE_WIRE = ['bytes of one event in many lines', 'bytes of comments'];

  it.each(STREAMS.filter(([title]) => !title.includes('nested') && (isLong || !ON_THE_WIRE.includes(title))))(
    '%s, through the AI SDK',
    async (_title, _message, body) => {
      const { result } = await call(bridge((await serve({ body: body() })).url));
      expect(result).toMatchObject({ ok: false, error: { code: 'AnswerTooLarge' } });
    },
  );
});

const WHOLE: [string, RudeAnswer][] = [
  ['bytes on the wire', { headers: JSON_TYPE, body: again(MEGABYTE) }],
  ['bytes of text', { headers: JSON_TYPE, body: [completion({ content: MEGABYTE.repeat(5) })] }],
  [
    'tool calls',
    {
      headers: JSON_TYPE,
      body: [
        completion({
          tool_calls: Array.from({ length: 2500 }, (_, n) => ({
            id: `c${n}`,
            type: 'function',
            function: { name: 'add', arguments: '{}' },
          })),
        }),
      ],
    },
  ],
  [
    'bytes on the wire, decompressed',
    { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: [gzipSync(MEGABYTE.repeat(64))] },
  ],
];

describe('[definitions 5.5] an answer without streaming fails with AnswerTooLarge at its limit of', () => {
  it.each(WHOLE)('%s', async (_title, answer) => {
    const { result } = await call(openai((await serve(answer)).url), { supportsStreaming: false });
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { code: 'AnswerTooLarge' } });
  });
});

describe('[definitions 5.5] a misbehaving provider', () => {
  it('is not asked again after an answer that is too large; the fallback is', async () => {
    const server = await serve({ body: again(event({ content: MEGABYTE })) });
    const ends: string[] = [];
    const result = await callModel({
      models: [
        defineTestModel('rude', openai(server.url)),
        defineTestModel('second', scriptedModel([says('Here')]).provider),
      ],
      request: (model) => ask('hello', { model: model.model }),
      signal: new AbortController().signal,
      onAttemptEnd: ({ model, outcome }) =>
        void ends.push(`${model.name} ${outcome.ok ? 'ok' : outcome.next}`),
    });
    expect(ends).toEqual(['rude fallback', 'second ok']);
    expect(result).toMatchObject({ ok: true, response: { content: 'Here' } });
    expect(server.requests).toBe(1);
  });

  it('has the body of its errors truncated, and their status kept', async () => {
    const server = await serve({
      status: 400,
      headers: { 'content-type': 'text/plain' },
      body: again(MEGABYTE),
    });
    const { result } = await call(openai(server.url));
    expect(result).toMatchObject({ ok: false, error: { code: 'invalid_request', statusCode: 400 } });
    expect(!result.ok && result.error.message.length).toBeLessThan(LIMITS.errorBodyBytes);
    expect(server.sent).toBeLessThan(32 * MEGABYTE.length);
  });

  it.each([
    ['negative', -5],
    ['not whole', 2.5],
    ['beyond what a database holds', 1e300],
    ['a text', '7'],
    ['null', null],
  ])('may report %s token counts without corrupting the usage', async (_title, count) => {
    const usage = { prompt_tokens: count, completion_tokens: 3, total_tokens: count, cost: count };
    const body = [
      event({ content: 'Hello' }),
      `data: ${JSON.stringify({ id: 'r', choices: [], usage })}\n\n`,
      FINISH,
    ];
    const { result } = await call(openai((await serve({ body })).url));
    // What counts as not reported is estimated.
    const prompt = count === 2.5 ? 3 : expect.any(Number);
    const told = result.ok ? result.response.usage : undefined;
    expect(told).toMatchObject({ promptTokens: prompt, completionTokens: 3 });
    expect(told?.cost).toBe(count === 2.5 ? 2.5 : undefined);
  });

  it.each([
    ['content', { content: { a: 1 } }],
    [
      'the name of a call',
      { tool_calls: [{ index: 0, id: 'c', function: { name: { a: 1 }, arguments: '{}' } }] },
    ],
    [
      'the id of a call',
      { tool_calls: [{ index: 0, id: { a: 1 }, function: { name: 'add', arguments: '{}' } }] },
    ],
    ['arguments', { tool_calls: [{ index: 0, id: 'c', function: { name: 'add', arguments: true } }] }],
  ])(
    'may send %s that is not text, which is an invalid answer that is not retried',
    async (_title, delta) => {
      const { result } = await call(openai((await serve({ body: [event(delta), FINISH] })).url));
      expect(result).toMatchObject({
        ok: false,
        attempts: 1,
        error: {
          code: 'InvalidAnswer',
          message: expect.stringMatching(
            /^The server answered with a value of type \w+ where a string is required\. Set /,
          ),
        },
      });
    },
  );
});

describe('[definitions 4] a stream that trickles endlessly is aborted after', () => {
  async function* drip(part: string): AsyncGenerator<string> {
    for (;;) {
      yield part;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it.each([
    [
      'totalSeconds, though there is always a next chunk',
      () => event({ content: 'x' }),
      { totalSeconds: 1, plainSeconds: 0.5 },
      ['no end of the answer within 1000 ms', 'no answer within'],
    ],
    [
      'firstChunkSeconds, though there is always another comment',
      () => ': wait\n\n',
      { firstChunkSeconds: 0.5, plainSeconds: 0.5 },
      ['no first chunk within 500 ms', 'no answer within 500 ms'],
    ],
    [
      'plainSeconds, though there is always another space',
      () => ' ',
      { plainSeconds: 0.5 },
      ['no answer within 500 ms'],
    ],
  ])('%s', async (_title, part, timeouts, messages) => {
    const plain = messages.length === 1;
    const server = await serve(() => ({ headers: plain ? JSON_TYPE : {}, body: drip(part()) }));
    const failures: unknown[] = [];
    const result = await callModel({
      models: [
        defineTestModel('rude', openai(server.url), {
          timeouts,
          capabilities: { supportsStreaming: !plain },
        }),
      ],
      request: (model) => ask('hello', { model: model.model }),
      signal: new AbortController().signal,
      onAttemptEnd: ({ outcome }) => void failures.push(outcome),
    });
    expect(failures).toMatchObject(
      messages.map((message) => ({
        error: { code: 'timeout', message: expect.stringContaining(message) },
      })),
    );
    expect(result).toMatchObject({ ok: false, attempts: messages.length });
  });

  it('idleSeconds, when only comments follow its first chunk', async () => {
    const body = async function* () {
      yield event({ content: 'Well' });
      yield* drip(': wait\n\n');
    };
    const server = await serve(() => ({ body: body() }));
    const failures: unknown[] = [];
    await callModel({
      models: [
        defineTestModel('rude', openai(server.url), { timeouts: { idleSeconds: 0.5, plainSeconds: 0.5 } }),
      ],
      request: (model) => ask('hello', { model: model.model }),
      signal: new AbortController().signal,
      onAttemptEnd: ({ outcome }) => void failures.push(outcome),
    });
    expect(failures[0]).toMatchObject({
      error: { code: 'timeout', message: expect.stringContaining('no further chunk within 500 ms') },
    });
  });
});
