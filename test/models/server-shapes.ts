/**
 * Answers as servers that speak Chat Completions really send them: streamed, and whole where the server differs there too.
 * Each has what it says, however it says it.
 */
export interface Said {
  readonly content?: string | null;
  readonly reasoning?: string;
  /** Name and arguments of each call. */
  readonly calls?: readonly (readonly [name: string, given: object])[];
  readonly ids?: readonly string[];
  readonly finishReason?: string;
  readonly promptTokens?: number;
}

export interface ServerShape {
  readonly who: string;
  /** Chunks, or the bytes of the stream where these differ. */
  readonly stream?: readonly unknown[] | string;
  /** A choice, or a whole body. */
  readonly whole?: object;
  readonly said: Said;
}

type Fields = Readonly<Record<string, unknown>>;

export const delta = (fields: Fields | null, more: Fields = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
});
export const end = (finish_reason: unknown, more: Fields = {}) => ({
  id: 'c1',
  choices: [{ index: 0, delta: {}, finish_reason }],
  ...more,
});
const callOf = (fields: Fields) => delta({ tool_calls: [fields] });
const fn = (name: unknown, given: unknown) => ({ name, arguments: given });
const choice = (message: Fields, finish_reason: unknown = 'stop') => ({
  message: { role: 'assistant', ...message },
  finish_reason,
});
const events = (...chunks: unknown[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}`);
export const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const usage = USAGE;
const two: Said['calls'] = [
  ['weather', { city: 'Rome' }],
  ['weather', { city: 'Oslo' }],
];
const rome = '{"city":"Rome"}';
const oslo = '{"city":"Oslo"}';
const called = { finishReason: 'tool_calls' } as const;

const THINKING = [
  {
    type: 'thinking',
    thinking: [
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'see.' },
    ],
  },
  { type: 'text', text: 'Hello' },
  { type: 'reference', reference_ids: [1] },
];

const CALL_SHAPES: readonly ServerShape[] = [
  {
    who: 'Gemini: parallel calls, all of them at index 0',
    stream: [
      callOf({ index: 0, id: 'a', function: fn('weather', rome) }),
      callOf({ index: 0, id: 'b', function: fn('weather', oslo) }),
      end('stop'),
    ],
    said: { content: null, calls: two, ids: ['a', 'b'], ...called },
  },
  {
    who: 'Gemini: parallel calls at index 0, with empty ids',
    stream: [
      callOf({ index: 0, id: '', function: fn('weather', rome) }),
      callOf({ index: 0, id: '', function: fn('weather', oslo) }),
      end('tool_calls'),
    ],
    whole: choice({
      tool_calls: [
        { id: '', function: fn('weather', rome) },
        { id: '', function: fn('weather', oslo) },
      ],
    }),
    said: { calls: two, ...called },
  },
  {
    who: 'a gateway: calls at index 0, each in pieces',
    stream: [
      callOf({ index: 0, id: 'a', function: fn('weather', '') }),
      callOf({ index: 0, function: { arguments: '{"city":' } }),
      callOf({ index: 0, id: '', function: fn('', '"Rome"}') }),
      callOf({ index: 0, id: 'b', function: fn('weather', '{"city":') }),
      callOf({ index: 0, id: 'b', function: fn(null, '"Oslo"}') }),
      end('tool_calls'),
    ],
    said: { calls: two, ids: ['a', 'b'], ...called },
  },
  {
    who: 'vLLM: id and name again in each chunk',
    stream: [
      callOf({ index: 0, id: 'a', type: 'function', function: fn('weather', '{"city"') }),
      callOf({ index: 0, id: 'a', type: 'function', function: fn('weather', ':"Rome"}') }),
      end('tool_calls'),
    ],
    said: { calls: [two[0]!], ids: ['a'], ...called },
  },
  {
    who: 'a gateway: id and name again in each chunk, without an index',
    stream: [
      callOf({ id: 'a', function: fn('weather', '{"city"') }),
      callOf({ id: 'a', function: fn('weather', ':"Rome"}') }),
      callOf({ id: 'b', function: fn('weather', oslo) }),
      end('tool_calls'),
    ],
    said: { calls: two, ids: ['a', 'b'], ...called },
  },
  {
    who: 'vLLM: another id in each chunk, and the name once',
    stream: [
      callOf({ index: 0, id: 'a1', function: fn('weather', '{"city"') }),
      callOf({ index: 0, id: 'a2', function: { arguments: ':"Rome"}' } }),
      end('tool_calls'),
    ],
    said: { calls: [two[0]!], ids: ['a1'], ...called },
  },
  {
    who: 'Ollama: one id for two calls',
    stream: [
      callOf({ index: 0, id: 'call_0', function: fn('weather', rome) }),
      callOf({ index: 1, id: 'call_0', function: fn('weather', oslo) }),
      end('stop'),
    ],
    whole: choice({
      tool_calls: [
        { id: 'call_0', type: 'function', function: fn('weather', rome) },
        { id: 'call_0', type: 'function', function: fn('weather', oslo) },
      ],
    }),
    said: { calls: two, ...called },
  },
  {
    who: 'llama.cpp: arguments as an object',
    stream: [callOf({ index: 0, id: 'a', function: fn('weather', { city: 'Rome' }) }), end('tool_calls')],
    whole: choice({ tool_calls: [{ id: 'a', type: 'function', function: fn('weather', { city: 'Rome' }) }] }),
    said: { content: null, calls: [two[0]!], ids: ['a'], ...called },
  },
  {
    who: 'LM Studio: null as arguments, and a null in the list of calls',
    stream: [
      callOf({ index: 0, id: 'a', function: fn('now', null) }),
      delta({ tool_calls: null }),
      end('tool_calls'),
    ],
    whole: choice(
      { content: null, tool_calls: [null, { id: 'a', function: fn('now', null) }] },
      'tool_calls',
    ),
    said: { calls: [['now', {}]], ...called },
  },
  {
    who: 'an old server: function_call in place of calls',
    stream: [
      delta({ role: 'assistant', content: null, function_call: fn('weather', '') }),
      delta({ function_call: { arguments: '{"city":' } }),
      delta({ function_call: { arguments: '"Rome"}' } }),
      end('function_call'),
    ],
    whole: choice({ content: null, function_call: fn('weather', rome) }, 'function_call'),
    said: { content: null, calls: [two[0]!], ...called },
  },
  {
    who: 'a proxy: an id of 300 characters',
    stream: [
      callOf({ index: 0, id: 'x'.repeat(300), function: fn('weather', '{"city":') }),
      callOf({ index: 0, id: 'x'.repeat(300), function: { arguments: '"Rome"}' } }),
      callOf({ index: 1, id: 'y'.repeat(300), function: fn('weather', oslo) }),
      end('tool_calls'),
    ],
    whole: choice({
      tool_calls: ['x', 'y'].map((id, n) => ({
        id: id.repeat(300),
        function: fn('weather', [rome, oslo][n]),
      })),
    }),
    said: { calls: two, ...called },
  },
  {
    who: 'a server that finishes with tool_calls and calls nothing',
    stream: [delta({ content: 'Hello' }), end('tool_calls')],
    whole: choice({ content: 'Hello', tool_calls: [] }, 'tool_calls'),
    said: { content: 'Hello', calls: [], finishReason: 'stop' },
  },
];

const TEXT_SHAPES: readonly ServerShape[] = [
  {
    who: 'Azure: an empty first chunk, and filter results',
    stream: [
      { id: '', object: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      delta({ role: 'assistant', content: '' }, { content_filter_results: {} }),
      delta({ content: 'Hello' }),
      end('stop'),
      { id: 'c1', choices: [], usage },
    ],
    said: { content: 'Hello', finishReason: 'stop', promptTokens: 9 },
  },
  {
    who: 'Mistral: content as a list of thinking and text',
    stream: [
      delta({ content: THINKING.slice(0, 1) }),
      delta({ content: THINKING.slice(1) }),
      end('stop', { usage }),
    ],
    whole: choice({ content: THINKING }),
    said: { content: 'Hello', reasoning: 'Let me see.', finishReason: 'stop' },
  },
  {
    who: 'DeepSeek: reasoning_content, with null beside it',
    stream: [
      delta({ role: 'assistant', content: null, reasoning_content: '' }),
      delta({ content: null, reasoning_content: 'Let me see.' }),
      delta({ content: 'Hello', reasoning_content: null }),
      end('stop', { usage }),
    ],
    whole: choice({ content: 'Hello', reasoning_content: 'Let me see.' }),
    said: { content: 'Hello', reasoning: 'Let me see.', finishReason: 'stop', promptTokens: 9 },
  },
  {
    who: 'Groq and OpenRouter: reasoning, beside an empty reasoning_content',
    stream: [
      delta({ reasoning: 'Let me see.', reasoning_content: '' }),
      delta({ content: 'Hello' }),
      end('stop'),
    ],
    whole: choice({ content: 'Hello', reasoning: 'Let me see.', reasoning_content: '' }),
    said: { content: 'Hello', reasoning: 'Let me see.' },
  },
  {
    who: 'OpenAI: a refusal beside an empty text',
    stream: [delta({ content: '', refusal: 'I ' }), delta({ content: '', refusal: 'cannot.' }), end('stop')],
    whole: choice({ content: '', refusal: 'I cannot.' }),
    said: { content: 'I cannot.', finishReason: 'stop' },
  },
  {
    who: 'OpenAI: a content filter in the middle',
    stream: [delta({ content: 'Hel' }), end('content_filter')],
    whole: choice({ content: 'Hel' }, 'content_filter'),
    said: { content: 'Hel', finishReason: 'content_filter' },
  },
  {
    who: 'a server that ends with null in place of the delta',
    stream: [delta({ content: 'Hello' }), { id: 'c1', choices: [{ delta: null, finish_reason: 'stop' }] }],
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a server with null and empty events between the others',
    stream: [null, delta({ content: 'Hel' }), {}, { choices: null }, delta({ content: 'lo' }), end('stop')],
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a server with null where choices, a delta, calls or their function have to stand',
    stream: [
      delta(null),
      delta({ content: null, tool_calls: null, function_call: null }),
      delta({ content: 'Hello', tool_calls: [null, { index: 0, function: null, type: 'custom' }] }),
      end('stop'),
      { id: null, choices: null, usage: null },
    ],
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a server with an empty finish reason in each chunk',
    stream: [
      delta({ content: 'Hel' }, { finish_reason: '' }),
      delta({ content: 'lo' }, { finish_reason: '' }),
      end('eos'),
    ],
    whole: choice({ content: 'Hello' }, ''),
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'OpenRouter: comments between the events',
    stream: [
      ': OPENROUTER PROCESSING',
      '',
      ...events(delta({ content: 'Hello' })),
      '',
      ': OPENROUTER PROCESSING',
      '',
      ...events(end('stop')),
      '',
      'data: [DONE]',
      '',
      '',
    ].join('\n'),
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a proxy: lines that end with CRLF, and data without a space',
    stream: `${events(delta({ content: 'Hello' }), end('stop'), '[DONE]')
      .map(
        (line) =>
          `event: message\r\n${line.replace('data: ', 'data:').replaceAll('"[DONE]"', '[DONE]')}\r\n\r\n`,
      )
      .join('')}`,
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a server that forgets [DONE]',
    stream: events(delta({ content: 'Hello' }), end('stop'))
      .map((line) => `${line}\n\n`)
      .join(''),
    said: { content: 'Hello', finishReason: 'stop' },
  },
  {
    who: 'a server that sends [DONE] and no finish reason',
    stream: [delta({ content: 'Hel' }), delta({ content: 'lo' }), { id: 'c1', choices: [], usage }],
    said: { content: 'Hello', finishReason: 'stop', promptTokens: 9 },
  },
  {
    who: 'a server that sends [DONE] behind calls, and no finish reason',
    stream: `${events(callOf({ index: 0, id: 'a', function: fn('weather', rome) }))[0]}\n\ndata: [DONE]`,
    said: { calls: [two[0]!], ...called },
  },
  {
    who: 'a server with its own words for the end: MAX_TOKENS',
    stream: [delta({ content: 'Hel' }), end('MAX_TOKENS')],
    whole: choice({ content: 'Hel' }, 'MAX_TOKENS'),
    said: { content: 'Hel', finishReason: 'length' },
  },
  {
    who: 'Mistral: the end of the window, model_length',
    stream: [delta({ content: 'Hel' }), end('model_length')],
    whole: choice({ content: 'Hel' }, 'model_length'),
    said: { content: 'Hel', finishReason: 'length' },
  },
  {
    who: 'Gemini: SAFETY',
    stream: [delta({ content: 'Hel' }), end('SAFETY')],
    whole: choice({ content: 'Hel' }, 'SAFETY'),
    said: { content: 'Hel', finishReason: 'content_filter' },
  },
  {
    who: 'a server whose usage comes with each chunk, and whose id is a number',
    stream: [
      { ...delta({ content: 'Hello' }), id: 7, usage: { ...usage, prompt_tokens: 1 } },
      { ...end('stop'), id: 7, usage },
    ],
    whole: { id: 7, choices: [choice({ content: 'Hello' })], usage },
    said: { content: 'Hello', finishReason: 'stop', promptTokens: 9 },
  },
];

export const SERVER_SHAPES = [...CALL_SHAPES, ...TEXT_SHAPES];

/** Streams and bodies that are no answer, and what is said of them. */
export const FAILING_SHAPES: readonly (Pick<ServerShape, 'who' | 'stream' | 'whole'> & {
  readonly says: RegExp;
  readonly status?: number;
})[] = [
  {
    who: 'OpenRouter: an error in the middle',
    stream: [
      delta({ content: 'Hel' }),
      { ...end('error'), error: { code: 502, message: 'Provider disconnected' } },
    ],
    whole: { error: { code: 502, message: 'Provider disconnected' }, user_id: 'u' },
    says: /Provider disconnected/,
    status: 502,
  },
  {
    who: 'OpenRouter: an error in the choice',
    stream: [delta({ content: 'Hel' }, { error: { code: 429, message: 'Rate limited upstream' } })],
    whole: {
      choices: [{ error: { code: 429, message: 'Rate limited upstream' }, message: { content: '' } }],
    },
    says: /Rate limited upstream/,
    status: 429,
  },
  {
    who: 'vLLM: an error that is the event itself',
    stream: [
      delta({ content: 'Hel' }),
      { object: 'error', message: 'CUDA went away', type: 'InternalServerError', code: 500 },
    ],
    whole: { object: 'error', message: 'CUDA went away', type: 'InternalServerError', code: 500 },
    says: /CUDA went away/,
    status: 500,
  },
  {
    who: 'Gemini: a call that it could not write',
    stream: [end('function_call_filter: MALFORMED_FUNCTION_CALL')],
    whole: choice({ content: null }, 'function_call_filter: MALFORMED_FUNCTION_CALL'),
    says: /finish reason "error"/,
  },
  {
    who: 'a connection that closes in the middle',
    stream: events(delta({ content: 'Hel' }))
      .map((line) => `${line}\n\n`)
      .join(''),
    says: /without a finish reason/,
  },
  { who: 'a stream of nothing but [DONE]', stream: [], says: /without a finish reason/ },
  {
    who: 'a server with null in place of a choice',
    stream: [delta({ content: 'Hel' }), { choices: [null] }, end('stop')],
    says: /an event that is no part of an answer/,
  },
  { who: 'a body without choices', whole: { id: 'c1', object: 'chat.completion' }, says: /no choices/ },
];
