/** definitions §9, §12.4: hooks around the result of a tool call. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ToolResult } from '../../src/core/message/message.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { hookFailures, hookRuntime } from '../support/hook-project.ts';

const answering = (result: ToolResult) => defineTool({ description: 'answers', execute: async () => result });
const ok = answering({ status: 'success', result: 'worked' });
const broken = answering({ status: 'error', error: 'broken' });

describe('definitions §9 results of tools', () => {
  it('[definitions 12.4] a result passes after_tool_call_*, then before_store_tool_result', async () => {
    const seen: unknown[] = [];
    const runtime = await hookRuntime({
      model: scriptedModel([callsMany([{ name: 'ok', args: { a: 1 } }, { name: 'broken' }]), says('done')]),
      tools: { ok, broken },
      hooks: {
        after_tool_call_success: [
          (_state, call, result) => {
            seen.push(call);
            return { ...result, result: `${result.result} once` };
          },
          (_state, _call, result) => ({ ...result, result: `${result.result} twice` }),
        ],
        after_tool_call_failure: (_state, _call, result) => ({ ...result, error: `${result.error}, sorry` }),
        before_store_tool_result: (_state, { function: { name } }, result) =>
          name === 'ok' ? { ...result, result: `<${result.result}>` } : undefined,
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> ok, broken',
      'tool ok success: <worked once twice>',
      'tool broken error: Failed to execute tool: broken, sorry',
      'assistant: done',
    ]);
    expect(seen).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'ok', arguments: '{"a":1}' } },
    ]);
  });

  it('[definitions 9] a failure hook may recover, a success hook may fail; the stop rules see the outcome', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('ok'), calls('broken')]),
      tools: { ok, broken },
      side: { stopOnResponse: false, stopTool: 'broken' },
      hooks: {
        after_tool_call_failure: () => ({ status: 'success', result: 'recovered' }),
        after_tool_call_success: () => ({ status: 'error', error: 'not good enough' }),
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> ok',
      'tool ok error: Failed to execute tool: not good enough',
      'assistant:  -> broken',
      'tool broken success: recovered',
    ]);
    expect((await runtime.client.getThread(thread)).stopReason).toBe('stop_tool');
  });

  it('[definitions 12.4] calls refused before the body are failures too', async () => {
    const seen: string[] = [];
    const add = defineTool({
      description: 'adds',
      args: z.object({ a: z.number() }),
      execute: async () => ({ status: 'success' }),
    });
    const needy = defineTool({
      description: 'needs a variable',
      variables: [{ name: 'KEY', type: 'text', required: true }],
      execute: async () => ({ status: 'success' }),
    });
    const runtime = await hookRuntime({
      model: scriptedModel([
        callsMany([
          { name: 'nothing' },
          { name: 'add', args: { a: 'x' } },
          { name: 'add', args: 'nonsense' },
        ]),
        says('done'),
      ]),
      tools: { add, needy },
      prompt: { tools: ['add'] },
      hooks: {
        after_tool_call_failure: (_state, { function: { name } }, { error }) =>
          void seen.push(`${name}: ${error}`),
      },
    });
    await runtime.start('go');
    expect(seen).toEqual([
      'nothing: Tool not found: nothing',
      expect.stringMatching(/^add: Tool argument validation failed: \[a\]/),
      'add: Tool argument validation failed: the arguments are not a JSON object.',
    ]);
  });

  it('[definitions 9] null removes a call: nothing of it is stored, and no provider gets an orphan', async () => {
    const created: string[] = [];
    const model = scriptedModel([
      callsMany([{ name: 'ok' }, { name: 'broken' }], { text: 'both' }),
      calls('ok'),
      says('done'),
    ]);
    const runtime = await hookRuntime({
      model,
      tools: { ok, broken },
      side: { stopTool: 'ok' },
      hooks: {
        after_tool_call_success: () => null,
        before_store_tool_result: (_state, { function: { name } }) => void created.push(`store ${name}`),
        after_create_message: (_state, { role }) => void created.push(role),
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant: both -> broken',
      'tool broken error: Failed to execute tool: broken',
      'assistant: ',
      'assistant: done',
    ]);
    expect(created).toEqual(['user', 'assistant', 'store broken', 'tool', 'assistant', 'assistant']);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    expect(model.requests[2]?.messages).toEqual(model.requests[1]?.messages);
    // A call that a hook removes does not count as a success, so the stop tool has not ended the execution.
    expect((await runtime.client.getThread(thread)).stopReason).toBe('stop_on_response');
  });

  it('[definitions 9] null removes each of several queued tools', async () => {
    const model = scriptedModel([says('done')]);
    const runtime = await hookRuntime({
      model,
      tools: { ok, two: ok },
      hooks: { after_tool_call_success: () => null },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    await runtime.client.queueTool(threadId, { name: 'ok' });
    await runtime.client.queueTool(threadId, { name: 'two' });
    await runtime.client.queueMessage(threadId, { content: 'go' });
    await runtime.client.waitForIdle(threadId);
    const transcript = await runtime.transcript(threadId);
    expect(transcript.filter((line) => line.includes('->') || line.startsWith('tool'))).toEqual([]);
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  it('[definitions 9] secrets put into a result or its message by a hook are not stored', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('ok'), says('done')]),
      tools: { ok },
      hooks: {
        before_store_tool_result: async (state, _call, result) => ({
          ...result,
          result: `${result.result} with ${await state.env('TOKEN')}`,
        }),
        before_create_message: async (state, { role, content }) =>
          role === 'user'
            ? undefined
            : {
                content: `${content} and ${await state.env('TOKEN')}`,
                metadata: { t: await state.env('TOKEN') },
              },
      },
    });
    const owner = { instance: true } as const;
    await runtime.store.env.set({ owner, name: 'TOKEN', value: 'hunter2-secret', type: 'secret' });
    const thread = await runtime.start('go');
    const messages = await runtime.messages(thread);
    expect(JSON.stringify(messages)).not.toContain('hunter2');
    expect(messages[2]).toMatchObject({
      content: 'worked with [secret TOKEN] and [secret TOKEN]',
      metadata: { t: '[secret TOKEN]' },
    });
  });

  it('[definitions 9] hooks of a quick call may be slow', async () => {
    let ran = 0;
    const runtime = await hookRuntime({
      model: scriptedModel([calls('nothing'), says('done')]),
      hooks: {
        async after_tool_call_failure(_state, _call, result) {
          ran += 1;
          await new Promise((resolve) => setTimeout(resolve, 1300));
          return { ...result, error: `${result.error}, thought over` };
        },
      },
      options: { configuration: { toolHeartbeatMs: 20_000 } },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toBe(
      'tool nothing error: Failed to execute tool: Tool not found: nothing, thought over',
    );
    expect(ran).toBe(1);
  });

  it('[definitions 9] flow directives and queued items of a call’s hooks are stored with its result', async () => {
    const runtime = await hookRuntime({
      // The hook stops the execution after the queued tool: the model is not asked again.
      model: scriptedModel([calls('ok')]),
      tools: { ok, later: answering({ status: 'success', result: 'later' }) },
      hooks: {
        after_tool_call_success(state, { function: { name } }) {
          if (name === 'ok') state.queueTool('later', {});
        },
        async after_create_message(state, { name }) {
          if (name === 'ok') await state.queueMessage({ content: 'said by a hook' });
          if (name === 'later') state.execution?.stop();
        },
      },
    });
    const thread = await runtime.start('go');
    const transcript = await runtime.transcript(thread);
    expect(transcript).toEqual([
      'user: go',
      'assistant:  -> ok',
      'tool ok success: worked',
      'assistant:  -> later',
      'user: said by a hook',
      'tool later success: later',
    ]);
    expect(await hookFailures(runtime, thread)).toEqual([]);
  });
});
