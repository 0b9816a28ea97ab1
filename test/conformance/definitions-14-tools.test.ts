/** definitions §14.6: tools that code queues or invokes. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { defineEffect, definePrompt, defineTool } from '../../src/definitions/index.ts';
import { callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { type Hooks, hookRuntime } from '../support/hook-project.ts';
import { eventually } from '../support/runtime.ts';
import { toolOf, work } from '../support/tool-work.ts';

/** The activity fails there once, as that of a lost worker does, and is tried again. */
function lostOnceAt(point: FaultPoint): (at: FaultPoint) => void {
  let lost = false;
  return (at) => {
    if (lost || at !== point) return;
    lost = true;
    throw new Error(`lost at ${point}`);
  };
}

describe('definitions §14.6 tools that hooks queue', () => {
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
    it(`[definitions 14.6] are stored with ${what}: a worker that is lost behind the commit loses none`, async () => {
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

  it('[definitions 8] may be asynchronous, or throw: both are answers that the model reads', async () => {
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

  it('[definitions 10] an effect refuses what its asynchronous schema does not take, and fires with the rest', async () => {
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
