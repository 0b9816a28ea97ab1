/** Immediate subagents: they start without a call of the model (runtime §7.3). */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { LIMITS } from '../../src/core/value/limit.ts';
import { calls, says } from '../../src/testing/index.ts';
import {
  askedBy,
  type ChildProject,
  childProject,
  handsIn,
  hasResult,
  lastTold,
  modelOf,
} from '../support/child-project.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const NO_CHILDREN = { scribe: {}, clerk: {} };

async function run(project: ChildProject): Promise<TestRuntime> {
  return testRuntime({ registry: childProject(project) });
}

/** Returns which of these types of events a thread's log holds, in order. */
async function told({ store }: TestRuntime, thread: string, ...types: string[]): Promise<string[]> {
  const events = await store.events.read(thread, 0, 10_000);
  return events.filter(({ type }) => types.includes(type)).map(({ type }) => type);
}

describe('an immediate subagent', () => {
  it('[runtime 7.3] runs once before the first model step, whatever the history contains', async () => {
    const model = modelOf({ main: () => says('done'), scribe_desk: () => handsIn('the brief') });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', immediate: true }],
      children: { scribe: {} },
    });
    const thread = await runtime.start('hello');
    await runtime.say(thread, 'again');
    const lines = await runtime.transcript(thread);
    expect(lines.filter((line) => line.includes('scribe'))).toEqual([
      'assistant:  -> scribe',
      'tool scribe success: the brief',
    ]);
    expect(lines.filter((line) => line === 'assistant: done')).toHaveLength(2);
    // The first request of the thread's own model holds the result, and the message that began the execution.
    const first = model.requests.find((request) => askedBy(request) === 'main');
    expect(JSON.stringify(first?.messages)).toContain('the brief');
    expect(first?.messages.some(({ role, content }) => role === 'user' && content === 'hello')).toBe(true);
    expect((await told(runtime, thread, 'subagent.created', 'model.called')).slice(0, 2)).toEqual([
      'subagent.created',
      'model.called',
    ]);
    expect(await runtime.store.children.list(thread)).toHaveLength(1);
  });

  it('[runtime 7.3] that is optional does not run while it is off, and an error of one does not stop the thread', async () => {
    const model = modelOf({ scribe_desk: () => handsIn('written') });
    const runtime = await run({
      model,
      entries: [
        { name: 'scribe', immediate: true, optional: 'SCRIBES' },
        { name: 'clerk', immediate: true },
      ],
      children: { scribe: {}, clerk: { desk: { requiredSchema: z.object({ topic: z.string() }) } } },
    });
    const thread = await runtime.start('hello');
    const lines = await runtime.transcript(thread);
    expect(lines.filter((line) => line.startsWith('tool'))).toEqual([
      expect.stringMatching(/^tool clerk error: .*subagent_arguments_required/),
    ]);
    expect(lines.at(-1)).toBe('assistant: done');
  });

  it('[runtime 7.3] that is resumable is created as by a lifecycle tool, and stays addressable', async () => {
    const model = modelOf({ scribe_desk: () => says('I am ready') });
    const runtime = await run({
      model,
      entries: [
        { name: 'scribe', immediate: true, blocking: false, resumable: { receives_messages: 'side_a' } },
      ],
      children: { scribe: { agent: { title: 'The Scribe', maxSessionTurns: 1 } } },
    });
    const thread = await runtime.start('hello');
    const [child] = await runtime.store.children.list(thread);
    expect(child).toMatchObject({ agent: 'scribe', name: 'The Scribe', resumable: true });
    const [call] = (await runtime.messages(thread)).filter(({ tool_calls: made }) => made !== null);
    expect(JSON.parse(call?.tool_calls ?? '')[0].function.name).toBe('subagent_create');
    expect(call?.metadata).toMatchObject({ immediate: true });
    expect((await runtime.transcript(thread)).join('\n')).toContain(`Reference: ${child?.threadId}`);
  });

  it('[runtime 7.3] creates its own before its first step, recursively, on either side', async () => {
    const model = modelOf({
      scribe_desk: (request) => handsIn(`with ${lastTold(request)}`),
      clerk_desk: () => handsIn('filed'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', immediate: true }],
      children: {
        scribe: { desk: { tools: [{ name: 'clerk', immediate: true }] } },
        clerk: { agent: { sideB: { prompt: 'critic' } }, desk: { tools: [] } },
      },
    });
    const thread = await runtime.start('hello');
    const family = await runtime.store.family.read(thread);
    expect(family.map(({ thread: { agent }, depth }) => `${depth} ${agent}`)).toEqual([
      '0 helper',
      '1 scribe',
      '2 clerk',
    ]);
    // Innermost first: a thread's model is asked only after those of its immediate subagents.
    expect(model.requests.map(askedBy)).toEqual(['clerk_desk', 'scribe_desk', 'main']);
    const desk = model.requests.find((request) => askedBy(request) === 'scribe_desk');
    expect(JSON.stringify(desk?.messages)).toContain('filed');
  });

  it('[runtime 7.3] of side B runs before the first step of side B', async () => {
    const model = modelOf({
      scribe_desk: () => says('a draft'),
      second: () => says('fine'),
      clerk_desk: () => handsIn('checked'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', immediate: true }],
      children: {
        scribe: { agent: { sideB: { prompt: 'second' }, maxSessionTurns: 2 } },
        clerk: {},
      },
      prompts: {
        second: { includeChat: true, includePastTools: true, tools: [{ name: 'clerk', immediate: true }] },
      },
    });
    await runtime.start('hello');
    expect(model.requests.map(askedBy)).toEqual(['scribe_desk', 'clerk_desk', 'second', 'main']);
  });

  it('[runtime 7.3] runs again for each agent that gets the thread by handoff, also for one that gets it back', async () => {
    const model = modelOf({
      main: (request) => (lastTold(request) === 'go' ? calls('other') : says('back')),
      other_desk: (request) =>
        lastTold(request) === 'return' && !hasResult(request) ? calls('helper') : says('mine'),
      scribe_desk: () => handsIn('written'),
      clerk_desk: () => handsIn('filed'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', immediate: true }, 'other'],
      children: NO_CHILDREN,
      agents: { other: {} },
      prompts: {
        other_desk: {
          includeChat: true,
          includePastTools: true,
          tools: [{ name: 'clerk', immediate: true }, { name: 'scribe', immediate: true }, 'helper'],
        },
      },
    });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'return');
    await runtime.say(thread, 'once more');
    const results = (await runtime.transcript(thread)).filter((line) => /^tool (scribe|clerk)/.test(line));
    expect(results).toEqual([
      'tool scribe success: written',
      'tool clerk success: filed',
      'tool scribe success: written',
      'tool scribe success: written',
    ]);
  });

  it('[runtime 7.3] turned on after the first model step does not run', async () => {
    const on = toolOf((state) => state.setEnv('SCRIBES', 'yes', { type: 'text' }));
    const model = modelOf({
      main: (request) => (hasResult(request) || lastTold(request) !== 'on' ? says('done') : calls('on')),
      scribe_desk: () => handsIn('written'),
    });
    const runtime = await run({
      model,
      entries: [{ name: 'scribe', immediate: true, optional: 'SCRIBES' }, 'on'],
      tools: { on },
      children: { scribe: {} },
    });
    const thread = await runtime.start('hello');
    await runtime.say(thread, 'on');
    await runtime.say(thread, 'again');
    const main = model.requests.filter((request) => askedBy(request) === 'main');
    expect(main.at(-1)?.tools?.map(({ function: tool }) => tool.name)).toContain('scribe');
    expect(await runtime.store.children.list(thread)).toEqual([]);
  });

  it('[runtime 7.3] of a sub-prompt runs before its model step, at each call, and its model reads the result', async () => {
    const model = modelOf({
      main: (request) => (hasResult(request) ? says('done') : calls('consult')),
      consult: () => says('advice'),
      scribe_desk: () => handsIn('the brief'),
    });
    const runtime = await run({
      model,
      entries: ['consult', { name: 'scribe', optional: 'NEVER' }],
      prompts: { consult: { tools: [{ name: 'scribe', immediate: true }] } },
      children: { scribe: {} },
    });
    const thread = await runtime.start('hello');
    await runtime.say(thread, 'again');
    const order = ['main', 'scribe_desk', 'consult', 'main'];
    expect(model.requests.map(askedBy)).toEqual([...order, ...order]);
    const asked = model.requests.find((request) => askedBy(request) === 'consult');
    expect(asked?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('the brief'),
    });
    const results = (await runtime.transcript(thread)).filter((line) => line.startsWith('tool'));
    expect(results).toEqual(Array(2).fill('tool consult success: advice'));
    expect(await runtime.store.children.list(thread)).toHaveLength(2);
  });

  it('[runtime 7.3] that creates itself ends at the maximum family depth, with an error', async () => {
    const model = modelOf({ scribe_desk: () => handsIn('deep') });
    const entry = { name: 'scribe', immediate: true };
    const runtime = await run({
      model,
      entries: [entry],
      children: { scribe: { desk: { tools: [entry] } } },
    });
    const thread = await runtime.start('hello');
    const family = await runtime.store.family.read(thread);
    expect(family).toHaveLength(LIMITS.threadDepth + 1);
    const deepest = family.at(-1)?.thread.id ?? '';
    const refused = (await runtime.transcript(deepest)).filter((line) => line.startsWith('tool scribe'));
    expect(refused).toEqual([expect.stringMatching(/^tool scribe error: .*16 threads below its root/)]);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
  });
});
