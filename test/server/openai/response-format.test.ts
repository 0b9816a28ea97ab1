/** `response_format` at the door of OpenAI's clients: OpenAI's own, and the AI SDK's provider for compatible servers, unmodified. */
import { randomUUID } from 'node:crypto';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from '@jest/globals';
import { generateObject, generateText, Output, streamObject, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { defineTool } from '../../../src/definitions/index.ts';
import { calls, hangs, type ScriptStep, says, scriptedModel } from '../../../src/testing/index.ts';
import { testApi } from '../../support/api.ts';
import { eventually, type RuntimeOptions, testRuntime } from '../../support/runtime.ts';

const weather = z.object({ city: z.string(), degrees: z.number().int() });
const BERN = '{"city":"Bern","degrees":21}';
const VALUE = { city: 'Bern', degrees: 21 };
const format = zodResponseFormat(weather, 'weather');
const QUESTION = 'How warm is it in Bern?';
const messages = [{ role: 'user' as const, content: QUESTION }];
const asked = { model: 'helper', messages, response_format: format };

const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: '21' }) });
const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});
/** With a tool, and a first answer that does not fit. */
const TURN: readonly ScriptStep[] = [
  calls('look', {}, { text: 'I look.' }),
  says('It is warm.', { chunks: 3 }),
  says(BERN, { chunks: 3 }),
];

async function opened(answers: readonly ScriptStep[], more: Partial<RuntimeOptions> = {}) {
  const model = scriptedModel([...answers]);
  const runtime = await testRuntime({ model, tools: { look, pay }, ...more });
  const { url } = await testApi(runtime);
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const helper = (supportsStructuredOutputs: boolean) =>
    createOpenAICompatible({ name: 'everthread', baseURL: `${url}/v1`, supportsStructuredOutputs })('helper');
  return { model, runtime, openai, helper };
}

describe("OpenAI's client with a response format", () => {
  it('parses the value that fits, whole and streamed, across a tool and a rejected answer', async () => {
    const { openai, model } = await opened([...TURN, ...TURN]);
    const whole = await openai.chat.completions.parse(asked);
    expect(whole.choices[0]?.message.parsed).toEqual(VALUE);
    const pieces: string[] = [];
    const stream = openai.chat.completions.stream(asked).on('content', (delta) => void pieces.push(delta));
    expect((await stream.finalChatCompletion()).choices[0]?.message.parsed).toEqual(VALUE);
    expect(pieces).toEqual([BERN]);
    expect(model.requests[0]?.responseFormat).toMatchObject({ json_schema: { strict: true } });
  });

  it('gets any object for `json_object`, or the type that the agent has', async () => {
    const json = { model: 'helper', messages, response_format: { type: 'json_object' as const } };
    const answers = [says('no'), says('{"any":1}')];
    const read = ({ choices }: OpenAI.ChatCompletion) => JSON.parse(choices[0]?.message.content ?? '');
    const free = await opened(answers);
    expect(read(await free.openai.chat.completions.create(json))).toEqual({ any: 1 });
    const typed = await opened([...answers, says(BERN)], { side: { output: weather } });
    expect(read(await typed.openai.chat.completions.create(json))).toEqual(VALUE);
  });

  it('gets an error, and no text, where no answer fits', async () => {
    const { openai } = await opened([says('a'), says('b'), says('c'), says('d'), says('e'), says('f')]);
    const code = 'OutputInvalid';
    await expect(openai.chat.completions.parse(asked)).rejects.toMatchObject({ status: 422, code });
    const stream = openai.chat.completions.stream(asked);
    await expect(stream.finalChatCompletion()).rejects.toMatchObject({ code });
    expect(stream.messages.flatMap(({ role }) => (role === 'assistant' ? [role] : []))).toEqual([]);
  });

  it('gets the finish reason `length`, and no text, where a limit of the agent ends the answer', async () => {
    const { openai } = await opened([says('a')], { side: { maxSteps: 1 } });
    await expect(openai.chat.completions.parse(asked)).rejects.toThrow(/length limit/i);
  });

  it('gets an error where people are asked, and the value from the same request once they have answered', async () => {
    const { openai, runtime } = await opened([calls('pay', {}), says(BERN)]);
    const thread = { ...asked, metadata: { thread_id: 'pay-1' } };
    await expect(openai.chat.completions.parse(thread)).rejects.toMatchObject({
      code: 'InputRequired',
      message: expect.stringContaining('approval of pay'),
    });
    const [wait] = await runtime.client.listWaits({ threadId: 'pay-1' });
    await runtime.client.answerWait(wait?.id as string, { approved: true });
    expect((await openai.chat.completions.parse(thread)).choices[0]?.message.parsed).toEqual(VALUE);
  });

  it('gets an error, and no text, where the execution is stopped', async () => {
    const { openai, runtime, model } = await opened([hangs({ after: '{"city":' })]);
    const thread = { ...asked, metadata: { thread_id: 'stop-1' } };
    const parsing = openai.chat.completions.parse(thread).catch((error: unknown) => error);
    await eventually('the request', () => model.requests.length === 1);
    await runtime.client.stop('stop-1');
    expect(await parsing).toMatchObject({ status: 422, code: 'OutputInvalid' });
  });

  it('is not taken for a repetition of the same question with another format', async () => {
    const { openai } = await opened([says(BERN), says('{"line":"warm"}')]);
    const marked = { headers: { 'x-stainless-retry-count': '1' } };
    const own = [{ role: 'user' as const, content: `${QUESTION} ${randomUUID()}` }];
    const read = async (response_format: OpenAI.ResponseFormatJSONSchema) => {
      const request = { ...asked, messages: own, response_format };
      return (await openai.chat.completions.create(request, marked)).choices[0]?.message.content;
    };
    const line = zodResponseFormat(z.object({ line: z.string() }), 'line');
    expect(await read(format)).toBe(BERN);
    expect(await read(line)).toBe('{"line":"warm"}');
    // With the same format it is one.
    expect(await read(format)).toBe(BERN);
  });

  it('runs its own tools in between', async () => {
    const { openai } = await opened([calls('client__town', {}), says(BERN)]);
    const town = {
      type: 'function' as const,
      function: {
        name: 'town',
        description: 'Tells the town.',
        parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
        parse: JSON.parse,
        function: () => 'Bern',
      },
    };
    const runner = openai.chat.completions.runTools({ ...asked, tools: [town] });
    expect(JSON.parse((await runner.finalContent()) ?? '')).toEqual(VALUE);
  });

  it('gets another answer, of another type, to the same question of a thread', async () => {
    const { openai } = await opened([
      says('Warm.'),
      says(BERN),
      says('{"line":"warm"}'),
      says('Warm again.'),
    ]);
    const thread = { model: 'helper', metadata: { thread_id: 'again-1' } };
    const ask = async (more: object, before: readonly string[] = []) => {
      const told = before.map((content, n) => ({
        role: n % 2 ? ('assistant' as const) : ('user' as const),
        content,
      }));
      const request = { ...thread, ...more, messages: [...told, ...messages] };
      const { choices } = await openai.chat.completions.create(request);
      return choices[0]?.message.content;
    };
    const line = z.object({ line: z.string() });
    const warm = await ask({});
    expect(warm).toBe('Warm.');
    const history = [QUESTION, 'Warm.'];
    expect(await ask({ response_format: format }, history)).toBe(BERN);
    expect(await ask({ response_format: zodResponseFormat(line, 'line') }, history)).toBe('{"line":"warm"}');
    expect(await ask({}, history)).toBe('Warm again.');
  });

  it('takes an earlier conversation along into a new thread', async () => {
    const { openai, model } = await opened([says(BERN)]);
    const earlier = [
      { role: 'user' as const, content: 'Hello.' },
      { role: 'assistant' as const, content: 'Hello!' },
    ];
    const { choices } = await openai.chat.completions.parse({
      ...asked,
      messages: [...earlier, ...messages],
    });
    expect(choices[0]?.message.parsed).toEqual(VALUE);
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
  });

  it.each([
    ['an unknown type', { type: 'grammar' }],
    [
      'a reference to elsewhere',
      { type: 'json_schema', json_schema: { name: 'a', schema: { $ref: 'http://x/y' } } },
    ],
    ['a list', { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'array' } } }],
  ])('is refused with %s', async (_what, given) => {
    const { openai } = await opened([]);
    const refused = openai.chat.completions.create({ ...asked, response_format: given as never });
    await expect(refused).rejects.toMatchObject({ status: 400, code: 'InvalidRequest' });
  });
});

describe.each([true, false])("the AI SDK's compatible provider, with structured outputs: %s", (supports) => {
  const prompt = QUESTION;
  // Without them the provider asks for any JSON object, and the agent has the type.
  const side = supports ? {} : { side: { output: weather } };

  it('generates an object', async () => {
    const { helper } = await opened(TURN, side);
    const { object } = await generateObject({ model: helper(supports), schema: weather, prompt });
    expect(object).toEqual(VALUE);
  });

  it('streams an object', async () => {
    const { helper } = await opened(TURN, side);
    const { partialObjectStream, object } = streamObject({
      model: helper(supports),
      schema: weather,
      prompt,
    });
    const parts: unknown[] = [];
    for await (const part of partialObjectStream) parts.push(part);
    expect(parts.at(-1)).toEqual(VALUE);
    expect(await object).toEqual(VALUE);
  });

  it('gives the output of `Output.object`, whole and streamed, with a tool of the client', async () => {
    const { helper } = await opened([calls('client__town', {}), says(BERN), ...TURN], side);
    const town = tool({ description: 'Tells the town.', inputSchema: z.object({}), execute: () => 'Bern' });
    const { stepCountIs } = await import('ai');
    const whole = await generateText({
      model: helper(supports),
      prompt,
      tools: { town },
      stopWhen: stepCountIs(3),
      output: Output.object({ schema: weather }),
    });
    expect(whole.output).toEqual(VALUE);
    const streamed = streamText({
      model: helper(supports),
      prompt,
      output: Output.object({ schema: weather }),
    });
    expect(await streamed.output).toEqual(VALUE);
  });

  it('serves `useObject` a text stream that is JSON from its first character', async () => {
    const { helper } = await opened(TURN, side);
    const streamed = streamText({
      model: helper(supports),
      prompt,
      output: Output.object({ schema: weather }),
    });
    const response = streamed.toTextStreamResponse();
    expect(JSON.parse(await response.text())).toEqual(VALUE);
  });
});
