/** runtime §5.2: whatever author code throws, its call gets an error result, its step ends, its process survives. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  defineEffect,
  defineHook,
  defineThreadEndpoint,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { createEndpointHandler } from '../../src/server/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { promptProject } from '../support/prompt-project.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const bare = (fields: object = {}) => Object.assign(Object.create(null), fields);
/** An error object of which no property can be converted to text. */
const hollow = () =>
  bare({
    name: bare(),
    message: bare(),
    code: bare(),
    type: bare(),
    status: bare(),
    stack: bare(),
    cause: bare({ code: bare() }),
  });
const raise = (thrown: unknown): never => {
  throw thrown;
};
const throwing = (thrown: () => unknown, more: object = {}) =>
  defineTool({ description: 'throws', execute: async () => raise(thrown()), ...more });
const refusing = z.object({ text: z.string().optional() }).refine(() => raise(bare()));

const TOOLS = {
  bare: throwing(bare),
  hollow: throwing(hollow),
  quick: throwing(bare, { quick: true }),
  again: throwing(hollow, { idempotent: true }),
  checked: defineTool({
    description: 'its schema throws',
    args: refusing,
    execute: async () => ({ status: 'success' }),
  }),
  invokes: defineTool({
    description: 'invokes them',
    execute: async (state) => {
      const results = [];
      for (const name of ['bare', 'hollow', 'checked'])
        results.push((await state.invokeTool(name, {})).status);
      return { status: 'success', result: results.join(' ') };
    },
  }),
};

describe('runtime §5.2 Objects without a prototype', () => {
  it('[runtime 5.2] thrown by tools, their schemas and prompts are error results, and the loop continues', async () => {
    const names = [...Object.keys(TOOLS), 'consult'];
    const model = scriptedModel([callsMany(names.map((name) => ({ name, args: {} }))), says('done')]);
    const registry = promptProject({
      model,
      main: { tools: names },
      prompts: { consult: { requiredSchema: refusing } },
      tools: TOOLS,
    });
    const runtime = await testRuntime({ model, registry });
    const thread = await runtime.start('go');
    const results = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    expect(results.map(({ name, tool_status: status }) => [name, status])).toEqual(
      names.map((name) => [name, name === 'invokes' ? 'success' : 'error']),
    );
    expect(results.find(({ name }) => name === 'invokes')?.content).toBe('error error error');
    expect(results.map(({ content }) => content).join('\n')).not.toMatch(/unknown|lost/);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
  });

  it('[runtime 5.2] thrown by hooks, effects and endpoints are reported where each of them reports', async () => {
    const hooks = [
      defineHook({ hook: 'before_create_message', id: 'creates', execute: () => raise(hollow()) }),
      defineHook({ hook: 'filter_messages', id: 'filters', execute: () => raise(bare()) }),
      defineHook({ hook: 'prefilter_llm_history', id: 'prefilters', execute: () => raise(hollow()) }),
      defineHook({ hook: 'after_tool_call_success', id: 'follows', execute: () => raise(hollow()) }),
    ];
    const effects = { fall: defineEffect('falls', z.object({}), async () => raise(hollow())) };
    const endpoints = { 'fall.get': defineThreadEndpoint(async () => raise(hollow())) };
    const model = scriptedModel([calls('schedule'), says('done')]);
    const schedule = defineTool({
      description: 'schedules',
      execute: async (state) => ({ status: 'success', result: await state.scheduleEffect('fall', {}) }),
    });
    const made = promptProject({
      model,
      main: { tools: ['schedule'], hooks: hooks.map(({ name }) => name) },
      tools: { schedule },
      hooks,
    });
    const more = registryFrom({ endpoints, effects });
    const registry = { ...made, endpoints: more.endpoints, effects: more.effects };
    const runtime = await testRuntime({ model, registry });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    const failed = await eventually('the effect has failed', async () => {
      const events = await runtime.store.events.read(thread, 0, 1000);
      return events.some(({ type }) => type === 'effect.failed') ? events : undefined;
    });
    const told = failed
      .filter(({ type }) => type === 'hook.failed')
      .map(({ data }) => (data as { id: string }).id);
    expect(new Set(told)).toEqual(new Set(hooks.map(({ name }) => name)));
    const handler = await createEndpointHandler({ client: runtime.client, registry });
    closeAfterTest(handler.close);
    const { status } = await handler.handle(new Request(`http://host.test/api/threads/${thread}/fall`));
    expect(status).toBe(500);
  });

  it('[runtime 5.2] thrown by a provider end the step as failed, with its attempts', async () => {
    const model = scriptedModel([]);
    const provider: typeof model.provider = (options) => ({
      ...model.provider(options),
      generate: async () => raise(hollow()),
      stream: async () => raise(hollow()),
    });
    const registry = promptProject({ model: { ...model, provider }, main: {} });
    const runtime = await testRuntime({ model, registry });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const { status, lastError } = await runtime.client.getThread(threadId);
    expect(status).toBe('failed');
    expect(lastError?.code).not.toBe('Fault');
    expect(lastError?.message).toContain('The provider failed without a message');
  });
});
