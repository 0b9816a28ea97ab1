/** definitions §12.6: what sub-prompts can call, who can call them, and how they end together with their thread. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { statusOf, untilStreaming } from '../support/operator.ts';
import { consulting, deep, echo, explode, resultOf, TOPIC, told } from '../support/prompt-project.ts';

describe('definitions §12.6 Calls within prompts, and calls of prompts', () => {
  it('[definitions 12.6] passes its code the arguments of the call, with defaults, and its text', async () => {
    const seen: unknown[] = [];
    const look = defineTool({
      description: 'looks',
      execute: async (state: ThreadState) => {
        seen.push(state.arguments, state.execution?.promptPath, state.execution?.stepCount);
        return { status: 'success', result: 'ok' };
      },
    });
    const model = scriptedModel([calls('consult', { topic: 'x' }), calls('look'), says('done')]);
    const runtime = await consulting(model, {
      tools: { look },
      consult: { requiredSchema: TOPIC, prompt: 'You know {{topic}} to {{depth}}.' },
    });
    await runtime.start('go');
    expect(seen).toEqual([{ topic: 'x', depth: 3 }, ['main', 'consult'], 1]);
    expect(told(model.requests[1] as never)[0]).toBe('system: You know x to 3.');
  });

  it('[definitions 12.6] adds the files of its messages to the result', async () => {
    const draw = defineTool({
      description: 'draws',
      execute: async () => ({
        status: 'success',
        result: 'drawn',
        attachments: [{ name: 'a.txt', mimeType: 'text/plain', data: 'aGk=' }],
      }),
    });
    const model = scriptedModel([calls('consult', { topic: 'x' }), calls('draw'), says('done')]);
    const runtime = await consulting(model, { tools: { draw } });
    const thread = await runtime.start('go');
    const result = (await runtime.messages(thread)).find(({ role }) => role === 'tool');
    expect(result).toMatchObject({ name: 'consult', attachments: [{ name: 'a.txt', size: 2 }] });
  });

  it('[definitions 12.6] may call prompts itself, up to a maximum depth', async () => {
    const nine = Array.from({ length: 9 }, () => calls('consult', { topic: 'deeper' }));
    const model = scriptedModel([...nine, says('done')]);
    const again = [{ name: 'consult', initUserMessageProperty: 'topic' }];
    const runtime = await consulting(model, { consult: { tools: again } });
    const thread = await runtime.start('go');
    const depths = (await deep(runtime, thread))
      .filter(({ role }) => role === 'assistant')
      .map(({ depth }) => depth);
    expect(depths).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await resultOf(runtime, thread)).toContain('at most 8 levels deep');
    expect((await runtime.client.getThread(thread)).status).toBe('idle');
  });

  it('[definitions 12.6] offers its own tools to its own model only, and refuses unlisted ones', async () => {
    const model = scriptedModel([calls('consult', { topic: 'x' }), calls('explode'), says('done')]);
    const runtime = await consulting(model, {
      main: { tools: ['explode', { name: 'consult', initUserMessageProperty: 'topic' }] },
      tools: { echo, explode },
      consult: { tools: ['echo'] },
    });
    const thread = await runtime.start('go');
    expect(model.requests[1]?.tools?.map((tool) => tool.function.name)).toEqual(['echo']);
    expect(await resultOf(runtime, thread)).toContain('Tool "explode" is not available to this prompt.');
  });

  it('[definitions 14.6] runs when code queues it, and a signal may queue it if the prompt lists it', async () => {
    const ask = defineTool({
      description: 'asks',
      execute: async (state: ThreadState) => {
        state.queueTool('aside', { topic: 'from code' });
        return { status: 'success', result: 'asked' };
      },
    });
    const model = scriptedModel([
      calls('ask'),
      says('by code'),
      says('noted'),
      says('by signal'),
      says('noted too'),
      says('refused'),
    ]);
    const runtime = await consulting(model, {
      main: { tools: ['ask', { name: 'consult', initUserMessageProperty: 'topic' }] },
      tools: { ask },
      prompts: { aside: {} },
      consult: { tools: [] },
    });
    const thread = await runtime.start('go');
    await runtime.client.queueTool(thread, { name: 'consult', arguments: { topic: 'from a signal' } });
    await runtime.client.waitForIdle(thread);
    await runtime.client.queueTool(thread, { name: 'aside' });
    await runtime.client.waitForIdle(thread);
    const lines = (await runtime.transcript(thread)).filter((line) => line.startsWith('tool '));
    expect(lines).toEqual([
      'tool ask success: asked',
      'tool aside success: by code',
      'tool consult success: by signal',
      'tool aside error: Failed to execute tool: Tool "aside" is not available to this prompt.',
    ]);
    expect(told(model.requests[3] as never)).toEqual(['system: You are consult.', 'user: from a signal']);
  });

  it('[definitions 12.6] passes on flow directives and queued items of its tools', async () => {
    const over = defineTool({
      description: 'ends it',
      execute: async (state: ThreadState) => {
        state.execution?.stop();
        return { status: 'success', result: 'enough' };
      },
    });
    const model = scriptedModel([calls('consult', { topic: 'x' }), calls('over')]);
    const runtime = await consulting(model, { tools: { over } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'state_stop_session',
    });
  });

  it('[runtime 6] can be stopped: its partial text is stored in its conversation, and both calls end', async () => {
    const model = scriptedModel([
      calls('consult', { topic: 'x' }),
      hangs({ after: 'partial' }),
      says('back'),
    ]);
    const runtime = await consulting(model);
    const { threadId: thread } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    await untilStreaming(runtime, thread);
    await runtime.client.stop(thread);
    await runtime.client.waitForIdle(thread);
    expect(await statusOf(runtime, thread)).toBe('stopped');
    const result = (await runtime.messages(thread)).find(({ role }) => role === 'tool');
    expect(result).toMatchObject({ tool_status: 'error', content: 'Failed to execute tool: stopped' });
    expect(await deep(runtime, thread)).toMatchObject([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'partial', depth: 1, parent_id: result?.id, metadata: { stopped: true } },
    ]);
    await runtime.say(thread, 'and now?');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: back');
  });

  it('[definitions 12.6] runs at any position among many calls of one answer', async () => {
    const many = Array.from({ length: 17 }, (_, n) => ({ name: 'echo', args: { text: `${n}` } }));
    const model = scriptedModel([
      callsMany([...many, { name: 'consult', args: { topic: 'last' } }]),
      says('the last'),
      says('done'),
    ]);
    const quick = defineTool({
      description: 'says it',
      quick: true,
      args: z.object({ text: z.string() }),
      execute: async (_state, { text }) => ({ status: 'success', result: text }),
    });
    const runtime = await consulting(model, {
      main: { tools: ['echo', { name: 'consult', initUserMessageProperty: 'topic' }] },
      tools: { echo: quick },
      consult: { tools: [] },
    });
    expect(await resultOf(runtime, await runtime.start('go'))).toBe('tool consult success: the last');
  });
});
