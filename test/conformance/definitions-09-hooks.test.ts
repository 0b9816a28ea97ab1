/** definitions §9: hooks of threads, requests and messages, through the whole runtime. */
import { describe, expect, it } from '@jest/globals';
import { HOOK_NAMES } from '../../src/core/author/hook.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import { definePrompt, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { type Hooks, hookFailures, hookRuntime } from '../support/hook-project.ts';

const ok = defineTool({
  description: 'works',
  execute: async () => ({ status: 'success', result: 'worked' }),
});

describe('definitions §9 the course of a turn', () => {
  it('[definitions 9] each hook runs at its point, with state.execution except before the first execution', async () => {
    const trace: string[] = [];
    const told = (given: unknown): string => {
      if (typeof given === 'string') return given;
      const { role, function: target } = given as Partial<Message> & { function?: { name: string } };
      return role ?? target?.name ?? (Array.isArray(given) ? `${given.length} messages` : 'result');
    };
    const hooks = Object.fromEntries(
      HOOK_NAMES.map((name) => [
        name,
        (state: { execution: unknown }, ...given: unknown[]) => {
          trace.push([name, ...given.map(told), ...(state.execution ? [] : ['at rest'])].join(' · '));
        },
      ]),
    ) as Hooks;
    const model = scriptedModel([calls('ok'), says('done')]);
    const runtime = await hookRuntime({ model, hooks, tools: { ok } });
    const thread = await runtime.start('go');
    const created = (role: string) => [`before_create_message · ${role}`, `after_create_message · ${role}`];
    const request = (count: number) => [
      'after_system_message · You help.',
      `filter_messages · ${count} messages`,
      `prefilter_llm_history · ${count + 1} messages`,
    ];
    expect(trace).toEqual([
      'after_thread_created · at rest',
      ...created('user'),
      ...request(1),
      ...created('assistant'),
      'before_tool_call · ok · result',
      'after_tool_call_success · ok · result',
      'before_store_tool_result · ok · result',
      ...created('tool'),
      ...request(3),
      ...created('assistant'),
      'on_agent_end · result · at rest',
    ]);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> ok',
      'tool ok success: worked',
      'assistant: done',
    ]);
  });

  it('[definitions 9] after_thread_created runs once, and its changes are visible to the first execution', async () => {
    let ran = 0;
    const runtime = await hookRuntime({
      model: scriptedModel(() => says('ok')),
      hooks: {
        async after_thread_created(state) {
          ran += 1;
          await state.setValue('greeted', true);
          await state.injectMessage({ role: 'system', content: 'welcome' });
          await state.queueMessage({ content: 'and I?' });
        },
      },
    });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'again');
    expect(ran).toBe(1);
    expect(await runtime.transcript(thread)).toEqual([
      'system: welcome',
      'user: go',
      'user: and I?',
      'assistant: ok',
      'user: again',
      'assistant: ok',
    ]);
  });

  it('[definitions 9] hooks of a turn share state.context, and may end it', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('count'), says('never the end')]),
      side: { stopOnResponse: false },
      tools: {
        count: defineTool({
          description: 'counts',
          execute: ({ context }) => ({ status: 'success', result: JSON.stringify(context) }),
        }),
      },
      hooks: {
        before_create_message: ({ context }, { role }) => {
          context[role] = Number(context[role] ?? 0) + 1;
        },
        after_create_message: ({ context, execution }, { role, content }) => {
          context.after = `${context.after ?? ''}${role} `;
          if (content === 'never the end') execution?.stop();
        },
        filter_messages: ({ context }) => {
          context.requests = Number(context.requests ?? 0) + 1;
        },
        after_tool_call_success: ({ context }, _call, result) => {
          return { ...result, result: `${result.result} ${JSON.stringify(context.requests)}` };
        },
      },
    });
    const thread = await runtime.start('go');
    expect((await runtime.client.getThread(thread)).stopReason).toBe('state_stop_session');
    const tool = (await runtime.messages(thread)).find(({ role }) => role === 'tool');
    expect(tool?.content).toBe('{"user":1,"after":"user assistant ","requests":1,"assistant":1} 1');
  });

  it('[definitions 9] scratch values that cannot be stored are dropped, and noted in the log', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('ok'), says('done')]),
      tools: { ok },
      hooks: {
        after_system_message({ context }) {
          Object.assign(context, { spoilt: () => 1, kept: 1 });
        },
        after_tool_call_success: ({ context }, _call, result) => ({
          ...result,
          result: `keys: ${Object.keys(context)}`,
        }),
      },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toBe('tool ok success: keys: kept');
    expect(await hookFailures(runtime, thread)).toEqual([]);
    const notes = eventsOf(await runtime.store.events.read(thread, 0), 'code.note');
    expect(notes.map(({ data }) => data.note)).toEqual(
      Array(2).fill('state.context.spoilt: a function cannot be kept'),
    );
  });
});

describe('definitions §9 requests', () => {
  it('[definitions 12.2] filter_messages and after_system_message change this request only; prefilter runs last', async () => {
    const model = scriptedModel(() => says('ok'));
    const runtime = await hookRuntime({
      model,
      hooks: {
        after_system_message: [
          (_state, text) => `${text} First.`,
          () => undefined,
          (_state, text) => `${text} Second.`,
        ],
        filter_messages: (_state, messages) => [
          ...messages.filter(({ content }) => content !== 'secret plan'),
          { ...(messages[0] as Message), id: 'made up', role: 'user', content: 'remember me' },
        ],
        prefilter_llm_history: (_state, messages) => [...messages, { role: 'user', content: 'last word' }],
      },
    });
    const thread = await runtime.start('secret plan');
    await runtime.say(thread, 'second');
    expect(model.requests[1]?.messages).toEqual([
      { role: 'system', content: 'You help. First. Second.' },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: 'second' },
      { role: 'user', content: 'remember me' },
      { role: 'user', content: 'last word' },
    ]);
    expect(await runtime.transcript(thread)).toEqual([
      'user: secret plan',
      'assistant: ok',
      'user: second',
      'assistant: ok',
    ]);
  });

  it('[definitions 9] a history broken by a hook is repaired afterwards', async () => {
    const model = scriptedModel([calls('ok'), says('done')]);
    const runtime = await hookRuntime({
      model,
      tools: { ok },
      hooks: { prefilter_llm_history: (_state, messages) => messages.filter(({ role }) => role !== 'tool') },
    });
    await runtime.start('go');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
  });

  it('[definitions 22.26] prefilter_llm_history ends the execution by an error with block: true', async () => {
    const model = scriptedModel([says('fine')]);
    const runtime = await hookRuntime({
      model,
      side: { stopOnResponse: false, maxSteps: 1 },
      hooks: {
        prefilter_llm_history: (_state, messages) => {
          if (JSON.stringify(messages).includes('bomb'))
            throw Object.assign(new Error('This is not for me.'), { block: true });
          return messages.filter(({ content }) => content !== 'This is not for me.');
        },
        filter_messages: (_state, messages) => messages.slice(-1),
      },
    });
    const thread = await runtime.start('a bomb');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'hook_blocked',
    });
    expect(model.requests).toHaveLength(0);
    expect(await hookFailures(runtime, thread)).toEqual([]);
    await runtime.say(thread, 'a flower');
    expect(await runtime.transcript(thread)).toEqual([
      'user: a bomb',
      'assistant: This is not for me.',
      'user: a flower',
      'assistant: fine',
    ]);
    const blocked = (await runtime.messages(thread))[1];
    expect(blocked?.metadata).toEqual({ hookBlocked: 'prefilter_llm_history_1' });
  });

  it('[definitions 22.26] a sub-prompt whose request is refused by its hook is a failed call, and the execution continues', async () => {
    const model = scriptedModel([calls('consult'), says('then not')]);
    const runtime = await hookRuntime({
      model,
      prompt: { tools: ['consult'], hooks: ['after_system_message_1'] },
      prompts: [
        definePrompt({
          name: 'consult',
          toolDescription: 'asks somebody else',
          prompt: 'You know.',
          model: 'scripted',
          hooks: ['prefilter_llm_history_1'],
        }),
      ],
      hooks: {
        after_system_message: () => undefined,
        prefilter_llm_history: () => {
          throw Object.assign(new Error('Nobody asks this.'), { block: true });
        },
      },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      expect.stringMatching(/^tool consult error: .*Nobody asks this\.$/),
      'assistant: then not',
    ]);
  });

  it.each([
    [['after_system_message_2'], 'You help. Two.'],
    [[], 'You help. One. Two.'],
  ])(
    "[definitions 22.43] hooks of a prompt replace the agent's; an empty list does not: %j",
    async (hooks, text) => {
      const model = scriptedModel([says('ok')]);
      const runtime = await hookRuntime({
        model,
        prompt: { hooks },
        hooks: { after_system_message: [(_state, text) => `${text} One.`, (_state, text) => `${text} Two.`] },
      });
      await runtime.start('go');
      expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: text });
    },
  );

  it('[definitions 22.25] a failing hook is logged, and the chain continues', async () => {
    const model = scriptedModel([says('ok')]);
    const fail = () => {
      throw new Error('broken');
    };
    const runtime = await hookRuntime({
      model,
      hooks: {
        after_system_message: [() => 'one', fail, (_state, text) => `${text} two`],
        before_create_message: fail,
        after_create_message: fail,
        filter_messages: () => 'nonsense' as never,
      },
    });
    const thread = await runtime.start('go');
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'one two' });
    expect(await runtime.transcript(thread)).toEqual(['user: go', 'assistant: ok']);
    expect(await hookFailures(runtime, thread)).toEqual([
      'before_create_message_1: broken',
      'after_create_message_1: broken',
      'after_system_message_2: broken',
      'filter_messages_1: It must return a list of messages, or nothing; it returned a string.',
      'before_create_message_1: broken',
      'after_create_message_1: broken',
    ]);
    const logs = await runtime.store.events.getLogs(thread);
    expect(logs.filter(({ type }) => type === 'hook')).toHaveLength(6);
  });
});
