/** Backends over real HTTP: what they send, which events they report, what they retry. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BackendEvent,
  type BackendTransportError,
  createIterableBackend,
  createOpenAICompatibleBackend,
  createSandboxPromptBackend,
  type OpenAICompatibleBackendOptions,
} from '../../src/faces/tangle/index.ts';
import { collect } from '../projections/golden.ts';

type Handler = (response: ServerResponse, request: IncomingMessage) => void;
interface Asked {
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever the backend sends
  readonly body: any;
}

let server: Server;
let baseUrl: string;
let asked: Asked[] = [];
/** One handler for each request; the last one serves all later requests. */
let plan: Handler[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    asked.push({ headers: request.headers, body: JSON.parse(text) });
    (plan.length > 1 ? plan.shift() : plan[0])?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
});

const refuses =
  (status: number, body = '{"error":"no"}'): Handler =>
  (response) =>
    response.writeHead(status).end(body);
const streams =
  (...chunks: readonly (object | string)[]): Handler =>
  (response) => {
    const text = chunks.map(
      (chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`,
    );
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text.join(''));
  };
const delta = (fields: object, finish: string | null = null) => ({
  model: 'answered',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const usage = { choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } };
const says = (text: string) => streams(delta({ content: text }), delta({}, 'stop'), usage, '[DONE]');
const input = { task: { id: 't', intent: 'answer' }, message: 'hello' };
const retry = { delayMs: 1, maxDelayMs: 4 };

const backendOf = (more: Partial<OpenAICompatibleBackendOptions> = {}) =>
  createOpenAICompatibleBackend({ baseUrl, apiKey: 'secret-key', model: 'a', retry, ...more });

/** The events before a failure, and the failure. */
async function failing(stream: AsyncIterable<BackendEvent>) {
  const told: BackendEvent[] = [];
  try {
    for await (const event of stream) told.push(event);
  } catch (error) {
    return { told, error: error as BackendTransportError };
  }
  throw new Error('it did not fail');
}

describe('createOpenAICompatibleBackend', () => {
  it('sends only configured fields, and yields text, then usage', async () => {
    plan = [says('Hello!')];
    const events = await collect(backendOf().stream(input, { turnId: 'turn-1' }));
    expect(events).toEqual([
      { type: 'text_delta', text: 'Hello!' },
      {
        type: 'llm_call',
        model: 'answered',
        tokensIn: 12,
        tokensOut: 3,
        latencyMs: expect.any(Number),
        finishReason: 'stop',
      },
    ]);
    expect(asked[0]?.body).toEqual({
      model: 'a',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(asked[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-key',
      'idempotency-key': 'turn-1',
    });
  });

  it.each([401, 402, 403, 404])('[TG-21] does not retry %i, and reports its body', async (status) => {
    plan = [refuses(status, '{"error":"no credit"}')];
    const { error } = await failing(backendOf().stream(input));
    expect(error).toMatchObject({
      code: 'BackendFailed',
      backend: 'openai-compatible',
      status,
      body: '{"error":"no credit"}',
    });
    expect(asked).toHaveLength(1);
  });

  it('[TG-22] retries 502 up to the configured attempts, and 429 until it answers', async () => {
    plan = [refuses(502)];
    const { error } = await failing(backendOf({ retry: { ...retry, attempts: 3 } }).stream(input));
    expect([error.status, asked.length]).toEqual([502, 3]);
    plan = [refuses(429), refuses(429), says('There.')];
    expect((await collect(backendOf().stream(input)))[0]).toEqual({ type: 'text_delta', text: 'There.' });
    expect(asked).toHaveLength(6);
  });

  it('[TG-22] retries a server that hangs or is down, but not after the caller aborts', async () => {
    plan = [() => undefined, (response) => void response.destroy(), says('There.')];
    // A slow machine may take longer than `headersMs` for an answer that comes: it is asked for again.
    const patient = { ...retry, attempts: 50, headersMs: 100 };
    const events = await collect(backendOf({ retry: patient }).stream(input));
    expect(events[0]).toEqual({ type: 'text_delta', text: 'There.' });
    expect(asked.length).toBeGreaterThanOrEqual(3);
    const nobody = backendOf({ baseUrl: 'http://127.0.0.1:1/v1', retry: { ...retry, attempts: 2 } });
    expect((await failing(nobody.stream(input))).error).toMatchObject({ code: 'BackendFailed', status: 0 });
    const leaving = new AbortController();
    plan = [() => leaving.abort(new Error('enough'))];
    asked.length = 0;
    const left = await failing(backendOf().stream(input, { signal: leaving.signal }));
    expect([left.error.message, asked.length]).toEqual(['enough', 1]);
  });

  it('does not retry once an answer has started', async () => {
    plan = [
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(delta({ content: 'Half' }))}\n\n`, () => response.destroy());
      },
    ];
    const { told, error } = await failing(backendOf({ policy: { fallbackModels: ['b'] } }).stream(input));
    expect(told).toEqual([{ type: 'text_delta', text: 'Half' }]);
    expect([error.code, error.status, asked.length]).toEqual(['BackendFailed', 0, 1]);
  });

  it('[TG-23] reports 2 KiB of a long error body, with a mark', async () => {
    plan = [refuses(400, 'x'.repeat(8192))];
    const { error } = await failing(backendOf().stream(input));
    expect(error.body).toBe(`${'x'.repeat(2048)}…`);
  });

  const piece = (index: number, fields: object) => delta({ tool_calls: [{ index, ...fields }] });
  it.each([
    [
      'in fragments, and two at a time',
      [
        piece(0, { id: 'c0', function: { name: 'pay', arguments: '{"a' } }),
        piece(1, { id: 'c1', function: { name: 'look', arguments: '' } }),
        piece(0, { function: { arguments: '":1}' } }),
        delta({}, 'tool_calls'),
      ],
      [
        { type: 'tool_call', toolName: 'pay', toolCallId: 'c0', args: { a: 1 } },
        { type: 'tool_call', toolName: 'look', toolCallId: 'c1', args: {} },
      ],
    ],
    [
      'whose arguments are no JSON, and that nothing ends',
      [piece(0, { id: 'c0', function: { name: 'pay', arguments: '{"a": ' } })],
      [{ type: 'tool_call', toolName: 'pay', toolCallId: 'c0', args: '{"a": ' }],
    ],
    [
      'in blocks, beside text',
      [
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look. ' } },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 'b1', name: 'look' },
        },
        { type: 'content_block_delta', index: 1, delta: { partial_json: '{"at":' } },
        { type: 'content_block_delta', index: 1, delta: { partial_json: '2}' } },
        { type: 'content_block_stop', index: 1 },
      ],
      [
        { type: 'text_delta', text: 'I look. ' },
        { type: 'tool_call', toolName: 'look', toolCallId: 'b1', args: { at: 2 } },
      ],
    ],
    [
      'in an answer that is not streamed',
      [
        {
          choices: [
            {
              message: {
                content: null,
                tool_calls: [{ id: 'c0', function: { name: 'pay', arguments: '{}' } }],
              },
              finish_reason: 'tool_calls',
            },
          ],
        },
      ],
      [{ type: 'tool_call', toolName: 'pay', toolCallId: 'c0', args: {} }],
    ],
  ])('[TG-24] yields calls %s once each', async (_, chunks, told) => {
    plan = [streams(...chunks)];
    expect(await collect(backendOf().stream(input))).toEqual(told);
  });

  it('rejects a response that is not JSON', async () => {
    plan = [streams('<html>')];
    expect((await failing(backendOf().stream(input))).error.message).toContain('<html>');
  });

  it('[TG-25] tries fallback models in order and reports each attempt and the model that answered', async () => {
    const backend = backendOf({ policy: { fallbackModels: ['b', 'c'] }, retry: { ...retry, attempts: 1 } });
    plan = [refuses(503), streams({ ...delta({ content: 'From b' }, 'stop'), model: 'b' }, usage)];
    const events = await collect(backend.stream(input));
    expect(events).toMatchObject([
      { type: 'model_fallback', fromModel: 'a', toModel: 'b', reason: expect.stringContaining('503') },
      { type: 'text_delta', text: 'From b' },
      { type: 'llm_call', model: 'b' },
    ]);
    expect(asked.map(({ body }) => body.model)).toEqual(['a', 'b']);
    plan = [refuses(503)];
    const { told, error } = await failing(backend.stream(input));
    expect(told.map(({ type }) => type)).toEqual(['model_fallback', 'model_fallback']);
    for (const model of ['a: ', 'b: ', 'c: ']) expect(error.message).toContain(model);
    asked = [];
    plan = [refuses(401)];
    expect((await failing(backend.stream(input))).told).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('[TG-26] tries no fallback model if none is configured', async () => {
    plan = [refuses(503)];
    const { told, error } = await failing(backendOf({ retry: { ...retry, attempts: 2 } }).stream(input));
    expect([told, error.status]).toEqual([[], 503]);
    expect(asked.map(({ body }) => body.model)).toEqual(['a', 'a']);
  });

  it.each(['baseUrl', 'apiKey', 'model'])('is refused at once without %s', (field) => {
    expect(() => backendOf({ [field]: ' ' })).toThrow(
      expect.objectContaining({ code: 'InvalidConfiguration', message: expect.stringContaining(field) }),
    );
  });
});

describe('createSandboxPromptBackend', () => {
  const boxOf = (...events: readonly unknown[]) => ({
    id: 'box-1',
    prompts: [] as unknown[],
    async *streamPrompt(message: string, options?: object) {
      this.prompts.push([message, options]);
      yield* events;
    },
  });

  it('maps the events of a box, yields its text once, and reports unknown events', async () => {
    const unmapped: unknown[] = [];
    const box = boxOf(
      { type: 'execution.started', data: { executionId: 'e' } },
      { type: 'message.part.updated', data: { delta: 'Hel', part: { type: 'text', text: 'ignored' } } },
      { type: 'message.part.updated', part: { type: 'text', text: 'lo' } },
      { type: 'message.part.updated', data: { part: { type: 'image', text: 'x' } } },
      { type: 'reasoning_delta', text: 'hm' },
      { type: 'tool_call', data: { toolName: 'look', toolCallId: 'c', args: { at: 1 } } },
      { type: 'tool_result', data: { toolName: 'look', toolCallId: 'c', result: 'seen' } },
      { type: 'artifact', data: { name: 'without an id' } },
      { type: 'artifact', data: { artifactId: '/a.md', name: 'a.md' } },
      { type: 'filing', id: 'p', title: 'Form 1' },
      { type: 'weather', data: {} },
      { type: 'result', data: { finalText: 'Hello there' } },
    );
    const backend = createSandboxPromptBackend({ box, onUnmapped: (event) => void unmapped.push(event) });
    const session = await backend.start?.(input);
    const events = await collect(backend.stream(input, { turnId: 'turn-1', session }));
    expect(events).toEqual([
      { type: 'text_delta', text: 'Hel' },
      { type: 'text_delta', text: 'lo' },
      { type: 'reasoning_delta', text: 'hm' },
      { type: 'tool_call', toolName: 'look', toolCallId: 'c', args: { at: 1 } },
      { type: 'tool_result', toolName: 'look', toolCallId: 'c', result: 'seen' },
      { type: 'artifact', artifactId: '/a.md', name: 'a.md' },
      expect.objectContaining({ type: 'proposal_created', proposalId: 'p', title: 'Form 1' }),
      { type: 'text_delta', text: ' there' },
    ]);
    expect(unmapped).toEqual([{ type: 'weather', data: {} }]);
    expect(box.prompts).toEqual([
      ['hello', { executionId: 'turn-1', signal: undefined, sessionId: 'box-1' }],
    ]);
  });

  it('reports the failure of an execution as its own, and refuses a missing box', async () => {
    const box = boxOf(
      { type: 'message.part.updated', data: { delta: 'Half' } },
      { type: 'execution.failed', data: { message: 'the model is gone' } },
    );
    const { told, error } = await failing(createSandboxPromptBackend({ box }).stream(input));
    expect(told).toEqual([{ type: 'text_delta', text: 'Half' }]);
    expect([error.code, error.message]).toEqual([
      'BackendFailed',
      expect.stringContaining('the model is gone'),
    ]);
    expect(() => createSandboxPromptBackend({})).toThrow(
      expect.objectContaining({ code: 'InvalidConfiguration' }),
    );
  });
});

describe('createIterableBackend', () => {
  it('yields the events of its iterable until the caller aborts', async () => {
    const backend = createIterableBackend(function* ({ message = '' }) {
      yield 'You said: ';
      yield { type: 'text_delta', text: message };
    });
    const told = [
      { type: 'text_delta', text: 'You said: ' },
      { type: 'text_delta', text: 'hello' },
    ];
    expect(await collect(backend.stream(input))).toEqual(told);
    const signal = AbortSignal.abort(new Error('enough'));
    expect((await failing(backend.stream(input, { signal }))).error.message).toBe('enough');
  });
});
