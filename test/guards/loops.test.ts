/** Loop detection on the engine: reminders to the model, ended executions, what is kept, and what does not count. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import {
  calls,
  callsMany,
  type RecordedRequest,
  type Script,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { consulting, echo } from '../support/prompt-project.ts';
import { type RuntimeOptions, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { cast, familyRuntime } from '../support/subagent-project.ts';

const args = z.object({ n: z.number().optional(), m: z.number().optional() });

/** `look` always returns the same, `find` another result for each question; `fail` fails; `keep` stores its number. */
function tools(quick: boolean) {
  const make = (execute: Parameters<typeof defineTool<typeof args>>[0]['execute']) =>
    defineTool({ description: 'a tool', args, quick, execute });
  return {
    look: make(() => ({ status: 'success', result: 'nothing new' })),
    find: make((_state, { n }) => ({ status: 'success', result: `found ${n}` })),
    fail: make((_state, { n }) => ({ status: 'error', error: `failed ${n}` })),
    keep: make(async (state, { n }) => {
      await state.setValue('kept', n);
      return { status: 'success', result: 'kept' };
    }),
    store: make(async (state, { n }) => {
      await state.writeFile('/note', String(n), 'text/plain');
      return { status: 'success', result: 'stored' };
    }),
  };
}

async function guarded(script: Script, options: Partial<RuntimeOptions> & { quick?: boolean } = {}) {
  const { quick = true, ...more } = options;
  const model = scriptedModel(script);
  const guards = { loops: true } as const;
  const runtime = await testRuntime({ model, tools: tools(quick), agent: { guards }, ...more });
  return { model, ...runtime };
}

const times = (count: number, step: (n: number) => ReturnType<typeof calls>) =>
  Array.from({ length: count }, (_, index) => step(index + 1));
const log = ({ store }: TestRuntime, thread: string) => store.events.read(thread, 0, 10_000);
const results = async (runtime: TestRuntime, thread: string) =>
  (await runtime.transcript(thread)).filter((line) => line.startsWith('tool '));
const isReminder = ({ role, content }: RecordedRequest['messages'][number]) =>
  role === 'user' && String(content).startsWith('[loop-warning]');
const reminders = ({ messages }: RecordedRequest) => messages.filter(isReminder);
const over = (detector: string) => ({
  status: 'failed',
  lastError: { code: 'LoopDetected', message: expect.stringContaining(`(${detector})`) },
});

describe('loop detection', () => {
  it.each([
    ['quick', true],
    ['slow', false],
  ])(
    '[AX-70] the same %s call: a reminder after four, and after eight the end of the execution, with all results',
    async (_, quick) => {
      const runtime = await guarded([...times(8, () => calls('look', { n: 1 }))], {
        quick: quick as boolean,
      });
      const thread = await runtime.start('go');
      expect(await runtime.client.getThread(thread)).toMatchObject(over('generic_repeat'));
      expect(await results(runtime, thread)).toEqual(Array(8).fill('tool look success: nothing new'));
      const { requests } = runtime.model;
      expect(requests.map((request) => reminders(request).length)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
      const fifth = requests[4]?.messages ?? [];
      expect(fifth.filter(({ role }) => role === 'tool')).toHaveLength(4);
      expect(fifth.at(-1)).toMatchObject({
        role: 'user',
        content: expect.stringContaining('"look" 4 times'),
      });
      // The reminder comes from the runtime, and is not a message.
      expect((await runtime.transcript(thread)).filter((line) => line.startsWith('user: '))).toEqual([
        'user: go',
      ]);
      const events = await log(runtime, thread);
      expect(eventsOf(events, 'loop.warning').map(({ data }) => data.count)).toEqual([4, 5, 6, 7]);
      expect(eventsOf(events, 'loop.critical').map(({ data }) => data)).toMatchObject([
        { name: 'look', detector: 'generic_repeat', count: 8 },
      ]);
      expect(eventsOf(events, 'execution.ended').at(-1)?.data).toMatchObject({
        status: 'failed',
        error: { code: 'LoopDetected' },
      });
    },
  );

  it('[AX-70] calls after the critical one are closed without running, each with a result', async () => {
    const batch = callsMany(Array.from({ length: 10 }, () => ({ name: 'look' })));
    const runtime = await guarded([batch, says('a new start')]);
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('generic_repeat'));
    const told = await results(runtime, thread);
    expect(told).toHaveLength(10);
    expect(told.filter((line) => line === 'tool look success: nothing new')).toHaveLength(8);
    expect(
      told.slice(8).every((line) => line.startsWith('tool look error: ') && line.includes('LoopDetected')),
    ).toBe(true);
    // The thread can go on, and a provider accepts its history.
    await runtime.say(thread, 'go on');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: a new start');
    expect(reminders(runtime.model.requests[1] as RecordedRequest)).toEqual([]);
  });

  it('[AX-70] a batch with several warnings has one reminder, with the last count', async () => {
    const batch = callsMany(Array.from({ length: 6 }, () => ({ name: 'look' })));
    const runtime = await guarded([batch, says('done'), says('and on')]);
    const thread = await runtime.start('go');
    const [reminder, ...more] = reminders(runtime.model.requests[1] as RecordedRequest);
    expect(String(reminder?.content)).toContain('"look" 6 times');
    expect(more).toEqual([]);
    await runtime.say(thread, 'and now?');
    expect(reminders(runtime.model.requests[2] as RecordedRequest)).toEqual([]);
  });

  it('[AX-71] two alternating calls with new results end at the eighth', async () => {
    const runtime = await guarded(times(8, (n) => calls(n % 2 ? 'find' : 'keep', { n: n % 2 })));
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('ping_pong'));
    expect(await results(runtime, thread)).toHaveLength(8);
  });

  it('[AX-72] eight different calls without new results end it', async () => {
    // The first result of `look` is new, so it is progress.
    const runtime = await guarded(times(9, (n) => calls(n < 5 ? 'look' : 'fail', { n })));
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('no_progress'));
    expect(await results(runtime, thread)).toHaveLength(9);
  });

  it.each(['keep', 'store', 'find'])('[AX-72] progress (%s) among them resets the count', async (what) => {
    const script = times(9, (n) => calls(n === 5 ? what : 'fail', { n }));
    const runtime = await guarded([...script, says('done')]);
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    const warned = eventsOf(await log(runtime, thread), 'loop.warning').map(({ data }) => data.count);
    expect(warned).toEqual([4, 4]);
  });

  it('[AX-72] eight different reads are not a loop', async () => {
    const runtime = await guarded([...times(9, (n) => calls('find', { n })), says('done')]);
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(eventsOf(await log(runtime, thread), 'loop.warning')).toEqual([]);
  });

  it('[AX-73] the key order of arguments does not matter', async () => {
    const runtime = await guarded([
      ...times(4, (n) => calls('find', n % 2 ? { n: 1, m: 2 } : { m: 2, n: 1 })),
      says('done'),
    ]);
    const thread = await runtime.start('go');
    expect(eventsOf(await log(runtime, thread), 'loop.warning').map(({ data }) => data.detector)).toEqual([
      'generic_repeat',
    ]);
  });

  it('[AX-74] has configurable thresholds, and is off by default', async () => {
    const agent = { guards: { loops: { warning: 3, critical: 5 } } };
    const early = await guarded(
      times(5, () => calls('look')),
      { agent },
    );
    const thread = await early.start('go');
    expect(await early.client.getThread(thread)).toMatchObject(over('generic_repeat'));
    const off = await guarded([...times(9, () => calls('look')), says('done')], { agent: {} });
    expect(await off.client.getThread(await off.start('go'))).toMatchObject({
      status: 'idle',
      lastError: null,
    });
  });

  it('[AX-74] the setting of a prompt overrides its agent’s', async () => {
    const runtime = await guarded([...times(9, () => calls('look')), says('done')], {
      prompt: { guards: { loops: false } },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  });

  it('[AX-76] resets for each execution', async () => {
    const turn = [...times(5, () => calls('look')), says('done')];
    const runtime = await guarded([...turn, ...turn]);
    const thread = await runtime.start('go');
    await runtime.say(thread, 'again');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(runtime.model.requests.map((request) => reminders(request).length)).toEqual([
      0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1,
    ]);
  });

  it('[AX-77] refused calls do not count; calls with invalid arguments do', async () => {
    const refused = await guarded([...times(9, () => calls('nobody')), says('done')]);
    const thread = await refused.start('go');
    expect(await refused.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    const wrong = await guarded(times(8, () => calls('find', { n: 'one' })));
    expect(await wrong.client.getThread(await wrong.start('go'))).toMatchObject(over('generic_repeat'));
  });
});

describe('loop detection in calls of prompts and subagents', () => {
  const guards = { loops: { warning: 3, critical: 4 } } as const;

  it('[AX-70] a prompt called repeatedly ends the execution; calls of its model count separately', async () => {
    const inner = says('the same');
    const model = scriptedModel(
      Array.from({ length: 4 }, () => [calls('consult', { topic: 'x' }), inner]).flat(),
    );
    const runtime = await consulting(model, { guards });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('generic_repeat'));
    const asked = model.requests.filter(({ messages }) => messages[0]?.content === 'You are consult.');
    expect(asked.flatMap(reminders)).toEqual([]);
  });

  it('[AX-70] the calls of a sub-prompt are a separate loop, and end the execution of the thread', async () => {
    const batch = callsMany(Array.from({ length: 6 }, () => ({ name: 'echo', args: { text: 'same' } })));
    const model = scriptedModel([calls('consult', { topic: 'x' }), batch]);
    const runtime = await consulting(model, { guards, tools: { echo } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('generic_repeat'));
    const told = eventsOf(await log(runtime, thread), 'loop.critical');
    expect(told.map(({ data }) => data.name)).toEqual(['echo']);
  });

  it('[AX-70] a subagent called repeatedly ends the execution of its parent', async () => {
    const actors = cast({
      main: times(4, () => calls('scout', {})),
      scout_a: times(4, () => calls('finish', { text: 'done' })),
    });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'], guards });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(over('generic_repeat'));
  });
});
