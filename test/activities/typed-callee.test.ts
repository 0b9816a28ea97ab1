/** Typed answers of what is called: a prompt as a tool, and the thread that a task starts. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import {
  defineAgent,
  defineHook,
  defineModel,
  definePrompt,
  defineTask,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { taskRuntime } from '../tasks/task-runtime.ts';

const output = z.object({ city: z.string(), unit: z.enum(['C', 'F']).default('C') });
const BERN = '{"city":"Bern"}';
const VALUE = { city: 'Bern', unit: 'C' };

async function called(answers: readonly ScriptStep[], side: { output?: typeof output } = {}) {
  const model = scriptedModel([calls('find', {}), ...answers]);
  const seen: unknown[] = [];
  const prompt = { prompt: 'You help.', model: 'scripted', toolDescription: 'd' };
  const registry = registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main', ...side }, hooks: ['see'] })],
    prompts: [
      definePrompt({ ...prompt, name: 'main', includeChat: true, tools: ['find'] }),
      definePrompt({ ...prompt, name: 'find', tools: ['look'], output }),
    ],
    models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' })],
    tools: {
      look: defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) }),
    },
    hooks: [
      defineHook({
        hook: 'after_tool_call_success',
        id: 'see',
        execute: async (_state, call, result) => {
          if (call.function.name === 'find') seen.push(result.output);
          return undefined;
        },
      }),
    ],
  });
  const runtime = await testRuntime({ model, registry });
  const threadId = await runtime.start('Which city?');
  const thread = await runtime.client.waitForIdle(threadId);
  const events = await runtime.store.events.read(threadId, 0, 1000);
  const result = (await runtime.messages(threadId)).find(({ role }) => role === 'tool');
  return { model, thread, events, result, seen };
}

describe('a prompt with a type that is called as a tool', () => {
  it("gives its value to hooks, and to programs beside the result's text", async () => {
    const { model, result, seen, thread } = await called([says(BERN), says('Bern.')]);
    expect(seen).toEqual([VALUE]);
    expect(result).toMatchObject({ content: JSON.stringify(VALUE), metadata: { output: VALUE } });
    expect(model.requests.map(({ responseFormat }) => responseFormat !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    // It is no answer of the execution.
    expect(thread).not.toHaveProperty('output');
  });

  it('is asked again by steps within the same call, each with the problems of the one before', async () => {
    const { model, result, events, thread } = await called([
      says('Bern'),
      says('{"city":1}'),
      says(BERN),
      says('Bern.'),
    ]);
    expect(result).toMatchObject({ tool_status: 'success', metadata: { output: VALUE } });
    const [, first, second, third] = model.requests.map(({ messages }) => messages);
    expect(first?.map(({ role }) => role)).not.toContain('assistant');
    expect(second?.at(-1)?.content).toContain('it is not JSON');
    expect(third?.at(-1)?.content).toContain('[city]');
    expect(third).toHaveLength((first?.length ?? 0) + 2);
    expect(eventsOf(events, 'output.rejected').map(({ data }) => data.count)).toEqual([1, 2]);
    expect(thread.status).toBe('idle');
  });

  it('fails its call alone when three answers do not fit', async () => {
    const { result, thread } = await called([says('a'), says('b'), says('c'), says('I do not know.')]);
    expect(result).toMatchObject({ tool_status: 'error', content: expect.stringContaining('OutputInvalid') });
    expect(thread).toMatchObject({ status: 'idle', lastError: null });
  });

  it('counts its rejected answers apart from those of its caller', async () => {
    const model = [says('a'), says('b'), says(BERN), says('c'), says('d'), says(BERN)];
    const { events, thread } = await called(model, { output });
    expect(eventsOf(events, 'output.rejected').map(({ data }) => data.count)).toEqual([1, 2, 1, 2]);
    expect(thread.output).toEqual(VALUE);
  });

  it('has no value if its answer calls tools', async () => {
    const { result, events } = await called([calls('look', {}), says('Seen.')]);
    expect(result?.content).toContain('look() → seen');
    expect(result?.metadata).not.toHaveProperty('output');
    expect(eventsOf(events, 'output.rejected')).toEqual([]);
  });

  it('is refused a type that cannot be described', () => {
    const prompt = { name: 'find', prompt: 'p', model: 'm', toolDescription: 'd' };
    expect(() => definePrompt({ ...prompt, output: z.object({ at: z.date() }) })).toThrow(
      /output.at.*z\.date/s,
    );
  });
});

describe('a task that starts a thread with a type for its answer', () => {
  it('receives the value, after an answer that did not fit', async () => {
    const model = scriptedModel([says('Bern'), says('{"line":"warm"}')]);
    const line = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] };
    const asking = defineTask<{ read: unknown }, string>({
      observe: ({ history }) => ({
        read: history.find(({ decision }) => decision.kind === 'await')?.actionOutcome?.result ?? null,
      }),
      decide: ({ state, history }) => {
        if (history.length === 0) return { kind: 'act', action: 'ask' };
        const begun = history.at(-1)?.actionOutcome?.result as { threadId: string } | undefined;
        if (state.read === null) return { kind: 'await', threadId: begun?.threadId ?? '' };
        return { kind: 'stop', pass: true, reason: 'read', outcome: state.read };
      },
      act: (_, { startThread }) => startThread({ agent: 'writer', content: 'Write.', output: line }),
    });
    const project = {
      agents: [defineAgent({ name: 'writer', sideA: { prompt: 'main' } })],
      prompts: [definePrompt({ name: 'main', toolDescription: 'd', prompt: 'Write.', model: 'scripted' })],
      models: [defineModel({ name: 'scripted', provider: model.provider, model: 'scripted' })],
    };
    const { client } = await taskRuntime({ asking }, { project });
    const { id } = await client.tasks.start({ task: 'asking' });
    for await (const { event } of client.tasks.events(id, { openWithinMs: 60_000 }))
      if (event.type === 'final') break;
    expect(await client.tasks.get(id)).toMatchObject({
      verdict: { outcome: { status: 'idle', output: { line: 'warm' } } },
    });
    model.assertConsumed();
  });
});
