/** runtime §4: what each of two AI sides sees of their conversation. All cases: test/core/context-side.test.ts. */
import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/core/message/message.ts';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { sent } from '../support/agent-of.ts';
import { png } from '../support/image.ts';
import { promptProject, told } from '../support/prompt-project.ts';
import { testRuntime } from '../support/runtime.ts';
import { heard, twoSides } from '../support/two-sides.ts';

const look = defineTool({
  description: 'looks',
  execute: async (state) => ({ status: 'success', result: `seen by ${state.execution?.currentSide}` }),
});

describe('runtime §4 Context Assembly of two sides', () => {
  it('[runtime 4a] shows each side its own messages as assistant and the other’s as user', async () => {
    const a = scriptedModel([says('draft one'), says('draft two')]);
    const b = scriptedModel([says('too long'), says('good')]);
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 4 } });
    const thread = await runtime.start('write');
    expect(heard(a)).toEqual([['user: write'], ['user: write', 'assistant: draft one', 'user: too long']]);
    expect(heard(b)).toEqual([
      // Starts with a made-up user message: some providers refuse a request that begins with the assistant's words.
      ['user: Begin.', 'assistant: write', 'user: draft one'],
      ['user: Begin.', 'assistant: write', 'user: draft one', 'assistant: too long', 'user: draft two'],
    ]);
    expect(told(a.requests[0] as never)[0]).toBe('system: You are writer.');
    expect(told(b.requests[0] as never)[0]).toBe('system: You are critic.');
    expect(await runtime.transcript(thread)).toEqual([
      'user: write',
      'assistant: draft one',
      'user: too long',
      'assistant: draft two',
      'user: good',
    ]);
  });

  it('[runtime 4a] hides each side’s tool calls and results from the other', async () => {
    const a = scriptedModel([calls('look', {}, { text: 'let me look' }), says('I saw it'), says('so it is')]);
    const b = scriptedModel([
      callsMany([
        { name: 'look', id: 'l1' },
        { name: 'look', id: 'l2' },
      ]),
      says('me too'),
    ]);
    const runtime = await twoSides({ a, b, tools: { look }, agent: { maxSessionTurns: 3 } });
    const thread = await runtime.start('go');
    expect(heard(a)[2]).toEqual([
      'user: go',
      'assistant: let me look -> look',
      'tool: seen by a',
      'assistant: I saw it',
      'user: me too',
    ]);
    expect(heard(b)[1]).toEqual([
      'user: Begin.',
      'assistant: go',
      'user: let me look',
      'user: I saw it',
      'assistant:  -> look -> look',
      'tool: seen by b',
      'tool: seen by b',
    ]);
    // The stored messages hold the calls and results of both sides.
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('tool'))).toHaveLength(3);
    expect((await runtime.messages(thread))[4]).toMatchObject({
      role: 'user',
      content: null,
      tool_calls: expect.stringContaining('look'),
    });
  });

  it('[definitions 12.2] shows hooks the stored roles, with the calls of both sides', async () => {
    const seen: string[][] = [];
    const filter = defineHook({
      hook: 'filter_messages',
      id: 'filter',
      execute: async (state, messages: Message[]) => {
        const shown = messages.map(({ role, content }) => `${role}: ${content ?? ''}`);
        seen.push([`${state.execution?.currentSide}`, ...shown]);
        return messages.filter(({ content }) => content !== 'a secret');
      },
    });
    const a = scriptedModel([calls('look'), says('a secret')]);
    const b = scriptedModel([says('yes')]);
    const runtime = await twoSides({
      a,
      b,
      tools: { look },
      hooks: [filter],
      agent: { maxSessionTurns: 2, hooks: ['filter'] },
    });
    await runtime.start('go');
    expect(seen.at(-1)).toEqual(['b', 'user: go', 'assistant: ', 'tool: seen by a', 'assistant: a secret']);
    expect(heard(b)).toEqual([['user: Begin.', 'assistant: go']]);
  });

  it('[runtime 4a] shows a side the images sent by the other one', async () => {
    const draw = defineTool({
      description: 'draws',
      execute: async (state) => {
        await state.writeFile('/attachments/p.png', png(4, 3), 'image/png');
        await state.injectMessage({
          role: 'assistant',
          content: 'here',
          attachments: ['/attachments/p.png'],
        });
        return { status: 'success', result: 'drawn' };
      },
    });
    const a = scriptedModel([calls('draw'), says('look at it')]);
    const b = scriptedModel([says('nice')]);
    const runtime = await twoSides({ a, b, tools: { draw }, agent: { maxSessionTurns: 2 } });
    await runtime.start('go');
    expect(sent(b, 0).find(({ content }) => Array.isArray(content))).toMatchObject({
      role: 'user',
      content: [{ type: 'text' }, { type: 'image', mediaType: 'image/png' }],
    });
    expect(sent(a, 1).filter(({ content }) => Array.isArray(content))).toEqual([]);
  });

  it('[definitions 12.6] gives a sub-prompt of side B the conversation as that side sees it', async () => {
    const model = scriptedModel([says('a draft'), calls('check'), says('checked'), says('fine')]);
    const registry = promptProject({
      model,
      main: {},
      prompts: {
        critic: { includeChat: true, includePastTools: true, tools: ['check'] },
        check: { includeChat: true },
      },
    });
    const helper = registry.agents.get('helper');
    const pair = {
      ...helper,
      type: 'dual_ai',
      maxSessionTurns: 2,
      sideB: { prompt: 'critic', stopOnResponse: true },
    } as NonNullable<typeof helper>;
    const agents = new Map([...registry.agents, ['helper', pair]]);
    const runtime = await testRuntime({ model, registry: { ...registry, agents } });
    const thread = await runtime.start('go');
    expect(told(model.requests[2] as never)).toEqual([
      'system: You are check.',
      'user: Begin.',
      'assistant: go',
      'user: a draft',
    ]);
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'user:  -> check',
      'tool check success: checked',
      'user: fine',
    ]);
  });
});
