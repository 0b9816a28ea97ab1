import {
  calls,
  callsMany,
  delays,
  disconnects,
  fails,
  hangs,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { ask, collect } from '../models/support.ts';

const config = { apiKey: '' };

test('[definitions 5.7] a scripted model answers its steps in order and records each request', async () => {
  const model = scriptedModel([says('one'), calls('add', { a: 1 }), says('three')]);
  const provider = model.provider(config);
  expect(await provider.generate(ask('first', { signal: new AbortController().signal }))).toMatchObject({
    content: 'one',
    finishReason: 'stop',
  });
  expect(await provider.generate(ask('second'))).toMatchObject({
    content: null,
    toolCalls: [{ id: 'call_1', name: 'add', arguments: { a: 1 } }],
    finishReason: 'tool_calls',
  });
  expect(model.remaining).toBe(1);
  expect(model.requests).toEqual([ask('first'), ask('second')]);
  expect(Object.isFrozen(model.requests[0]?.messages[0])).toBe(true);
});

test('[definitions 5.7] the chunks of a streamed text join to the text, characters intact', async () => {
  const provider = scriptedModel([says('añ👍🏽b', { chunks: 3, reasoning: 'hm' })]).provider(config);
  const chunks = await collect(await provider.stream(ask('hello')));
  const deltas = chunks.flatMap((chunk) => (chunk.type === 'content-delta' ? [chunk.delta] : []));
  expect(deltas).toHaveLength(3);
  expect(deltas.join('')).toBe('añ👍🏽b');
  expect(chunks.map((chunk) => chunk.type)).toEqual([
    'reasoning-delta',
    'reasoning-done',
    'content-delta',
    'content-delta',
    'content-delta',
    'content-done',
    'finish',
  ]);
});

test('[definitions 5.7] several calls in one answer keep their order, and their ids count over the script', async () => {
  const model = scriptedModel([
    callsMany([{ name: 'a' }, { name: 'b', id: 'mine' }, { name: 'c' }], { text: 'Working on it.' }),
    calls('d'),
  ]);
  const provider = model.provider(config);
  const first = await provider.generate(ask('x'));
  expect(first.content).toBe('Working on it.');
  expect(first.toolCalls?.map(({ id, name }) => [id, name])).toEqual([
    ['call_1', 'a'],
    ['mine', 'b'],
    ['call_2', 'c'],
  ]);
  expect((await provider.generate(ask('y'))).toolCalls?.[0]?.id).toBe('call_3');
});

test('[definitions 5.7] arguments given as text are sent unchanged, and read as malformed', async () => {
  const provider = scriptedModel([calls('add', '{"a": 1')]).provider(config);
  expect((await provider.generate(ask('x'))).toolCalls).toEqual([
    { id: 'call_1', name: 'add', arguments: {}, rawArguments: '{"a": 1' },
  ]);
});

test('[definitions 5.5] a failing step is a ProviderError with code, status and seconds to wait', async () => {
  const provider = scriptedModel([
    fails({ status: 429, message: 'slow down', retryAfter: 7 }),
    fails({ code: 'auth_error', message: 'who are you' }),
    disconnects(),
  ]).provider(config);
  await expect(provider.generate(ask('x'))).rejects.toMatchObject({
    name: 'ProviderError',
    code: 'rate_limit',
    statusCode: 429,
    retryAfter: 7,
    message: 'slow down',
  });
  await expect(provider.generate(ask('x'))).rejects.toMatchObject({ code: 'auth_error', statusCode: 401 });
  await expect(provider.generate(ask('x'))).rejects.toMatchObject({
    code: 'server_error',
    statusCode: undefined,
  });
});

test('[definitions 5.7] an exhausted script refuses, with the number of its steps', async () => {
  const provider = scriptedModel([says('only')]).provider(config);
  await provider.generate(ask('x'));
  await expect(provider.generate(ask('y'))).rejects.toMatchObject({
    code: 'invalid_request',
    statusCode: 400,
    message: expect.stringContaining('it has 1 step, and this is request 2'),
  });
});

test('[definitions 5.7] an unfinished script fails assertConsumed', async () => {
  const model = scriptedModel([says('one'), says('two')]);
  await model.provider(config).generate(ask('x'));
  expect(() => model.assertConsumed()).toThrow('1 of its 2 steps are left after 1 requests');
  await model.provider(config).generate(ask('x'));
  expect(() => model.assertConsumed()).not.toThrow();
});

test('[definitions 5.7] a step may be a function of the recorded request', async () => {
  const model = scriptedModel([async (request, index) => says(`${index}: ${request.messages[0]?.content}`)]);
  expect(await model.provider(config).generate(ask('echo'))).toMatchObject({ content: '0: echo' });
});

test('[definitions 5.7] a function for all requests gives equal requests the same answer in every process', async () => {
  const script = () => callsMany([{ name: 'a' }, { name: 'b' }]);
  const answers = await Promise.all(
    [scriptedModel(script), scriptedModel(script)].map((model) => model.provider(config).generate(ask('x'))),
  );
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[0]?.toolCalls?.map((call) => call.id)).toEqual(['call_1_1', 'call_1_2']);
  const longer = ask('x', { messages: [...ask('x').messages, ...ask('y').messages] });
  expect((await scriptedModel(script).provider(config).generate(longer)).toolCalls?.[0]?.id).toBe('call_2_1');
});

test('[definitions 5.7] concurrent requests never share a step', async () => {
  const model = scriptedModel([delays(20, says('slow')), says('quick')]);
  const provider = model.provider(config);
  const answers = await Promise.all([provider.generate(ask('1')), provider.generate(ask('2'))]);
  expect(answers.map((answer) => answer.content)).toEqual(['slow', 'quick']);
});

test('[definitions 5.7] an abort ends a hanging or delayed step with its reason', async () => {
  const reason = new Error('enough');
  for (const step of [hangs(), hangs({ after: 'Well' }), delays(60_000, says('late'))]) {
    const abort = new AbortController();
    const answer = scriptedModel([step])
      .provider(config)
      .generate(ask('x', { signal: abort.signal }));
    setTimeout(() => abort.abort(reason), 10);
    await expect(answer).rejects.toBe(reason);
  }
});
