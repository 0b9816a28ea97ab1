/** definitions §12.6: prompts as tools. What remains of one after a lost worker is tested in test/faults. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { consulting, deep, echo, explode, resultOf, TOPIC, told } from '../support/prompt-project.ts';

describe('definitions §12.6 Prompts as tools', () => {
  it('[definitions 12.6] answers a call of a prompt with its model’s text, in a conversation of its own', async () => {
    const model = scriptedModel([calls('consult', { topic: 'tea' }), says('Green.'), says('It is green.')]);
    const runtime = await consulting(model);
    const thread = await runtime.start('which tea?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: which tea?',
      'assistant:  -> consult',
      'tool consult success: Green.',
      'assistant: It is green.',
    ]);
    expect(told(model.requests[1] as never)).toEqual(['system: You are consult.', 'user: tea']);
    expect(told(model.requests[2] as never)).toEqual([
      'system: You are main.',
      'user: which tea?',
      'assistant:  -> consult',
      'tool: Green.',
    ]);
    const result = (await runtime.messages(thread)).find(({ role }) => role === 'tool');
    expect(await deep(runtime, thread)).toMatchObject([
      { role: 'user', content: 'tea', depth: 1, parent_id: result?.id },
      { role: 'assistant', content: 'Green.', depth: 1, parent_id: result?.id },
    ]);
  });

  it('[definitions 12.6] has the arguments of its call, then those of the thread', async () => {
    const look = defineTool({
      description: 'looks',
      execute: async ({ arguments: given }) => ({ status: 'success', result: JSON.stringify(given) }),
    });
    const model = scriptedModel([calls('consult', { topic: 'tea' }), calls('look'), says('It is green.')]);
    const runtime = await consulting(model, {
      tools: { look },
      consult: { prompt: 'You advise {{who}} on {{topic}}.' },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      arguments: { who: 'ada', topic: 'ships' },
      messages: [{ content: 'which tea?' }],
    });
    await runtime.client.waitForIdle(threadId);
    expect(model.requests[1]?.messages[0]?.content).toBe('You advise ada on tea.');
    expect(await resultOf(runtime, threadId)).toContain('look() → {"who":"ada","topic":"tea"}');
  });

  it('[definitions 22.8] sends the arguments if the entry names no first message, and stores none', async () => {
    const model = scriptedModel([calls('consult', { topic: 'tea' }), says('Green.'), says('It is green.')]);
    const runtime = await consulting(model, { entry: { initUserMessageProperty: undefined } });
    const thread = await runtime.start('which tea?');
    expect(told(model.requests[1] as never)).toEqual(['system: You are consult.', 'user: {"topic":"tea"}']);
    expect(await deep(runtime, thread)).toMatchObject([{ role: 'assistant', content: 'Green.' }]);
  });

  it('[runtime 5.3] offers prompts to the model like function tools, by description and schema', async () => {
    const model = scriptedModel([says('no need')]);
    const runtime = await consulting(model);
    await runtime.start('hi');
    expect(model.requests[0]?.tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'consult',
          description: 'the prompt consult',
          parameters: {
            type: 'object',
            properties: { topic: { type: 'string' } },
            required: ['topic'],
            additionalProperties: false,
          },
        },
      },
    ]);
  });

  it('[runtime 5.3] runs the calls of its one step in order, and answers with them', async () => {
    const model = scriptedModel([
      calls('consult', { topic: 'x' }),
      callsMany(
        [
          { name: 'echo', args: { text: 'a' } },
          { name: 'echo', args: { text: 'b' } },
        ],
        { text: 'Both:' },
      ),
      says('done'),
    ]);
    const runtime = await consulting(model, { tools: { echo } });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread)).toBe(
      'tool consult success: Both:\n\nTool calls:\n- echo({"text":"a"}) → echo a\n- echo({"text":"b"}) → echo b',
    );
    expect((await deep(runtime, thread)).map(({ role, depth }) => `${role} ${depth}`)).toEqual([
      'user 1',
      'assistant 1',
      'tool 1',
      'tool 1',
    ]);
    expect(model.requests).toHaveLength(3);
  });

  it.each([
    [
      {},
      'error: Failed to execute tool: explode() failed: boom\n\nWell:\n\nTool calls:\n- echo({"text":"a"}) → echo a',
    ],
    [
      { includeTextResponse: false },
      'error: Failed to execute tool: explode() failed: boom\n\nTool calls:\n- echo({"text":"a"}) → echo a',
    ],
    [{ includeToolCalls: false }, 'error: Failed to execute tool: explode() failed: boom\n\nWell:'],
    [{ includeErrors: false }, 'success: Well:\n\nTool calls:\n- echo({"text":"a"}) → echo a'],
    [
      { includeTextResponse: false, includeToolCalls: false, includeErrors: false },
      'success: The tool succeeded and returned nothing.',
    ],
  ])('[definitions 12.6] composes the result as the entry defines: %j', async (entry, expected) => {
    const model = scriptedModel([
      calls('consult', { topic: 'x' }),
      callsMany([{ name: 'echo', args: { text: 'a' } }, { name: 'explode' }], { text: 'Well:' }),
      says('done'),
    ]);
    const runtime = await consulting(model, { tools: { echo, explode }, entry });
    expect(await resultOf(runtime, await runtime.start('go'))).toBe(`tool consult ${expected}`);
  });

  it.each([
    [{}, /^tool consult error: Failed to execute tool: invalid_request: no/],
    [{ includeErrors: false }, /^tool consult success: The tool succeeded and returned nothing\.$/],
  ])('[definitions 12.6] continues when its model fails: %j', async (entry, expected) => {
    const model = scriptedModel([
      calls('consult', { topic: 'x' }),
      fails({ status: 400, message: 'no' }),
      says('without it, then'),
    ]);
    const runtime = await consulting(model, { entry });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread)).toMatch(expected);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  });

  it('[definitions 12.6] refuses arguments that do not match its schema, and calls no model', async () => {
    const model = scriptedModel([calls('consult', { topic: 7 }), says('I see')]);
    const runtime = await consulting(model);
    expect(await resultOf(runtime, await runtime.start('go'))).toMatch(
      /^tool consult error: Failed to execute tool: Prompt tool argument validation failed: \[topic\]/,
    );
  });

  it('[definitions 12.6] encodes a first message that is not text as JSON, and sends the arguments if it is absent', async () => {
    const model = scriptedModel([
      calls('consult', { topic: 'x', notes: [1, 2] }),
      says('a'),
      calls('consult', { topic: 'x' }),
      says('b'),
      says('done'),
    ]);
    const runtime = await consulting(model, {
      entry: { initUserMessageProperty: 'notes' },
      consult: { requiredSchema: TOPIC.extend({ notes: z.array(z.number()).optional() }) },
    });
    await runtime.start('go');
    expect(told(model.requests[1] as never)).toEqual(['system: You are consult.', 'user: [1,2]']);
    expect(told(model.requests[3] as never)).toEqual([
      'system: You are consult.',
      'user: {"topic":"x","depth":3}',
    ]);
  });

  it('[definitions 22.8] sees the conversation only if its prompt includes the chat, without the call itself', async () => {
    const model = scriptedModel([
      says('hello'),
      callsMany([
        { name: 'echo', args: { text: 'a' } },
        { name: 'consult', args: { topic: 'x' } },
      ]),
      says('aha'),
      says('done'),
    ]);
    const runtime = await consulting(model, {
      main: { tools: ['echo', { name: 'consult', initUserMessageProperty: 'topic' }] },
      tools: { echo },
      consult: { includeChat: true, includePastTools: true },
    });
    const thread = await runtime.start('hi');
    await runtime.say(thread, 'go');
    expect(told(model.requests[2] as never)).toEqual([
      'system: You are consult.',
      'user: hi',
      'assistant: hello',
      'user: go',
      'user: x',
    ]);
  });

  it('[definitions 12.6] passes files of the thread, one path or several, and no others', async () => {
    const keep = defineTool({
      description: 'writes',
      execute: async (state: ThreadState) => {
        for (const path of ['/attachments/a.txt', '/attachments/b.txt', '/secret.txt'])
          await state.writeFile(path, path, 'text/plain');
        return { status: 'success', result: 'ok' };
      },
    });
    const consult = (files: unknown) => calls('consult', { topic: 'x', files });
    const model = scriptedModel([
      calls('keep'),
      consult('/attachments/a.txt'),
      says('1'),
      consult(['/attachments/a.txt', '/attachments/b.txt']),
      says('2'),
      consult('/secret.txt'),
      consult('/attachments/none.txt'),
      says('done'),
    ]);
    const entry = { name: 'consult', initUserMessageProperty: 'topic', initAttachmentsProperty: 'files' };
    const runtime = await consulting(model, {
      main: { tools: ['keep', entry] },
      tools: { keep },
      consult: {
        requiredSchema: z.object({ topic: z.string(), files: z.union([z.string(), z.array(z.string())]) }),
        tools: [],
      },
    });
    const thread = await runtime.start('go');
    const firsts = (await deep(runtime, thread)).filter(({ role }) => role === 'user');
    expect(firsts.map(({ attachments }) => attachments?.map(({ path }) => path))).toEqual([
      ['/attachments/a.txt'],
      ['/attachments/a.txt', '/attachments/b.txt'],
    ]);
    const refused = (await runtime.transcript(thread)).filter((line) =>
      line.startsWith('tool consult error'),
    );
    expect(refused).toEqual([
      expect.stringContaining('must begin with /attachments/'),
      expect.stringContaining('has no file "/attachments/none.txt"'),
    ]);
  });
});
