import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ProviderRequest } from '../../src/core/message/provider.ts';
import { createAccumulator } from '../../src/models/accumulate.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import { calls, callsMany, disconnects, fails, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { ask, collect, until } from './support.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const apiKey = 'sk-test-0123456789abcdef';

/** A scripted server, and our backend as its client. */
async function connectTo(model: ReturnType<typeof scriptedModel>) {
  const server = await model.serve();
  closers.push(server.close);
  return openaiCompatible({ baseUrl: server.url, apiKey })({ apiKey: '' });
}

/** A server with a handwritten answer, for answers that the scripted one cannot give. */
async function answerWith(
  answer: (response: ServerResponse, request: IncomingMessage, body: string) => void,
) {
  const server = createServer(async (request, response) => {
    answer(response, request, (await request.toArray()).join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

function sendCompletion(response: ServerResponse, rest: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'c1', ...rest }));
}

function sendEvents(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  response.end(`${lines.join('')}data: [DONE]\n\n`);
}

describe('answers', () => {
  test('[definitions 5.3] a complete answer carries content, finish reason, usage and id', async () => {
    const usage = {
      promptTokens: 9,
      completionTokens: 4,
      totalTokens: 13,
      cachedTokens: 3,
      reasoningTokens: 2,
    };
    const provider = await connectTo(scriptedModel([says('Hello', { reasoning: 'hm', usage })]));
    expect(await provider.generate(ask('hello'))).toEqual({
      content: 'Hello',
      reasoning: 'hm',
      finishReason: 'stop',
      usage,
      responseId: 'scripted-1',
    });
  });

  test('[definitions 5.4] a streamed answer arrives in chunks and ends with usage', async () => {
    const usage = {
      promptTokens: 9,
      completionTokens: 4,
      totalTokens: 13,
      cachedTokens: 3,
      reasoningTokens: 2,
    };
    const provider = await connectTo(scriptedModel([says('Hello', { chunks: 2, reasoning: 'hm', usage })]));
    expect(await collect(await provider.stream(ask('hello')))).toEqual([
      { type: 'reasoning-delta', delta: 'hm' },
      { type: 'content-delta', delta: 'Hel' },
      { type: 'content-delta', delta: 'lo' },
      { type: 'reasoning-done' },
      { type: 'content-done' },
      { type: 'finish', finishReason: 'stop', usage, responseId: 'scripted-1' },
    ]);
  });

  test('[definitions 5.4] streamed tool calls are assembled one by one', async () => {
    const provider = await connectTo(
      scriptedModel([callsMany([{ name: 'add', args: { a: 1 } }, { name: 'now' }], { text: 'Both.' })]),
    );
    const chunks = await collect(await provider.stream(ask('go')));
    expect(chunks.filter((chunk) => chunk.type !== 'tool-call-delta').slice(2)).toEqual([
      { type: 'tool-call-start', id: 'call_1', name: 'add' },
      { type: 'tool-call-start', id: 'call_2', name: 'now' },
      { type: 'content-done' },
      { type: 'tool-call-done', id: 'call_1', name: 'add', arguments: '{"a":1}' },
      { type: 'tool-call-done', id: 'call_2', name: 'now', arguments: '{}' },
      expect.objectContaining({ type: 'finish', finishReason: 'tool_calls' }),
    ]);
  });

  test('[definitions 5.3] malformed arguments become {} and keep their text', async () => {
    const provider = await connectTo(scriptedModel([calls('add', '{"a": 1'), calls('add', '[1]')]));
    const read = async () => (await provider.generate(ask('go'))).toolCalls?.[0];
    expect(await read()).toEqual({ id: 'call_1', name: 'add', arguments: {}, rawArguments: '{"a": 1' });
    expect(await read()).toEqual({ id: 'call_2', name: 'add', arguments: {}, rawArguments: '[1]' });
  });

  test('[definitions 5.4] calls without index, id or usage, followed by "stop", are read', async () => {
    const url = await answerWith((response) => {
      const delta = (rest: object) => ({ id: 'r1', choices: [{ delta: { tool_calls: [rest] } }] });
      sendEvents(response, [
        delta({ function: { name: 'a', arguments: '{"x":' } }),
        delta({ function: { arguments: '1}' } }),
        delta({ function: { name: 'b' } }),
        { id: 'r1', choices: [{ delta: {}, finish_reason: 'stop' }] },
      ]);
    });
    const chunks = await collect(await openaiCompatible({ baseUrl: url })({ apiKey: '' }).stream(ask('go')));
    expect(chunks.slice(-3)).toEqual([
      { type: 'tool-call-done', id: 'r1_0', name: 'a', arguments: '{"x":1}' },
      { type: 'tool-call-done', id: 'r1_1', name: 'b', arguments: '' },
      {
        type: 'finish',
        finishReason: 'tool_calls',
        usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
        responseId: 'r1',
      },
    ]);
  });

  test('[AX-48] interleaved deltas of two calls become two calls, in order', async () => {
    const url = await answerWith((response) => {
      const delta = (...rest: object[]) => ({ id: 'r1', choices: [{ delta: { tool_calls: rest } }] });
      sendEvents(response, [
        delta({ index: 0, id: 'x', function: { name: 'add' } }, { index: 1, id: 'y' }),
        delta({ index: 1, function: { name: 'take', arguments: '{"b":' } }),
        delta({ index: 0, function: { arguments: '{"a":' } }),
        delta({ index: 1, function: { arguments: '2}' } }, { index: 0, function: { arguments: '1}' } }),
        { id: 'r1', choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      ]);
    });
    const chunks = await collect(await openaiCompatible({ baseUrl: url })({ apiKey: '' }).stream(ask('go')));
    const accumulator = createAccumulator();
    for (const chunk of chunks) accumulator.add(chunk);
    expect(accumulator.response().toolCalls).toEqual([
      { id: 'x', name: 'add', arguments: { a: 1 } },
      { id: 'y', name: 'take', arguments: { b: 2 } },
    ]);
  });

  test.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['eos', 'stop'],
  ])('[definitions 5.3] the finish reason %s is %s', async (theirs, ours) => {
    const choice = { message: { role: 'assistant', content: 'x' }, finish_reason: theirs };
    const url = await answerWith((response) => sendCompletion(response, { choices: [choice] }));
    const provider = openaiCompatible({ baseUrl: url })({ apiKey: '' });
    expect((await provider.generate(ask('go'))).finishReason).toBe(ours);
  });
});

describe('requests', () => {
  const tools: ProviderRequest['tools'] = [
    { type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } },
  ];

  test('[definitions 5.2] a request arrives unchanged: messages, parts, tools and settings', async () => {
    const model = scriptedModel([says('done')]);
    const provider = await connectTo(model);
    const request: ProviderRequest = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image', data: 'aGk=', mediaType: 'image/png', detail: 'low' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'file', data: 'aGk=', mediaType: 'application/pdf', filename: 'a.pdf' },
          ],
        },
        { role: 'assistant', content: null, toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }] },
        { role: 'tool', toolCallId: 'c1', toolName: 'add', content: '2' },
      ],
      tools,
      toolChoice: { name: 'add' },
      parallelToolCalls: false,
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['END'],
      responseFormat: { type: 'json_object' },
      user: 'thread-1',
      providerOptions: { seed: 7 },
    };
    await provider.generate(request);
    expect(model.requests).toEqual([request]);
  });

  test('[definitions 5.2] tool errors, malformed arguments and empty answers are sent in a form that servers accept', async () => {
    let sent: { messages: unknown[] } | undefined;
    const url = await answerWith((response, _request, body) => {
      sent = JSON.parse(body);
      sendCompletion(response, { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] });
    });
    const toolCalls = [{ id: 'c1', name: 'add', arguments: {}, rawArguments: '{"a' }];
    await openaiCompatible({ baseUrl: url })({ apiKey: '' }).generate({
      model: 'm',
      messages: [
        { role: 'assistant', content: null, toolCalls },
        {
          role: 'tool',
          toolCallId: 'c1',
          toolName: 'add',
          content: { type: 'error', error: 'bad arguments' },
        },
        { role: 'assistant', content: null },
      ],
    });
    expect(sent?.messages).toMatchObject([
      { tool_calls: [{ function: { arguments: '{"invalid_json":"{\\"a"}' } }] },
      { role: 'tool', content: 'Error: bad arguments' },
      { role: 'assistant', content: '' },
    ]);
  });

  test('[definitions 5.2] tool settings are omitted without tools', async () => {
    const model = scriptedModel([says('done')]);
    const provider = await connectTo(model);
    await provider.generate(ask('x', { tools: [], toolChoice: 'auto', parallelToolCalls: true }));
    expect(model.requests).toEqual([ask('x')]);
  });

  test('[definitions 5.6] the reasoning level is sent as an effort', async () => {
    const model = scriptedModel(() => says('done'));
    const provider = await connectTo(model);
    for (const level of [0, 33, 66, 100]) await provider.generate(ask('x', { reasoning: { level } }));
    expect(model.requests.map((request) => request.providerOptions?.reasoning_effort)).toEqual([
      undefined,
      'low',
      'medium',
      'high',
    ]);
  });
});

describe('failures', () => {
  const attempts = {
    generate: (provider: { generate(request: ProviderRequest): Promise<unknown> }) =>
      provider.generate(ask('x')),
    stream: (provider: { stream(request: ProviderRequest): Promise<unknown> }) => provider.stream(ask('x')),
  };

  test.each(['generate', 'stream'] as const)(
    '[definitions 5.5] %s turns statuses into codes, with the seconds to wait, and sends only one request',
    async (kind) => {
      const model = scriptedModel([
        fails({ status: 429, message: 'slow down', retryAfter: 1.5 }),
        fails({ status: 401, message: `Incorrect API key provided: ${apiKey}` }),
        fails({ status: 400, message: 'no such field' }),
        fails({ status: 503, message: 'busy', retryAfter: 20 }),
      ]);
      const provider = await connectTo(model);
      const failure = () => attempts[kind](provider).catch((error: unknown) => error);
      expect(await failure()).toMatchObject({ code: 'rate_limit', statusCode: 429, retryAfter: 1.5 });
      const refused = (await failure()) as Error;
      expect(refused).toMatchObject({ code: 'auth_error', statusCode: 401 });
      expect(refused.message).toMatch(/\(requested at http:/);
      expect(JSON.stringify([refused.message, refused.cause])).not.toContain('0123456789');
      expect(await failure()).toMatchObject({ code: 'invalid_request', statusCode: 400 });
      expect(await failure()).toMatchObject({ code: 'server_error', statusCode: 503, retryAfter: 20 });
      expect(model.requests).toHaveLength(4);
    },
  );

  test('[definitions 5.5] a broken connection, before or during an answer, is a server error', async () => {
    const provider = await connectTo(scriptedModel([disconnects(), disconnects({ after: 'Well' })]));
    await expect(provider.generate(ask('x'))).rejects.toMatchObject({
      code: 'server_error',
      statusCode: undefined,
    });
    await expect(provider.stream(ask('x')).then(collect)).rejects.toMatchObject({ code: 'server_error' });
  });

  test('[definitions 5.5] a server that is not running is a server error that names the cause', async () => {
    const server = await scriptedModel([]).serve();
    await server.close();
    const provider = openaiCompatible({ baseUrl: server.url })({ apiKey: '' });
    await expect(provider.generate(ask('x'))).rejects.toMatchObject({
      code: 'server_error',
      message: expect.stringMatching(/ECONNREFUSED.*\(requested at http:\/\/127\.0\.0\.1:\d+/),
    });
  });

  test.each(['generate', 'stream'] as const)(
    '[definitions 5.5] an HTML page instead of an answer (%s) is reported as such, with its address',
    async (kind) => {
      const url = await answerWith((response) => {
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
        response.end('<html><body>Welcome</body></html>');
      });
      const provider = openaiCompatible({ baseUrl: url })({ apiKey: '' });
      const asked = kind === 'stream' ? provider.stream(ask('x')).then(collect) : provider.generate(ask('x'));
      const failure = await asked.catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'server_error',
        message: `An HTML page was received in place of an answer: is this the address of an API? (requested at ${url})`,
      });
    },
  );

  test('[definitions 5.5] an error within a stream, and a stream without a finish reason, are failures', async () => {
    const events = [{ error: { message: 'Overloaded', type: 'overloaded_error' } }];
    const url = await answerWith((response) => sendEvents(response, events));
    const provider = openaiCompatible({ baseUrl: url })({ apiKey: '' });
    await expect(provider.stream(ask('x')).then(collect)).rejects.toMatchObject({
      code: 'server_error',
      message: 'Overloaded',
    });
    const cut = await answerWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"id":"r","choices":[{"delta":{"content":"Hel"}}]}\n\n');
    });
    const other = openaiCompatible({ baseUrl: cut })({ apiKey: '' });
    await expect(other.stream(ask('x')).then(collect)).rejects.toMatchObject({
      code: 'server_error',
      message: expect.stringContaining('cut off'),
    });
  });

  test('[definitions 5.5] an answer without a choice is a server error', async () => {
    const url = await answerWith((response) => sendCompletion(response, { choices: [] }));
    const provider = openaiCompatible({ baseUrl: url })({ apiKey: '' });
    await expect(provider.generate(ask('x'))).rejects.toMatchObject({ code: 'server_error' });
  });

  test('[definitions 5.1] timeoutMs bounds a request', async () => {
    const model = scriptedModel(() => hangs());
    const server = await model.serve();
    closers.push(server.close);
    const provider = openaiCompatible({ baseUrl: server.url, timeoutMs: 300 })({ apiKey: '' });
    // On a busy machine the time may be over before a request has reached the server.
    while (model.connections.length === 0) {
      // The code is 'timeout' only outside Jest: the SDK detects timeouts by an instanceof of its own realm's Error.
      await expect(provider.generate(ask('x'))).rejects.toMatchObject({ name: 'ProviderError' });
    }
    await until(() => model.connections[0]?.closedAt != null, 'the socket to close');
  });
});

describe('abort', () => {
  test.each([
    ['a whole answer', hangs(), false],
    ['a stream that has not begun', hangs(), true],
    ['a stream within its text', hangs({ after: 'Well' }), true],
  ] as const)(
    '[definitions 5.2] the abort signal closes the socket of %s at once',
    async (_title, step, streamed) => {
      const model = scriptedModel([step]);
      const provider = await connectTo(model);
      const abort = new AbortController();
      const request = ask('x', { signal: abort.signal });
      const answer = streamed ? provider.stream(request).then(collect) : provider.generate(request);
      const outcome = answer.catch((error: unknown) => error);
      await until(() => model.requests.length === 1, 'the request');
      const reason = new Error('the user pressed stop');
      abort.abort(reason);
      expect(await outcome).toBe(reason);
      await until(() => model.connections[0]?.closedAt != null, 'the socket to close');
      expect(model.connections[0]?.completed).toBe(false);
    },
  );
});

describe('settings', () => {
  const before = { ...process.env };
  beforeEach(() => {
    delete process.env.OPENAI_API_KEY;
    delete process.env.OPENAI_BASE_URL;
  });
  afterAll(() => {
    Object.assign(process.env, before);
  });

  test('[definitions 5.1] settings are read when the provider is made, and a missing key is named then', () => {
    const factory = openaiCompatible();
    expect(() => factory({ apiKey: '' })).toThrow(
      expect.objectContaining({ code: 'auth_error', message: expect.stringContaining('OPENAI_API_KEY') }),
    );
    process.env.OPENAI_API_KEY = apiKey;
    expect(factory({ apiKey: '' }).specificationVersion).toBe('1');
  });

  test('[definitions 5.1] a self-hosted server needs no key, and gets none', async () => {
    let authorization: string | undefined = 'nothing yet';
    const url = await answerWith((response, request) => {
      authorization = request.headers.authorization;
      sendCompletion(response, { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] });
    });
    process.env.OPENAI_BASE_URL = url;
    await openaiCompatible()({ apiKey: '' }).generate(ask('x'));
    expect(authorization).toBeUndefined();
    await openaiCompatible({ headers: { authorization: 'Custom abc' } })({ apiKey: '' }).generate(ask('x'));
    expect(authorization).toBe('Custom abc');
    await openaiCompatible({ apiKey: 'own' })({ apiKey: 'configured' }).generate(ask('x'));
    expect(authorization).toBe('Bearer own');
    await openaiCompatible()({ apiKey: 'configured' }).generate(ask('x'));
    expect(authorization).toBe('Bearer configured');
  });
});

test('[bounded-fetch B3] the HTTP client’s five-minute timeout ends no request: the model’s timeouts apply', async () => {
  const server = await scriptedModel([says('one'), says('two')]).serve();
  // In a separate process: Node's HTTP client belongs to the process, not to the context of a test.
  const program = join(import.meta.dirname, 'request-times.ts');
  closers.push(() => server.close());
  const { stdout } = await promisify(execFile)(process.execPath, [program, server.url]);
  const none = { headersTimeout: 0, bodyTimeout: 0 };
  expect(JSON.parse(stdout)).toEqual([none, none]);
});
