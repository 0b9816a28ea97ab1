/** Messages that carry the type of their answer: how they begin, what is checked, and what is refused. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { OutgoingMessage } from '../../src/client/outgoing.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const weather = z.object({ city: z.string(), degrees: z.number().int() });
const BERN = '{"city":"Bern","degrees":21}';
const VALUE = { city: 'Bern', degrees: 21 };
const QUESTION = 'How warm is it in Bern?';
const lines = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] };

async function started(answers: Parameters<typeof scriptedModel>[0], more: Partial<RuntimeOptions> = {}) {
  const model = scriptedModel(answers);
  const runtime = await testRuntime({ model, ...more });
  const { client, store } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper' });
  const ask = async (output: OutgoingMessage['output'], content = QUESTION) => {
    await client.queueMessage(threadId, { content, ...(output && { output }) });
    return client.waitForIdle(threadId);
  };
  const events = () => store.events.read(threadId, 0, 10_000);
  return { model, runtime, client, threadId, ask, events };
}

describe('a message with the type of its answer', () => {
  it('binds the model to a zod schema, and gives the value that fits it', async () => {
    const { model, ask, events } = await started([says('About 21.'), says(BERN), says('You are welcome.')]);
    expect(await ask(weather)).toMatchObject({ status: 'idle', output: VALUE });
    expect(model.requests[0]?.responseFormat).toMatchObject({
      json_schema: { name: 'helper', strict: true, schema: { required: ['city', 'degrees'] } },
    });
    // The type is that of one execution.
    expect(await ask(undefined, 'Thanks.')).not.toHaveProperty('output');
    expect(model.requests[2]).not.toHaveProperty('responseFormat');
    const begun = eventsOf(await events(), 'execution.started').map(({ data }) => data.typed);
    expect(begun).toEqual([true, undefined]);
  });

  it('tells the model where the answer does not fit, and fails after three', async () => {
    const { model, ask } = await started([
      says('{"city":"Bern","degrees":1.5}'),
      says('{"city":"Bern"}'),
      says('{"city":"Bern","degrees":21,"more":1}'),
    ]);
    expect(await ask(weather)).toMatchObject({ status: 'failed', lastError: { code: 'OutputInvalid' } });
    const asked = model.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(asked[1]).toMatch(/#\/degrees: .*"integer"/);
    expect(asked[2]).toMatch(/required property "degrees"/);
  });

  it('takes the place of the type that the side of the agent has', async () => {
    const { ask } = await started([says('{"line":"warm"}'), says(BERN)], { side: { output: weather } });
    expect((await ask(lines)).output).toEqual({ line: 'warm' });
    expect((await ask(undefined)).output).toEqual(VALUE);
  });

  it('begins an execution of its own, while another one runs', async () => {
    const { client, threadId, model, events } = await started([hangs(), says(BERN), says('Bye.')]);
    await client.queueMessage(threadId, { content: 'Wait.' });
    await eventually('the first request', () => model.requests.length === 1);
    await client.queueMessage(threadId, { content: QUESTION, output: weather });
    await client.queueMessage(threadId, { content: 'Bye.' });
    await client.stop(threadId);
    await client.queueMessage(threadId, { content: 'Go on.' });
    const answers = async () => eventsOf(await events(), 'step.committed').map(({ data }) => data.typed);
    await eventually('both answers', async () => (await answers()).length === 2);
    expect(await answers()).toEqual([true, undefined]);
    expect(model.requests[1]?.messages.map(({ content }) => content)).not.toContain('Bye.');
  });

  it('is taken together with the conversation that its thread begins with', async () => {
    const { client, model } = await started([says(BERN)]);
    const messages: OutgoingMessage[] = [
      { content: 'Hello.' },
      { role: 'assistant', content: 'Hello!' },
      { content: QUESTION, output: weather },
    ];
    const { threadId } = await client.startThread({ agent: 'helper', messages });
    expect((await client.waitForIdle(threadId)).output).toEqual(VALUE);
    expect(model.requests[0]?.messages).toHaveLength(4);
  });

  it('is rejected with the hint at session tools by an agent with two AI sides', async () => {
    const side = { prompt: 'main', stopOnResponse: true };
    const agent = { type: 'dual_ai', sideA: side, sideB: side, maxSessionTurns: 1 } as never;
    const { ask, events, model } = await started([], { agent });
    expect((await ask(weather)).status).toBe('idle');
    expect(eventsOf(await events(), 'item.rejected').map(({ data }) => data.reason)).toEqual([
      expect.stringContaining('"sessionStop"'),
    ]);
    expect(model.requests).toEqual([]);
  });

  it('keeps its type when it is answered again, unless another one is given', async () => {
    const { ask, client, threadId } = await started([
      says(BERN),
      says(BERN),
      says('{"line":"warm"}'),
      says('Warm.'),
    ]);
    await ask(weather);
    const again = async (output?: typeof lines | null) => {
      await client.supersede(threadId, { ...(output !== undefined && { output }) });
      return (await client.waitForIdle(threadId)).output;
    };
    expect([await again(), await again(lines), await again(null)]).toEqual([
      VALUE,
      { line: 'warm' },
      undefined,
    ]);
  });

  it('is the type of the last answer, not of those that call tools', async () => {
    const { ask } = await started([calls('look', {}), says(BERN)], {
      tools: {
        look: defineTool({
          description: 'looks',
          execute: async () => ({ status: 'success', result: '21' }),
        }),
      },
    });
    expect((await ask(weather)).output).toEqual(VALUE);
  });

  it('gives up on a pattern that never ends, and says so', async () => {
    const bomb = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const answer = says(JSON.stringify({ a: `${'a'.repeat(40)}!` }));
    const { ask } = await started([answer, answer, answer]);
    expect((await ask(bomb)).lastError).toMatchObject({
      code: 'OutputInvalid',
      message: expect.stringContaining('stopped after 2 seconds'),
    });
  });

  it('fails with OutputInvalid, however many problems there are, in any script', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `${'必要な属性の長い名前'.repeat(4)}${n}`);
    const many = { type: 'object', required: names };
    const { ask } = await started([says('{}'), says('{}'), says('{}')]);
    expect(await ask(many)).toMatchObject({ status: 'failed', lastError: { code: 'OutputInvalid' } });
  });

  it.each<[string, object, string, boolean]>([
    ['a required property that objects inherit', { required: ['toString'] }, '{"a":1}', false],
    [
      'an optional property that objects inherit',
      { properties: { constructor: { type: 'string' } } },
      '{}',
      true,
    ],
    ['a property with the name of the prototype', { required: ['__proto__'] }, '{"__proto__":5}', true],
  ])('counts only what the answer has: %s', async (_, schema, answer, fits) => {
    const { ask } = await started(fits ? [says(answer)] : [says(answer), says(answer), says(answer)]);
    const thread = await ask({ type: 'object', ...schema });
    expect(thread).toMatchObject({ status: fits ? 'idle' : 'failed' });
  });

  it('repeats little of an answer of 4 MB that does not fit', async () => {
    const long = says(JSON.stringify({ text: 'x'.repeat(4_000_000) }));
    const { ask, model } = await started([long, says('{"line":"short"}')]);
    expect((await ask(lines)).output).toEqual({ line: 'short' });
    expect(JSON.stringify(model.requests[1]?.messages).length).toBeLessThan(100_000);
  });

  it('fails at an answer of 10 MB as every execution does', async () => {
    const { ask } = await started([says(JSON.stringify({ line: 'x'.repeat(10_000_000) }))]);
    expect(await ask(lines)).toMatchObject({ status: 'failed', lastError: { code: 'AnswerTooLarge' } });
  });
});

describe('the type of a message is refused before anything is stored', () => {
  const deep = Array.from({ length: 40 }).reduce<object>((items) => ({ type: 'array', items }), {});
  const of = (a: unknown, more: object = {}) => ({ type: 'object', properties: { a }, ...more });
  it.each<[string, unknown, RegExp]>([
    ['more than 64 KiB', of({ description: 'x'.repeat(70_000) }), /65536 bytes/],
    ['more than 32 levels', of(deep), /32 levels/],
    ['a reference to elsewhere', of({ $ref: 'https://schemas.example/a' }), /same document/],
    ['a reference to nothing', of({ $ref: '#/$defs/b' }), /same document/],
    [
      'a reference to what is no schema',
      of({ $ref: '#/default' }, { default: { pattern: '(' } }),
      /regular expression/,
    ],
    [
      'a reference back to itself',
      of({ $ref: '#/$defs/b' }, { $defs: { b: { anyOf: [{ $ref: '#/$defs/b' }] } } }),
      /itself/,
    ],
    ['no regular expression', of({ pattern: '(' }), /regular expression/],
    ['no object', { type: 'array', items: {} }, /must describe an object/],
    ['no type', of({ type: 'text' }), /must be a type/],
    ['what is not interpreted', of({ $dynamicRef: '#a' }), /not supported/],
    ['a zod schema that has no JSON', z.object({ at: z.date() }), /cannot be written as JSON schema/],
    ['no schema', 'text', /must be an object/],
  ])('%s', async (_name, output, words) => {
    const { client, threadId, events } = await started([]);
    const sent = client.queueMessage(threadId, { content: 'Hi.', output: output as never });
    await expect(sent).rejects.toMatchObject({
      code: expect.stringMatching(/^Invalid(Schema|Value)$/),
      message: expect.stringMatching(words),
    });
    expect((await events()).filter(({ type }) => /^(item|message|execution)\./.test(type))).toEqual([]);
  });
});
