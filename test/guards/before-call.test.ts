/** Hooks before a call (docs/hooks.md): what they refuse is not done, what they change is checked again, and they fail closed. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { HookDefinition, HookSignatures } from '../../src/core/author/hook.ts';
import { defineHook, definePrompt, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import { type HookProject, hookFailures, hookRuntime } from '../support/hook-project.ts';

type Guard = HookSignatures['before_tool_call'];

const guard = (id: string, execute: Guard, priority?: number): HookDefinition =>
  defineHook({ hook: 'before_tool_call', id, execute, priority }) as HookDefinition;

function payments() {
  const paid: unknown[] = [];
  const pay = defineTool({
    description: 'pays',
    args: z.object({ cents: z.number().int() }),
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: `paid ${cents}` };
    },
  });
  return {
    paid,
    tools: {
      pay,
      look: defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) }),
    },
  };
}

async function turn(project: Omit<HookProject, 'model'>, ...answers: Parameters<typeof scriptedModel>[0][]) {
  const model = scriptedModel(answers.flat() as never);
  const runtime = await hookRuntime({ model, ...project });
  const thread = await runtime.start('go');
  return { runtime, thread, model, transcript: await runtime.transcript(thread) };
}

describe('hooks before a call', () => {
  it('[AX-60] a block has its call, an error and a result with the reason; the next call runs', async () => {
    const { paid, tools } = payments();
    const hooks = [
      guard('thrift', (_state, { function: { name } }) =>
        name === 'pay' ? { block: true, reason: 'Not today.' } : undefined,
      ),
    ];
    const { runtime, thread, transcript } = await turn({ hooks, tools }, [
      callsMany([{ name: 'pay', args: { cents: 5 } }, { name: 'look' }]),
      says('done'),
    ]);
    expect(paid).toEqual([]);
    expect(transcript.slice(2)).toEqual([
      'tool pay error: Failed to execute tool: HookBlocked: "pay" was not done. Not today.',
      'tool look success: seen',
      'assistant: done',
    ]);
    const { messages } = await runtime.store.messages.list(thread, { limit: 10 });
    expect(messages[2]?.metadata).toMatchObject({
      error_code: 'HookBlocked',
      error_data: { hook: 'thrift' },
    });
    const told = await collect(runtime.client.events(thread, { as: 'agenticx', follow: false }));
    expect(told.map(({ event: { type } }) => type).filter((type) => type !== 'token')).toEqual([
      'round_start',
      'tool_call',
      'tool_call',
      'error',
      'tool_result',
      'tool_result',
      'round_start',
      'final',
    ]);
    expect(await hookFailures(runtime, thread)).toEqual([]);
    const started = (await runtime.store.events.read(thread, 0)).filter(
      ({ type }) => type === 'tool.started',
    );
    expect(started.map(({ data }) => 'name' in data && data.name)).toEqual(['look']);
  });

  it('[AX-105] run by priority, highest first, and in order if it is equal', async () => {
    const { tools } = payments();
    const ran: string[] = [];
    const note = (id: string, priority?: number) => guard(id, () => void ran.push(id), priority);
    const hooks = [
      note('last', -10),
      note('first_of_none'),
      note('second_of_none'),
      note('zero', 0),
      note('top', 5),
    ];
    await turn({ hooks, tools }, [calls('look'), says('done')]);
    expect(ran).toEqual(['top', 'first_of_none', 'second_of_none', 'zero', 'last']);
  });

  it('[AX-106] the first block ends the chain: later hooks do not run', async () => {
    const { paid, tools } = payments();
    let asked = 0;
    const hooks = [
      guard('behind', () => void asked++),
      guard('before', () => ({ block: true, reason: 'No.' }), 1),
    ];
    const { transcript } = await turn({ hooks, tools }, [calls('pay', { cents: 1 }), says('done')]);
    expect(transcript[2]).toBe(
      'tool pay error: Failed to execute tool: HookBlocked: "pay" was not done. No.',
    );
    expect({ asked, paid }).toEqual({ asked: 0, paid: [] });
  });

  it.each<[string, Guard, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no rules today');
      },
      /The hook "sick" failed: no rules today/,
    ],
    [
      'answers something else',
      () => 'yes' as never,
      /must return \{ block: true, reason \} or \{ arguments \}/,
    ],
    ['returns a block that is invalid', () => ({ block: 'no' }) as never, /it returned an object/],
    [
      'gives a reason that is not text',
      () => ({ block: true, reason: 7 }) as never,
      /a reason that is a string/,
    ],
    ['returns arguments that are no JSON', () => ({ arguments: { at: 1n } }), /failed: /],
  ])('[AX-109] a hook that %s refuses the call, and the log says why', async (_, execute, error) => {
    const { paid, tools } = payments();
    const { runtime, thread, transcript } = await turn({ hooks: [guard('sick', execute)], tools }, [
      calls('pay', { cents: 1 }),
      says('done'),
    ]);
    expect(paid).toEqual([]);
    expect(transcript[2]).toMatch(
      /^tool pay error: Failed to execute tool: HookFailed: "pay" was not done\. /,
    );
    expect(transcript[2]).toMatch(error);
    expect(await hookFailures(runtime, thread)).toHaveLength(1);
  });

  it('[AX-106] arguments changed by one are passed to the next, validated like a model’s, and used by the tool', async () => {
    const { paid, tools } = payments();
    const seen: unknown[] = [];
    const hooks = [
      guard('halve', (_state, _call, { cents }) => ({ arguments: { cents: Number(cents) / 2 } }), 1),
      guard('note', (_state, call, args) => void seen.push(call.function.arguments, args)),
    ];
    const { transcript } = await turn({ hooks, tools }, [
      callsMany([
        { name: 'pay', args: { cents: 10 } },
        { name: 'pay', args: { cents: 5 } },
      ]),
      says('done'),
    ]);
    expect(seen).toEqual(['{"cents":5}', { cents: 5 }, '{"cents":2.5}', { cents: 2.5 }]);
    expect(paid).toEqual([5]);
    expect(transcript[2]).toBe('tool pay success: paid 5');
    expect(transcript[3]).toMatch(
      /^tool pay error: Failed to execute tool: Tool argument validation failed: .cents/,
    );
  });

  it('[AX-63] a call denied by a rule reaches no hook', async () => {
    const { paid, tools } = payments();
    let asked = 0;
    const hooks = [
      guard('halve', (_state, _call, { cents }) => {
        asked += 1;
        return { arguments: { cents: Number(cents) / 2 } };
      }),
    ];
    const denied = { ...tools.pay, capabilities: ['money.spend'] };
    const { runtime, thread, transcript } = await turn(
      { hooks, tools: { pay: denied }, agent: { policy: { 'money.*': 'deny' } } },
      [calls('pay', { cents: 8 }), says('done')],
    );
    expect(transcript[2]).toMatch(/^tool pay error: Failed to execute tool: ActionDenied/);
    expect({ asked, paid }).toEqual({ asked: 0, paid: [] });
    expect(await hookFailures(runtime, thread)).toEqual([]);
  });

  it('[AX-77] a call refused by a hook does not count for loops', async () => {
    const { tools } = payments();
    const hooks = [guard('never', () => ({ block: true }))];
    const again = Array.from({ length: 6 }, () => calls('pay', { cents: 1 }));
    const { transcript } = await turn(
      { hooks, tools, agent: { guards: { loops: { warning: 3, critical: 4 } } } },
      [...again, says('done')],
    );
    expect(transcript.at(-1)).toBe('assistant: done');
  });

  it('run for tools invoked by code, but not by a hook', async () => {
    const { paid, tools } = payments();
    const agent = defineTool({
      description: 'pays by code',
      execute: async (state) => ({
        status: 'success',
        result: (await state.invokeTool('pay', { cents: 4 })).error ?? 'paid',
      }),
    });
    const hooks = [
      guard('thrift', (_state, { function: { name } }) => (name === 'pay' ? { block: true } : undefined)),
      defineHook({
        hook: 'after_tool_call_success',
        id: 'tip',
        execute: async (state) => void (await state.invokeTool('pay', { cents: 1 })),
      }) as HookDefinition,
    ];
    const { transcript } = await turn({ hooks, tools: { ...tools, agent } }, [calls('agent'), says('done')]);
    expect(transcript[2]).toContain('HookBlocked: "pay" was not done.');
    expect(paid).toEqual([1]);
  });

  it('run for calls of prompts', async () => {
    const { tools } = payments();
    const asked: unknown[] = [];
    const prompts = [
      definePrompt({
        name: 'poet',
        toolDescription: 'writes',
        prompt: 'You write of {{about}}.',
        model: 'scripted',
        requiredSchema: z.object({ about: z.string() }),
      }),
    ];
    const hooks = [
      guard('censor', (_state, { function: { name } }, { about }) => {
        asked.push([name, about]);
        return about === 'war' ? { block: true, reason: 'No wars.' } : { arguments: { about: 'peace' } };
      }),
    ];
    const { transcript, model } = await turn({ hooks, tools, prompts, prompt: { tools: ['poet'] } }, [
      callsMany([
        { name: 'poet', args: { about: 'war' } },
        { name: 'poet', args: { about: 'love' } },
      ]),
      says('a poem'),
      says('done'),
    ]);
    expect(asked).toEqual([
      ['poet', 'war'],
      ['poet', 'love'],
    ]);
    expect(transcript.join('\n')).toContain('HookBlocked: "poet" was not done. No wars.');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('You write of peace.');
  });
});

describe('other hooks', () => {
  it('[AX-107] the model and the events get the result as changed by the last hook after a call', async () => {
    const { tools } = payments();
    const add = (id: string) =>
      defineHook({
        hook: 'after_tool_call_success',
        id,
        execute: (_state, _call, result) => ({ ...result, result: `${result.result}, ${id}` }),
      }) as HookDefinition;
    const { runtime, thread, model } = await turn({ hooks: [add('one'), add('two')], tools }, [
      calls('look'),
      says('done'),
    ]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('seen, one, two');
    const told = await collect(runtime.client.events(thread, { as: 'agenticx', follow: false }));
    const results = told.flatMap(({ event }) => (event.type === 'tool_result' ? [event.data.result] : []));
    expect(results).toEqual(['seen, one, two']);
  });

  it('[AX-108] one that throws after an answer ends nothing: the turn has its final event', async () => {
    const { tools } = payments();
    const hooks = (['before_create_message', 'after_create_message', 'prefilter_llm_history'] as const).map(
      (hook) =>
        defineHook({
          hook,
          id: hook,
          execute: () => {
            throw new Error('not mine');
          },
        }) as HookDefinition,
    );
    const { runtime, thread } = await turn({ hooks, tools }, [says('done')]);
    const told = await collect(runtime.client.events(thread, { as: 'agenticx', follow: false }));
    expect(told.at(-1)?.event).toMatchObject({ type: 'final', data: { text: 'done' } });
    expect(await hookFailures(runtime, thread)).toHaveLength(5);
  });

  it('[AX-111] an addition to a request appears once in each, in any number of rounds', async () => {
    const { tools } = payments();
    const hooks = [
      defineHook({
        hook: 'prefilter_llm_history',
        id: 'recall',
        execute: (_state, messages) => [...messages, { role: 'user', content: 'remember me' }],
      }) as HookDefinition,
    ];
    const { model } = await turn({ hooks, tools }, [calls('look'), calls('look'), says('done')]);
    const counts = model.requests.map(
      ({ messages }) => JSON.stringify(messages).split('remember me').length - 1,
    );
    expect(counts).toEqual([1, 1, 1]);
  });
});
