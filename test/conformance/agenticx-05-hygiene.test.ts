/** The calls of an answer on a real thread, from what the model writes to what its tool receives (docs/guards.md). */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ToolCall } from '../../src/core/message/message.ts';
import type { Provider, ProviderRequest, ProviderStreamChunk } from '../../src/core/message/provider.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { helperRegistry, type TestRuntime, testRuntime } from '../support/runtime.ts';

/** Tools that record their arguments. */
function recorder() {
  const given: unknown[] = [];
  const remember = async (_state: unknown, args?: unknown) => {
    given.push(args ?? 'nothing');
    return { status: 'success', result: 'seen' } as const;
  };
  const look = defineTool({
    description: 'looks',
    quick: true,
    args: z.object({ at: z.string() }),
    execute: remember,
  });
  const check = defineTool({ description: 'checks', quick: true, execute: remember });
  const fail = defineTool({
    description: 'throws',
    quick: true,
    execute: async () => {
      throw new Error('no door');
    },
  });
  return { given, tools: { look, check, fail } };
}

async function run(model: ScriptedModel, more: Partial<Parameters<typeof testRuntime>[0]> = {}) {
  const { given, tools } = recorder();
  const runtime = await testRuntime({ model, tools, ...more });
  const thread = await runtime.start('go');
  return { runtime, thread, given, transcript: await runtime.transcript(thread) };
}

async function eventsOf({ store }: TestRuntime, thread: string, kind: string) {
  return (await store.events.read(thread, 0)).filter(({ type }) => type === kind).map(({ data }) => data);
}

/** Returns the calls of the last assistant message in the request with this index. */
function callsSent({ requests }: ScriptedModel, index: number) {
  const last = requests[index]?.messages.findLast(({ role }) => role === 'assistant');
  return last?.role === 'assistant' ? last.toolCalls : undefined;
}

/** Wraps a model so that its first answer ends with finish reason `length`. */
function cutShort(model: ScriptedModel): ScriptedModel {
  async function* cut(chunks: AsyncIterable<ProviderStreamChunk>): AsyncGenerator<ProviderStreamChunk> {
    for await (const chunk of chunks) {
      yield chunk.type === 'finish' && model.requests.length === 1
        ? { ...chunk, finishReason: 'length' }
        : chunk;
    }
  }
  const provider: ScriptedModel['provider'] = (config) => {
    const own: Provider = model.provider(config);
    return { ...own, stream: async (request: ProviderRequest) => cut(await own.stream(request)) };
  };
  return Object.create(model, { provider: { value: provider } });
}

describe('the calls of an answer', () => {
  it('[AX-45] without a name do not run, and the answer is stored without them', async () => {
    const model = scriptedModel([
      callsMany([{ name: 'None' }, { name: 'look', args: { at: 'door' } }, { name: ' none ' }, { name: '' }]),
      says('done'),
    ]);
    const { runtime, thread, given, transcript } = await run(model);
    expect(given).toEqual([{ at: 'door' }]);
    expect(transcript.slice(1)).toEqual([
      'assistant:  -> look',
      'tool look success: seen',
      'assistant: done',
    ]);
    expect(await eventsOf(runtime, thread, 'step.committed')).toMatchObject([{ droppedCalls: 3 }, {}]);
    expect(JSON.stringify(await runtime.store.events.read(thread, 0))).not.toMatch(/none/i);
    const { messages } = await runtime.store.messages.list(thread, { limit: 10 });
    expect(messages[1]?.metadata).toMatchObject({
      rawCalls: [{ name: 'None' }, { name: ' none ' }, { name: '' }],
    });
  });

  it('[AX-45] are an error that the model reads if none has a name', async () => {
    const { runtime, thread, transcript } = await run(scriptedModel([calls('None'), says('done')]));
    expect(transcript.slice(1)).toEqual([
      'assistant:  -> unnamed-call',
      'tool unnamed-call error: Failed to execute tool: The call named no tool, so nothing was done. Call a tool by its name, or answer.',
      'assistant: done',
    ]);
    expect(JSON.stringify(await runtime.store.events.read(thread, 0))).not.toMatch(/none/i);
  });

  it('[AX-46] run with arguments extracted from surrounding text, and the log says so', async () => {
    const model = scriptedModel([calls('look', '{"at":"door"} trailing'), says('done')]);
    const { runtime, thread, given } = await run(model);
    expect(given).toEqual([{ at: 'door' }]);
    expect(await eventsOf(runtime, thread, 'tool.called')).toMatchObject([
      { name: 'look', repaired: ['unwrapped'] },
    ]);
    const { messages } = await runtime.store.messages.list(thread, { limit: 10 });
    const [call] = JSON.parse(messages[1]?.tool_calls ?? '[]') as ToolCall[];
    expect(call?.function.arguments).toBe('{"at":"door"}');
    expect(messages[1]?.metadata).toMatchObject({
      rawCalls: [{ callId: call?.id, name: 'look', arguments: '{"at":"door"} trailing' }],
    });
    expect(callsSent(model, 1)).toMatchObject([{ arguments: { at: 'door' } }]);
  });

  it('[AX-46] that need no repair are logged as usual', async () => {
    const { runtime, thread } = await run(scriptedModel([calls('look', { at: 'door' }), says('done')]));
    expect(await eventsOf(runtime, thread, 'tool.called')).toEqual([{ name: 'look', callId: 'call_1' }]);
    const { messages } = await runtime.store.messages.list(thread, { limit: 10 });
    expect(messages[1]?.metadata).not.toHaveProperty('rawCalls');
  });

  it('[AX-47] do not run if their arguments are cut off: the model is told, and continues', async () => {
    const model = scriptedModel([calls('look', '{"at":"do'), calls('look', { at: 'door' }), says('done')]);
    const { given, transcript } = await run(model);
    expect(given).toEqual([{ at: 'door' }]);
    expect(transcript[2]).toMatch(/^tool look error: .*incomplete because the answer was cut off/);
    expect(callsSent(model, 1)).toMatchObject([{ name: 'look', arguments: {} }]);
  });

  it('[AX-47] do not run without arguments if the answer ended before they began', async () => {
    const model = scriptedModel([callsMany([{ name: 'check' }, { name: 'check', args: '' }]), says('done')]);
    const { tools, given } = recorder();
    const runtime = await testRuntime({ model, registry: helperRegistry({ model: cutShort(model), tools }) });
    const thread = await runtime.start('go');
    expect(given).toEqual(['nothing']);
    const transcript = await runtime.transcript(thread);
    expect(transcript.slice(2)).toEqual([
      'tool check success: seen',
      expect.stringMatching(/^tool check error: .*incomplete because the answer was cut off/),
      'assistant: done',
    ]);
  });

  it('[AX-47] do not run without the arguments that their tool requires', async () => {
    const { given, transcript } = await run(scriptedModel([calls('look', ''), says('done')]));
    expect(given).toEqual([]);
    expect(transcript[2]).toMatch(/^tool look error: .*\[at\]/);
  });

  it('[AX-49] get ids from step and position if they have none or two are equal', async () => {
    const args = { at: 'door' };
    const model = scriptedModel([
      callsMany([
        { name: 'look', args, id: '' },
        { name: 'look', args, id: 'a' },
        { name: 'look', args, id: 'a' },
      ]),
      says('done'),
    ]);
    const { runtime, thread, given } = await run(model);
    expect(given).toHaveLength(3);
    const ids = ['call_1_0', 'a', 'call_1_2'];
    expect(await eventsOf(runtime, thread, 'tool.called')).toMatchObject(ids.map((callId) => ({ callId })));
    expect(await eventsOf(runtime, thread, 'tool.result')).toMatchObject(ids.map((callId) => ({ callId })));
    expect(callsSent(model, 1)).toMatchObject(ids.map((id) => ({ id })));
  });

  it.each(['model_answered', 'model_committed'] as const)(
    '[AX-49] keep the same ids if the attempt is lost at %s, and run once',
    async (place) => {
      const look = () => calls('look', { at: 'door' }, { id: '' });
      const model = scriptedModel(({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? says('done') : look(),
      );
      let losses = 0;
      const probe = (point: string) => {
        if (point !== place || losses > 0) return;
        losses += 1;
        throw new Error('the attempt is lost');
      };
      const { runtime, thread, given } = await run(model, { probe });
      expect(losses).toBe(1);
      expect(given).toEqual([{ at: 'door' }]);
      expect(await eventsOf(runtime, thread, 'tool.called')).toEqual([
        { name: 'look', callId: 'call_1_0', repaired: ['id'] },
      ]);
    },
  );

  it('[AX-50] pass arguments that look like ids of the runtime to their tool', async () => {
    const { given } = await run(scriptedModel([calls('look', { at: 'sa-1f2e3d4c' }), says('done')]));
    expect(given).toEqual([{ at: 'sa-1f2e3d4c' }]);
  });

  it('[AX-52] are read from a tag in its text', async () => {
    const text = '<tool_code>check()</tool_code>';
    const { runtime, thread, given, transcript } = await run(scriptedModel([says(text), says('done')]));
    expect(given).toEqual(['nothing']);
    expect(transcript.slice(1)).toEqual([
      `assistant: ${text} -> check`,
      'tool check success: seen',
      'assistant: done',
    ]);
    const told = [{ name: 'check', callId: 'call_1_0', repaired: ['inline'] }];
    expect(await eventsOf(runtime, thread, 'tool.called')).toEqual(told);
  });

  it('[AX-53] are read from a text that is one call', async () => {
    const { given } = await run(scriptedModel([says('look({"at":"(a) door"})'), says('done')]));
    expect(given).toEqual([{ at: '(a) door' }]);
  });

  it.each([
    ['[AX-54] with a name that was not offered', '<tool_code>format_disk()</tool_code>', {}],
    ['[AX-57] in a sentence', 'You could call check() to see.', {}],
    [
      'where the prompt chooses no tool',
      '<tool_code>check()</tool_code>',
      { prompt: { toolChoice: 'none' } as const },
    ],
  ])('are not read from a text %s', async (_, text, more) => {
    const { given, transcript } = await run(scriptedModel([says(text)]), more);
    expect(given).toEqual([]);
    expect(transcript.slice(1)).toEqual([`assistant: ${text}`]);
  });

  it('above the limit of a step get an error result each', async () => {
    const many = Array.from({ length: LIMITS.callsRun + 2 }, () => ({ name: 'check' }));
    const model = scriptedModel([callsMany(many), says('done')]);
    const { given, transcript } = await run(model);
    expect(given).toHaveLength(LIMITS.callsRun);
    const results = transcript.filter((line) => line.startsWith('tool check'));
    expect(results).toHaveLength(LIMITS.callsRun + 2);
    expect(results.slice(-3)).toEqual([
      'tool check success: seen',
      expect.stringMatching(/^tool check error: .*Too many calls in one answer/),
      expect.stringMatching(/^tool check error: .*Too many calls in one answer/),
    ]);
  });
});
