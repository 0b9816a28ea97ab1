/** Parts of answers as packages for the AI SDK really give them, streamed and whole, are read as what they say. */
import { describe, expect, it } from '@jest/globals';
import type { AiSdkPart } from '../../src/models/ai-sdk-model.ts';
import { type AttemptOutcome, callModel } from '../../src/models/call-model.ts';
import { type AiSdkLanguageModel, aiSdk } from '../../src/models/index.ts';
import type { Said } from './server-shapes.ts';
import { ask, defineTestModel } from './support.ts';

interface PartsShape {
  readonly who: string;
  readonly parts?: readonly object[];
  readonly whole?: { readonly content: readonly object[]; readonly finishReason: unknown };
  readonly said: Said;
}

const USAGE = { inputTokens: 9, outputTokens: 4, totalTokens: 13 };
const finish = (finishReason: unknown) => ({ type: 'finish', finishReason, usage: USAGE });
const text = (delta: string, id = 't') => ({ type: 'text-delta', id, delta });
const call = (toolCallId: unknown, input: unknown, toolName = 'weather') => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
});
const rome = '{"city":"Rome"}';
const oslo = '{"city":"Oslo"}';
const two: Said['calls'] = [
  ['weather', { city: 'Rome' }],
  ['weather', { city: 'Oslo' }],
];
const calledTwice = { calls: two, finishReason: 'tool_calls' } as const;

const SHAPES: readonly PartsShape[] = [
  {
    who: 'deltas without a start or an end',
    parts: [text('Hel'), text('lo'), finish('stop')],
    whole: {
      content: [
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
      ],
      finishReason: 'stop',
    },
    said: { content: 'Hello', finishReason: 'stop', promptTokens: 9 },
  },
  {
    who: 'calls of which only the end comes',
    parts: [call('a', rome), call('b', oslo), finish('tool-calls')],
    whole: { content: [call('a', rome), call('b', oslo)], finishReason: 'tool-calls' },
    said: { content: null, ids: ['a', 'b'], ...calledTwice },
  },
  {
    who: 'calls whose input is an object, and "stop" behind them',
    parts: [call('a', { city: 'Rome' }), call('b', { city: 'Oslo' }), finish('stop')],
    whole: { content: [call('a', { city: 'Rome' }), call('b', { city: 'Oslo' })], finishReason: 'stop' },
    said: calledTwice,
  },
  {
    who: 'two calls of one id',
    parts: [
      { type: 'tool-input-start', id: 'a', toolName: 'weather' },
      { type: 'tool-input-delta', id: 'a', delta: rome },
      { type: 'tool-input-end', id: 'a' },
      call('a', rome),
      call('a', oslo),
      finish('tool-calls'),
    ],
    whole: { content: [call('a', rome), call('a', oslo)], finishReason: 'tool-calls' },
    said: calledTwice,
  },
  {
    who: 'calls without ids',
    parts: [call('', rome), call(null, oslo), finish('tool-calls')],
    whole: { content: [call('', rome), call(undefined, oslo)], finishReason: 'tool-calls' },
    said: calledTwice,
  },
  {
    who: 'a call without input',
    parts: [call('a', undefined, 'now'), call('b', null, 'now'), call('c', '', 'now'), finish('tool-calls')],
    whole: {
      content: [call('a', undefined, 'now'), call('b', null, 'now'), call('c', '', 'now')],
      finishReason: 'tool-calls',
    },
    said: {
      calls: [
        ['now', {}],
        ['now', {}],
        ['now', {}],
      ],
      finishReason: 'tool_calls',
    },
  },
  {
    who: 'a call of which only the input comes',
    parts: [
      { type: 'tool-input-start', id: 'a', toolName: 'weather' },
      { type: 'tool-input-delta', id: 'a', delta: rome },
      { type: 'tool-input-end', id: 'a' },
      finish('stop'),
    ],
    said: { calls: [two[0]!], ids: ['a'], finishReason: 'tool_calls' },
  },
  {
    who: 'ids of 300 characters, with what the provider wants back',
    parts: [
      { type: 'reasoning-start', id: 'r', providerMetadata: { any: { signature: 's' } } },
      { type: 'tool-input-start', id: 'x'.repeat(300), toolName: 'weather' },
      { type: 'tool-input-delta', id: 'x'.repeat(300), delta: rome },
      call('x'.repeat(300), rome),
      call('y'.repeat(300), oslo),
      finish('tool-calls'),
    ],
    whole: {
      content: [call('x'.repeat(300), rome), call('y'.repeat(300), oslo)],
      finishReason: 'tool-calls',
    },
    said: calledTwice,
  },
  {
    who: 'a finish reason in both of its forms: content-filter',
    parts: [text('Hel'), finish({ unified: 'content-filter', raw: 'SAFETY' })],
    whole: { content: [{ type: 'text', text: 'Hel' }], finishReason: 'content-filter' },
    said: { content: 'Hel', finishReason: 'content_filter' },
  },
  {
    who: 'a finish reason that says nothing: unknown, other',
    parts: [text('Hello'), finish('unknown')],
    whole: { content: [{ type: 'text', text: 'Hello' }], finishReason: { unified: 'other', raw: 'eos' } },
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a finish reason that only its raw word tells: MAX_TOKENS',
    parts: [text('Hel'), finish({ unified: 'other', raw: 'MAX_TOKENS' })],
    whole: {
      content: [{ type: 'text', text: 'Hel' }],
      finishReason: { unified: 'other', raw: 'model_length' },
    },
    said: { content: 'Hel', finishReason: 'length' },
  },
  {
    who: '"tool-calls", and no call',
    parts: [text('Hello'), finish('tool-calls')],
    whole: { content: [{ type: 'text', text: 'Hello' }], finishReason: 'tool-calls' },
    said: { content: 'Hello', calls: [], finishReason: 'stop' },
  },
  {
    who: 'texts that are null',
    parts: [
      { type: 'text-delta', id: 't', delta: null },
      { type: 'reasoning-delta', id: 'r', delta: null },
      text('Hello'),
      finish('stop'),
    ],
    whole: {
      content: [
        { type: 'text', text: null },
        { type: 'text', text: 'Hello' },
      ],
      finishReason: 'stop',
    },
    said: { content: 'Hello', finishReason: 'stop' },
  },
];

/** One attempt: its answer, or its failure. */
async function read({ parts, whole }: Pick<PartsShape, 'parts' | 'whole'>): Promise<AttemptOutcome> {
  const sdk: AiSdkLanguageModel = {
    specificationVersion: 'v2',
    provider: 'any.messages',
    modelId: 'm',
    doGenerate: async () => ({ ...whole!, content: whole!.content as AiSdkPart[], usage: USAGE }),
    doStream: async () => ({
      stream: new ReadableStream<AiSdkPart>({
        start(controller) {
          for (const part of parts ?? []) controller.enqueue(part as AiSdkPart);
          controller.close();
        },
      }),
    }),
  };
  const capabilities = { supportsStreaming: parts !== undefined };
  const enough = new AbortController();
  let first: AttemptOutcome | undefined;
  const result = callModel({
    models: [
      defineTestModel(
        'm',
        aiSdk(() => sdk),
        { capabilities },
      ),
    ],
    request: () => ask('x'),
    signal: enough.signal,
    onAttemptEnd: ({ outcome }) => {
      first = outcome;
      enough.abort();
    },
  });
  await result.catch(() => undefined);
  if (!first) throw new Error('No attempt was made.');
  return first;
}

function check(outcome: AttemptOutcome, said: Said) {
  if (!outcome.ok) throw outcome.error;
  const { content, reasoning, toolCalls = [], finishReason, usage, parts } = outcome.response;
  const ids = toolCalls.map(({ id }) => id);
  const calls = toolCalls.map((each) => [each.name, each.arguments]);
  expect({ content, reasoning, calls, ids, finishReason, promptTokens: usage.promptTokens }).toMatchObject(
    said,
  );
  expect(ids.some((id) => id.length > 256)).toBe(false);
  // What goes back names the calls as they are stored.
  if (parts) expect(parts.list.flatMap((part) => (part.type === 'call' ? [part.id] : []))).toEqual(ids);
}

describe('a streamed answer with', () => {
  it.each(SHAPES.filter(({ parts }) => parts))('$who is read', async ({ parts = [], said }) => {
    check(await read({ parts }), said);
  });
});

describe('a whole answer with', () => {
  it.each(SHAPES.filter(({ whole }) => whole))('$who is read', async ({ whole, said }) => {
    check(await read({ whole }), said);
  });
});
