/** An agent whose last answer has a type: what is accepted, what is asked for again, and how it ends without one. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const output = z.object({
  city: z.string(),
  degrees: z.number().int(),
  unit: z.enum(['C', 'F']).default('C'),
});
const BERN = '{"city":"Bern","degrees":21}';
const VALUE = { city: 'Bern', degrees: 21, unit: 'C' };

async function asked(answers: Parameters<typeof scriptedModel>[0], more: Partial<RuntimeOptions> = {}) {
  const model = scriptedModel(answers);
  const runtime = await testRuntime({ model, side: { output }, ...more });
  const threadId = await runtime.start('How warm is it in Bern?');
  const thread = await runtime.client.waitForIdle(threadId);
  const events = await runtime.store.events.read(threadId, 0);
  const kinds = (...types: string[]) => events.filter(({ type }) => types.includes(type));
  const texts = async () => (await runtime.messages(threadId)).map(({ role, content }) => [role, content]);
  return { model, runtime, threadId, thread, kinds, texts };
}

describe('an agent with the type of its last answer', () => {
  it('binds the model to the schema, and gives the value with its defaults', async () => {
    const { model, thread, texts } = await asked([says(BERN)]);
    expect(thread).toMatchObject({ status: 'idle', output: VALUE });
    expect(await texts()).toEqual([
      ['user', 'How warm is it in Bern?'],
      ['assistant', JSON.stringify(VALUE)],
    ]);
    expect(model.requests[0]?.responseFormat).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'helper',
        strict: false,
        schema: expect.objectContaining({ required: ['city', 'degrees'], additionalProperties: false }),
      },
    });
  });

  it('leaves an answer as it was streamed if it says all of the value', async () => {
    const { texts, kinds } = await asked([
      says('{ "city": "Bern", "unit": "C", "degrees": 21 }', { chunks: 3 }),
    ]);
    expect(await texts()).toContainEqual(['assistant', '{ "city": "Bern", "unit": "C", "degrees": 21 }']);
    expect(kinds('attempt.discarded')).toEqual([]);
  });

  it('finds the JSON within words and fences', async () => {
    const { thread } = await asked([says(`Here it is: {no}\n\`\`\`json\n${BERN}\n\`\`\`\nAnything else?`)]);
    expect(thread.output).toEqual(VALUE);
  });

  it('asks again with the rejected answer and its problems, which no history and no reader keeps', async () => {
    const { model, thread, kinds, texts } = await asked([
      says('About 21 degrees.', { chunks: 3 }),
      says('{"city":"Bern","degrees":"warm"}'),
      says(BERN),
    ]);
    expect(thread).toMatchObject({ status: 'idle', output: VALUE, lastStep: 3 });
    expect(await texts()).toHaveLength(2);
    expect(model.requests[1]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'About 21 degrees.' },
      { role: 'user', content: expect.stringContaining('it is not JSON') },
    ]);
    expect(model.requests[2]?.messages.slice(-2)).toEqual([
      { role: 'assistant', content: '{"city":"Bern","degrees":"warm"}' },
      { role: 'user', content: expect.stringContaining('[degrees]') },
    ]);
    expect(model.requests[2]?.messages).toHaveLength(4);
    expect(kinds('output.rejected').map(({ data }) => data)).toMatchObject([
      { text: 'About 21 degrees.', count: 1, finishReason: 'stop' },
      { count: 2 },
    ]);
    expect(kinds('attempt.discarded', 'output.rejected', 'step.committed').map(({ type }) => type)).toEqual([
      'attempt.discarded',
      'output.rejected',
      'attempt.discarded',
      'output.rejected',
      'step.committed',
    ]);
  });

  it('fails with OutputInvalid when three answers do not fit, and begins anew with the next message', async () => {
    const { model, runtime, threadId, thread, kinds } = await asked([
      says('one'),
      says('two'),
      says('three'),
      says(BERN),
    ]);
    expect(thread).toMatchObject({
      status: 'failed',
      lastError: { code: 'OutputInvalid', message: expect.stringContaining('None of 3 answers') },
    });
    expect(thread.output).toBeUndefined();
    expect(kinds('output.rejected').at(-1)?.data).toMatchObject({ text: 'three', last: true });
    await runtime.say(threadId, 'Once more.');
    expect((await runtime.client.waitForIdle(threadId)).output).toEqual(VALUE);
    // The next execution knows nothing of them.
    expect(model.requests[3]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  });

  it('checks only the last answer: not those that call tools', async () => {
    const look = defineTool({
      description: 'looks',
      execute: async () => ({ status: 'success', result: '21' }),
    });
    const { thread, kinds } = await asked([calls('look', {}, { text: 'I look.' }), says(BERN)], {
      tools: { look },
    });
    expect(thread.output).toEqual(VALUE);
    expect(kinds('output.rejected')).toEqual([]);
  });

  it('checks the argument of the stop tool that becomes the answer, before the tool runs', async () => {
    const done: unknown[] = [];
    const finish = defineTool({
      description: 'ends',
      args: z.object({ answer: z.string() }),
      execute: async (_state, args) => {
        done.push(args);
        return { status: 'success', result: 'ok' };
      },
    });
    const side = { output, stopOnResponse: false, stopTool: 'finish', stopToolResponseProperty: 'answer' };
    const { thread } = await asked([calls('finish', { answer: 'warm' }), calls('finish', { answer: BERN })], {
      tools: { finish },
      side,
    });
    expect(thread.output).toEqual(VALUE);
    expect(done).toEqual([{ answer: BERN }]);
  });

  it('checks what the hooks on the answer have made of it', async () => {
    const hook = defineHook({
      hook: 'before_create_message',
      id: 'shout',
      execute: async (_state, message) =>
        message.role === 'assistant' ? { ...message, content: 'WARM' } : message,
    });
    const { thread } = await asked([says(BERN), says(BERN), says(BERN)], {
      hooks: [hook],
      agent: { hooks: ['shout'] },
    });
    expect(thread.lastError?.code).toBe('OutputInvalid');
  });

  it('keeps the tools that hooks have queued beside a rejected answer', async () => {
    const noted: string[] = [];
    const note = defineTool({
      description: 'notes',
      execute: async () => {
        noted.push('noted');
        return { status: 'success', result: 'noted' };
      },
    });
    const hook = defineHook({
      hook: 'before_create_message',
      id: 'note_drafts',
      execute: async (state, message) => {
        if (message.content === 'warm') await state.queueTool('note', {});
        return message;
      },
    });
    const { thread } = await asked([says('warm'), says(BERN)], {
      tools: { note },
      hooks: [hook],
      agent: { hooks: ['note_drafts'] },
    });
    expect([thread.output, noted]).toEqual([VALUE, ['noted']]);
  });

  it('describes the schema to a model that cannot be bound to it', async () => {
    const model = scriptedModel([says(BERN)]);
    const { defineModel, registryFrom, definePrompt } = await import('../../src/definitions/index.ts');
    const registry = registryFrom({
      agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main', output } })],
      prompts: [definePrompt({ name: 'main', toolDescription: 'd', prompt: 'You help.', model: 'plain' })],
      models: [
        defineModel({
          name: 'plain',
          provider: model.provider,
          model: 'plain-1',
          capabilities: { supportsJsonMode: false },
        }),
      ],
    });
    const { thread } = await asked([], { registry, model });
    expect(thread.output).toEqual(VALUE);
    expect(model.requests[0]).not.toHaveProperty('responseFormat');
    expect(model.requests[0]?.messages[0]?.content).toMatch(/^You help\.\n\nWhen you give .*"degrees"/s);
  });

  it('asks apart for tools and for the format where a provider refuses both, with a last request without tools', async () => {
    const look = defineTool({
      description: 'looks',
      execute: async () => ({ status: 'success', result: '21' }),
    });
    const message = 'json mode cannot be combined with tool/function calling';
    const refused = fails({ message, code: 'invalid_request' });
    const { model, thread, kinds } = await asked(
      [refused, calls('look', {}), says('It is warm.'), says(BERN)],
      { tools: { look } },
    );
    expect(thread.output).toEqual(VALUE);
    expect(
      model.requests.map(({ tools, responseFormat }) => [tools?.length, responseFormat !== undefined]),
    ).toEqual([
      [1, true],
      [1, false],
      [1, false],
      [undefined, true],
    ]);
    expect(model.requests[1]?.messages[0]?.content).toMatch(/^You help\.\n\nWhen you give .*"degrees"/s);
    expect(kinds('model.failed').map(({ data }) => data)).toMatchObject([
      { withoutFormat: true, retryInMs: 0 },
    ]);
  });

  it('has no value any more once its message was deleted, or the next execution has begun', async () => {
    const { runtime, threadId } = await asked([
      says(BERN),
      fails({ message: 'down', code: 'invalid_request' }),
      says(BERN),
    ]);
    await runtime.say(threadId, 'And now?');
    expect(await runtime.client.waitForIdle(threadId)).not.toHaveProperty('output');
    await runtime.say(threadId, 'And now?');
    expect((await runtime.client.waitForIdle(threadId)).output).toEqual(VALUE);
    const answer = (await runtime.messages(threadId)).at(-1);
    await runtime.store.messages.delete(threadId, answer?.id as string);
    expect((await runtime.client.getThread(threadId)).output).toBeUndefined();
  });

  it('counts rejected answers as steps: the limit of the side holds', async () => {
    const { thread } = await asked([says('one'), says('two')], { side: { output, maxSteps: 2 } });
    expect(thread).toMatchObject({ status: 'idle', stopReason: 'max_side_steps' });
    expect(thread.output).toBeUndefined();
  });

  it('runs the refinements of a schema once for each answer, whatever else they do', async () => {
    const seen: unknown[] = [];
    const telling = z.object({ city: z.string() }).refine((value) => {
      seen.push({ ...value });
      value.city = value.city.toUpperCase();
      return seen.length > 1;
    });
    const { thread, texts } = await asked([says('{"city":"Bern"}'), says('{"city":"Basel"}')], {
      side: { output: telling },
    });
    expect(seen).toEqual([{ city: 'Bern' }, { city: 'Basel' }]);
    expect(thread.output).toEqual({ city: 'BASEL' });
    expect(await texts()).toContainEqual(['assistant', '{"city":"BASEL"}']);
  });

  it('takes a schema that throws for one that the answer does not fit', async () => {
    const broken = z.object({
      city: z.string().refine(() => {
        throw new Error('out of order');
      }),
    });
    const { thread } = await asked([says('{"city":"a"}'), says('{"city":"b"}'), says('{"city":"c"}')], {
      side: { output: broken },
    });
    expect(thread.lastError).toMatchObject({
      code: 'OutputInvalid',
      message: expect.stringContaining('out of order'),
    });
  });

  it('is refused where it has no meaning, and where it cannot be described', () => {
    const side = { prompt: 'main' };
    expect(() =>
      defineAgent({
        name: 'two',
        type: 'dual_ai',
        sideA: { ...side, output },
        sideB: side,
        maxSessionTurns: 2,
      }),
    ).toThrow(/sideA.output.*sessionStop/s);
    const dated = z.object({ at: z.date() });
    expect(() => defineAgent({ name: 'one', sideA: { ...side, output: dated } })).toThrow(
      /sideA.output.at.*z\.date/s,
    );
    const list = z.array(z.string()) as unknown as typeof output;
    expect(() => defineAgent({ name: 'one', sideA: { ...side, output: list } })).toThrow(
      /sideA.output.*z\.object/s,
    );
  });
});
