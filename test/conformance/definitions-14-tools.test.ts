/** definitions §14.6: tools that code queues or invokes. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineEffect, definePrompt, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { type Hooks, hookRuntime } from '../support/hook-project.ts';
import { eventually } from '../support/runtime.ts';
import { toolAnswers, toolOf, work } from '../support/tool-work.ts';

/** Makes the activity fail once at this point, as one of a lost worker does; it is then tried again. */
function lostOnceAt(point: FaultPoint): (at: FaultPoint) => void {
  let lost = false;
  return (at) => {
    if (lost || at !== point) return;
    lost = true;
    throw new Error(`lost at ${point}`);
  };
}

describe('definitions §14.6 tools queued by hooks', () => {
  const rows: readonly (readonly [string, FaultPoint, Hooks])[] = [
    [
      'an answer',
      'model_committed',
      {
        before_create_message: (state, { content }) =>
          content === 'hello' ? state.queueTool('note', {}) : undefined,
      },
    ],
    [
      'a drained message',
      'step_begun',
      {
        before_create_message: (state, { role }) =>
          role === 'user' ? state.queueTool('note', {}) : undefined,
      },
    ],
  ];
  for (const [what, point, hooks] of rows)
    it(`[definitions 14.6] are stored with ${what}: a worker lost after the commit loses none`, async () => {
      const runtime = await hookRuntime({
        model: scriptedModel([says('hello'), says('noted')]),
        hooks,
        tools: { note: toolOf(() => 'done') },
        options: { probe: lostOnceAt(point) },
      });
      const thread = await runtime.start('go');
      expect(await runtime.transcript(thread)).toContain('tool note success: "done"');
    });
});

describe('definitions §14.6 tools invoked by code', () => {
  it('[definitions 14.6] have an idempotency key per invocation, stable across attempts, and their own options and uses', async () => {
    const identity = ({ idempotencyKey: key, options }: ThreadState) => ({ key, options });
    const invoke = async (state: ThreadState, name: string) => {
      const { result, error } = await state.invokeTool(name, {});
      return error ?? JSON.parse(result ?? 'null');
    };
    const outer = defineTool({
      description: 'invokes',
      uses: ['inner'],
      execute: async (state) => ({
        status: 'success',
        result: JSON.stringify([identity(state), await invoke(state, 'inner'), await invoke(state, 'inner')]),
      }),
    });
    const inner = defineTool({
      description: 'invokes',
      uses: ['innermost'],
      execute: async (state) => ({
        status: 'success',
        result: JSON.stringify([
          identity(state),
          await invoke(state, 'innermost'),
          await invoke(state, 'outer'),
          state.execution?.stopped,
        ]),
      }),
    });
    const runtime = await hookRuntime({
      model: scriptedModel([calls('outer'), says('done')]),
      hooks: {},
      tools: { outer, inner, innermost: toolOf(identity) },
      prompt: {
        tools: [
          { name: 'outer', options: { of: 'outer' } },
          { name: 'inner', options: { of: 'inner' } },
          'innermost',
        ],
      },
    });
    const thread = await runtime.start('go');
    const shown = (key: string) => [
      { key, options: { of: 'inner' } },
      { key: `${key}:invoked:0`, options: {} },
      'Tool "inner" may not reach "outer": add it to "uses".',
      false,
    ];
    const key = `${thread}:1:0`;
    expect(await toolAnswers(runtime, thread)).toEqual([
      [{ key, options: { of: 'outer' } }, shown(`${key}:invoked:0`), shown(`${key}:invoked:1`)],
    ]);
  });
});

describe('definitions §8 schemas of arguments', () => {
  const later = async (text: string) => {
    await Promise.resolve();
    return text !== 'no';
  };
  const args = z.object({ text: z.string().refine(later, 'is not taken') });
  const broken = z.object({
    text: z.string().refine(() => {
      throw new Error('the list is gone');
    }),
  });
  const echo = (schema: typeof args | typeof broken) =>
    defineTool({
      description: 'says it again',
      args: schema,
      execute: (_state, { text }) => ({ status: 'success', result: text }),
    });

  it('[definitions 8] may be asynchronous or throw: the model reads the refusal', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([
        callsMany([
          { name: 'echo', args: { text: 'yes' } },
          { name: 'echo', args: { text: 'no' } },
          { name: 'broken', args: { text: 'yes' } },
          { name: 'ask', args: { text: 'no' } },
          { name: 'ask', args: { text: 'yes' } },
        ]),
        says('asked'),
        says('done'),
      ]),
      hooks: {},
      tools: { echo: echo(args), broken: echo(broken) },
      prompts: [
        definePrompt({
          name: 'ask',
          toolDescription: 'asks',
          prompt: 'You ask.',
          model: 'scripted',
          requiredSchema: args,
          tools: [],
        }),
      ],
      prompt: { tools: ['echo', 'broken', 'ask'] },
    });
    const refused = 'error: Failed to execute tool: Tool argument validation failed:';
    expect(
      (await runtime.transcript(await runtime.start('go'))).filter((line) => line.startsWith('tool')),
    ).toEqual([
      'tool echo success: yes',
      `tool echo ${refused} [text] is not taken`,
      `tool broken ${refused} the schema itself failed: the list is gone`,
      expect.stringMatching(/^tool ask error: .*\[text\] is not taken/),
      'tool ask success: asked',
    ]);
  });

  it('[definitions 10] an effect refuses arguments by its asynchronous schema, and fires with valid ones', async () => {
    const told: string[] = [];
    const note = defineEffect('notes', args, (_state, { text }) => void told.push(text));
    const { runtime, threadId } = await work(
      {
        plan: async (state) => {
          await state.scheduleEffect('note', { text: 'no' });
          await state.scheduleEffect('note', { text: 'yes' });
        },
      },
      { effects: { note } },
    );
    const failed = await eventually('both have ended', async () => {
      const events = await runtime.store.events.read(threadId, 0);
      return told.length === 1 && events.find(({ type }) => type === 'effect.failed');
    });
    expect(failed).toMatchObject({ data: { error: { code: 'InvalidValue' } } });
    expect(told).toEqual(['yes']);
  });
});

describe('definitions §8 results', () => {
  it('[definitions 8] keep error_code and error_data, redacted, for invoking code and for readers', async () => {
    const failing = defineTool({
      description: 'fails',
      execute: async (state) => {
        await state.setEnv('KEY', 'swordfish-4711');
        const data = { key: await state.env('KEY'), at: new Date(0), left: undefined };
        return { status: 'error', error: 'no', error_code: 'out_of_stock', error_data: data };
      },
    });
    const outer = toolOf(async (state) => state.invokeTool('failing', {}));
    const runtime = await hookRuntime({
      model: scriptedModel([calls('failing'), calls('outer'), says('done')]),
      hooks: { before_store_tool_result: (_state, _call, result) => ({ ...result }) },
      tools: { failing, outer },
    });
    const thread = await runtime.start('go');
    const [failed, invoked] = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    const told = {
      error_code: 'out_of_stock',
      error_data: { key: '[secret KEY]', at: '1970-01-01T00:00:00.000Z' },
    };
    expect(failed).toMatchObject({ tool_status: 'error', metadata: told });
    expect(JSON.parse(invoked?.content ?? '')).toEqual({ status: 'error', error: 'no', ...told });
  });
});
