/** definitions §12.2, §6.3: how hooks may change a request, and the tools that a provider runs itself. */
import { describe, expect, it } from '@jest/globals';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, fails, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { agentOf, roles, sent } from '../support/agent-of.ts';
import { testRuntime } from '../support/runtime.ts';

describe('definitions §12.2 hooks of the request', () => {
  const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
  const hooked = (script: ScriptedModel, hook: ReturnType<typeof defineHook>) =>
    agentOf({ m: { script } }, {}, { look }, [hook]);

  it('[definitions 12.2] a provider gets a valid history, whatever a hook made of it', async () => {
    const made: unknown[][] = [
      [
        { role: 'oracle', content: 'x' },
        { role: 'user', content: 'kept' },
        { role: 'tool', content: 'orphan', tool_call_id: 'x', name: 'look' },
      ],
      [],
      [null, 7],
    ];
    const hook = defineHook({
      hook: 'prefilter_llm_history',
      id: 'spoil',
      execute: (_state, messages) =>
        (made.shift() as never) ?? messages.filter(({ role }) => role !== 'tool'),
    });
    const script = scriptedModel([says('one'), says('two'), says('three'), calls('look'), says('done')]);
    const runtime = await testRuntime({ registry: hooked(script, hook) });
    const thread = await runtime.start('first');
    for (const text of ['second', 'third', 'fourth']) await runtime.say(thread, text);
    expect(sent(script, 0)).toEqual([{ role: 'user', content: 'kept' }]);
    expect(roles(sent(script, 1))).toEqual(['system', 'user', 'assistant', 'user']);
    expect(roles(sent(script, 2))).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
    expect(sent(script, 4).at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('no result'),
    });
    const failed = (await runtime.store.events.read(thread, 0)).filter(
      (event) => event.type === 'hook.failed',
    );
    expect(failed.map(({ step, data }) => [step, data.hook])).toEqual(
      [1, 2, 3].map((n) => [n, 'prefilter_llm_history']),
    );
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle' });
  });

  it('[definitions 12.2] filter_messages sees the selected messages; results of dropped calls are dropped too', async () => {
    const hook = defineHook({
      hook: 'filter_messages',
      id: 'forget',
      execute: (_state, messages) => messages.filter(({ tool_calls: calls }) => calls === null),
    });
    const script = scriptedModel([calls('look'), says('done')]);
    const runtime = await testRuntime({ registry: hooked(script, hook) });
    const thread = await runtime.start('look');
    expect(roles(sent(script, 1))).toEqual(['system', 'user']);
    expect(await runtime.messages(thread)).toHaveLength(4);
  });
});

describe('definitions §6.3 provider tools', () => {
  const declared = { providerTools: ['web_search', 'code_interpreter'] };

  it('[definitions 6.3] are sent as provider tools, with options, to the models that declare them', async () => {
    const first = scriptedModel([fails({ status: 400, message: 'no' })]);
    const second = scriptedModel([says('found')]);
    const tools = ['provider:web_search', { name: 'code_interpreter', options: { container: 'auto' } }];
    const registry = agentOf(
      { first: { script: first, ...declared }, second: { script: second, providerTools: ['web_search'] } },
      { tools },
    );
    const runtime = await testRuntime({ registry });
    await runtime.start('search');
    const own = (name: string, options = {}) => ({
      type: 'function',
      function: { name, description: '', parameters: {} },
      executionMode: 'provider',
      options,
    });
    expect(first.requests[0]?.tools).toEqual([
      own('web_search'),
      own('code_interpreter', { container: 'auto' }),
    ]);
    expect(second.requests[0]?.tools).toEqual([own('web_search')]);
  });

  it('[definitions 8] a tool with executionMode "provider" is never run here', async () => {
    let runs = 0;
    const search = defineTool({
      description: 'searches',
      executionMode: 'provider',
      executionProvider: 'openai',
      execute: () => {
        runs += 1;
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('search'), says('well')]);
    const runtime = await testRuntime({ model, tools: { search } });
    const thread = await runtime.start('search');
    expect(model.requests[0]?.tools).toMatchObject([
      { function: { name: 'search' }, executionMode: 'provider', executionProvider: 'openai' },
    ]);
    expect(runs).toBe(0);
    expect((await runtime.transcript(thread))[2]).toMatch(/^tool search error: /);
  });
});
