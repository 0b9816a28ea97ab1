/** runtime §5.1, an extension: calls that say so run side by side, and leave what calls one after another would leave. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type Script, says, scriptedModel } from '../../src/testing/index.ts';
import { consulting, deep } from '../support/prompt-project.ts';
import { eventually, type RuntimeOptions, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';
import { type Probes, probes, probing } from '../support/side-by-side.ts';

/** Where the calls run. */
const PLACES: [string, { quick?: boolean; activity?: 'own' }][] = [
  ['activities of their own', { activity: 'own' }],
  ['the activity of their step', { quick: true }],
];

const ABC = ['a', 'b', 'c'] as const;

async function begin({ client }: TestRuntime): Promise<string> {
  return (await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] })).threadId;
}

const log = ({ store }: TestRuntime, thread: string) => store.events.read(thread, 0, 10_000);

async function resultsOf(runtime: TestRuntime, thread: string): Promise<string[]> {
  return (await runtime.transcript(thread)).filter((line) => line.startsWith('tool '));
}

/** Resolves once this many calls have finished while calls before them are open. */
function haveFinished({ store }: TestRuntime, thread: string, count: number): Promise<unknown> {
  return eventually(`${count} calls have finished`, async () => {
    const logs = await store.events.getLogs(thread, { limit: 1000 });
    return logs.filter(({ data }) => (data as { state?: string }).state === 'finished').length === count;
  });
}

interface Started {
  readonly runtime: TestRuntime;
  readonly thread: string;
}

async function startWith(
  probed: Probes,
  script: Script,
  options: Partial<RuntimeOptions> = {},
): Promise<Started> {
  const { tools, ...more } = options;
  const model = scriptedModel(script);
  const runtime = await testRuntime({ model, tools: { probe: probed.probe, ...tools }, ...more });
  return { runtime, thread: await begin(runtime) };
}

describe.each(PLACES)('runtime §5.1 side by side, in %s', (_where, place) => {
  it('[runtime 5.1a] runs neighbouring calls at once, and stores their results in the returned order', async () => {
    const probed = probes(place);
    const model = scriptedModel([probing(...ABC), says('done')]);
    const runtime = await testRuntime({ model, tools: { probe: probed.probe } });
    const thread = await begin(runtime);
    await probed.haveBegun(...ABC);
    probed.letGo('c');
    await haveFinished(runtime, thread, 1);
    probed.letGo('b');
    await haveFinished(runtime, thread, 2);
    expect(await resultsOf(runtime, thread)).toEqual([]);
    probed.letGo('a');
    await runtime.client.waitForIdle(thread);
    expect(probed.ended).toEqual(['c', 'b', 'a']);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> probe, probe, probe',
      'tool probe success: read a',
      'tool probe success: read b',
      'tool probe success: read c',
      'assistant: done',
    ]);
    const events = await log(runtime, thread);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const results = eventsOf(events, 'tool.result');
    expect(results).toHaveLength(3);
    // When it ended, of those that had waited for the first.
    const endedAt = results.map(({ data }) => data.endedAt);
    expect(endedAt).toEqual([undefined, expect.any(Number), expect.any(Number)]);
    expect(Number(endedAt[1])).toBeLessThan(results[0]?.at ?? 0);
    expect(Number(endedAt[2])).toBeLessThan(Number(endedAt[1]));
    const stamps = (await runtime.messages(thread)).map(({ created_at: at }) => at);
    expect(stamps).toEqual([...stamps].sort((one, other) => one - other));
    const own = (await activitiesOf(runtime.client, thread)).filter((name) => name === 'runTool');
    expect(own).toHaveLength(place.quick ? 0 : 3);
  });

  it('[runtime 5.1a] sends the next request as if the calls had run one after another', async () => {
    const together = probes(place);
    together.letGo('a', 'b');
    const script = () => [probing(...ABC), says('done')];
    const model = scriptedModel(script());
    const runtime = await testRuntime({ model, tools: { probe: together.probe } });
    const thread = await begin(runtime);
    await together.haveBegun('c');
    together.letGo('c');
    await runtime.client.waitForIdle(thread);

    const { parallel: _, ...alone } = together.probe as typeof together.probe & { parallel?: true };
    const other = scriptedModel(script());
    const sequential = await testRuntime({ model: other, tools: { probe: alone as typeof together.probe } });
    await sequential.start('go');
    const sent = ({ requests }: typeof model) => requests.map(({ messages }) => JSON.stringify(messages));
    expect(sent(model)).toEqual(sent(other));
  });

  it('[runtime 5.1a] has at most 8 under way at once, whatever their number', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const probed = probes(place);
    const { runtime, thread } = await startWith(probed, [probing(...ids), says('done')]);
    await probed.haveBegun(...ids.slice(0, 8));
    // A full exchange with the workflow: a ninth call would have begun by then.
    await runtime.client.queueMessage(thread, { content: 'meanwhile' });
    await eventually('the message is in line', async () =>
      (await runtime.transcript(thread)).includes('user: meanwhile'),
    );
    expect(probed.begun).toHaveLength(8);
    probed.letGo('n5');
    await probed.haveBegun('n8');
    probed.letGo(...ids);
    await runtime.client.waitForIdle(thread);
    expect(probed.most()).toBe(8);
    expect(await resultsOf(runtime, thread)).toEqual(ids.map((id) => `tool probe success: read ${id}`));
  }, 60_000);

  it('[runtime 5.1a] stores the error of one call and the results of the others', async () => {
    const probed = probes(place);
    const { runtime, thread } = await startWith(probed, [probing(...ABC), says('done')]);
    await probed.haveBegun(...ABC);
    probed.letFail('b');
    probed.letGo('a', 'c');
    await runtime.client.waitForIdle(thread);
    expect(await resultsOf(runtime, thread)).toEqual([
      'tool probe success: read a',
      'tool probe error: Failed to execute tool: b is broken',
      'tool probe success: read c',
    ]);
  });

  it('[runtime 5.1a] refuses a call that the policy denies, and runs those beside it', async () => {
    const probed = probes(place);
    const secret = defineTool({
      description: 'reads a secret',
      parallel: true,
      ...(place.quick ? { quick: true } : { idempotent: true, activity: 'own' }),
      capabilities: ['secrets.read'],
      execute: () => ({ status: 'success', result: 'the secret' }),
    });
    const probe = (id: string) => ({ name: 'probe', args: { id } });
    const { runtime, thread } = await startWith(
      probed,
      [callsMany([probe('a'), { name: 'secret' }, probe('c')]), says('done')],
      { tools: { secret }, agent: { policy: { 'secrets.*': 'deny' } } },
    );
    await probed.haveBegun('a', 'c');
    probed.letGo('c', 'a');
    await runtime.client.waitForIdle(thread);
    const [first, denied, last] = await resultsOf(runtime, thread);
    expect([first, last]).toEqual(['tool probe success: read a', 'tool probe success: read c']);
    expect(denied).toMatch(/^tool secret error: .*secrets\.read/);
  });

  it('[runtime 5.1a] a call that waits for a person holds up what comes behind it, not those beside it', async () => {
    const probed = probes(place);
    const after: string[] = [];
    const guarded = defineTool({
      description: 'reads what needs an approval',
      parallel: true,
      ...(place.quick ? { quick: true } : { idempotent: true, activity: 'own' }),
      capabilities: ['secrets.read'],
      execute: () => ({ status: 'success', result: 'allowed' }),
    });
    const next = defineTool({
      description: 'comes behind',
      execute: () => {
        after.push('next');
        return { status: 'success', result: 'next' };
      },
    });
    const probe = (id: string) => ({ name: 'probe', args: { id } });
    const { runtime, thread } = await startWith(
      probed,
      [callsMany([probe('a'), { name: 'guarded' }, probe('c'), { name: 'next' }]), says('done')],
      { tools: { guarded, next }, agent: { policy: { 'secrets.*': 'require_approval' } } },
    );
    const wait = await eventually(
      'a wait',
      async () => (await runtime.client.listWaits({ threadId: thread }))[0],
    );
    await probed.haveBegun('a', 'c');
    probed.letGo('c', 'a');
    await haveFinished(runtime, thread, 1);
    await eventually('the first result', async () => (await resultsOf(runtime, thread)).length === 1);
    expect((await runtime.client.waitForIdle(thread)).status).toBe('waiting');
    expect(probed.ended).toEqual(['c', 'a']);
    expect(after).toEqual([]);
    await runtime.client.answerWait(wait.id, { approved: true });
    await runtime.client.waitForIdle(thread);
    expect(await resultsOf(runtime, thread)).toEqual([
      'tool probe success: read a',
      'tool guarded success: allowed',
      'tool probe success: read c',
      'tool next success: next',
    ]);
    expect((await runtime.client.getThread(thread)).status).toBe('idle');
  });

  it('[runtime 5.1a] the budget ends the execution after the calls that it has paid for', async () => {
    const probed = probes(place);
    const { runtime, thread } = await startWith(probed, [probing(...ABC)], {
      agent: { budget: { maxToolCalls: 2 } },
    });
    await eventually('two calls have begun', async () => probed.begun.length === 2);
    const ran = [...probed.begun];
    probed.letGo(...ABC);
    const record = await runtime.client.waitForIdle(thread);
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'BudgetExceeded' } });
    expect(probed.begun).toEqual(ran);
    expect(await resultsOf(runtime, thread)).toEqual(
      ABC.map((id) =>
        ran.includes(id)
          ? `tool probe success: read ${id}`
          : expect.stringMatching(/^tool probe error: .*BudgetExceeded/),
      ),
    );
  });

  it.each(['stop', 'cancel'] as const)(
    '[runtime 5.1a] a %s reaches all that are under way; what has finished keeps its result',
    async (request) => {
      const probed = probes(place);
      const { runtime, thread } = await startWith(probed, [probing(...ABC)]);
      await probed.haveBegun(...ABC);
      probed.letGo('b');
      await haveFinished(runtime, thread, 1);
      if (request === 'stop') await runtime.client.stop(thread);
      else await runtime.client.cancelExecution(thread);
      const { status } = await runtime.client.waitForIdle(thread);
      expect(status).toBe('stopped');
      await eventually('both bodies are told', async () => probed.aborted.length === 2);
      expect([...probed.aborted].sort()).toEqual(['a', 'c']);
      expect(await resultsOf(runtime, thread)).toEqual([
        'tool probe error: Failed to execute tool: stopped',
        'tool probe success: read b',
        'tool probe error: Failed to execute tool: stopped',
      ]);
    },
  );

  it('[runtime 5.1a] only neighbours run at once: a call without the mark separates them', async () => {
    const probed = probes(place);
    const trace: (readonly string[])[] = [];
    const divider = defineTool({
      description: 'divides',
      ...place,
      execute: () => {
        trace.push([...probed.begun].sort());
        return { status: 'success', result: 'divided' };
      },
    });
    const probe = (id: string) => ({ name: 'probe', args: { id } });
    const { runtime, thread } = await startWith(
      probed,
      [callsMany([probe('a'), probe('b'), { name: 'divider' }, probe('c'), probe('d')]), says('done')],
      { tools: { divider } },
    );
    await probed.haveBegun('a', 'b');
    probed.letGo('b', 'a');
    await probed.haveBegun('c', 'd');
    probed.letGo('d', 'c');
    await runtime.client.waitForIdle(thread);
    expect(trace).toEqual([['a', 'b']]);
    expect(await resultsOf(runtime, thread)).toEqual([
      'tool probe success: read a',
      'tool probe success: read b',
      'tool divider success: divided',
      'tool probe success: read c',
      'tool probe success: read d',
    ]);
  });

  it('[runtime 5.1a] hooks see each stored result once, in the returned order', async () => {
    const probed = probes(place);
    const seen: string[] = [];
    const hook = defineHook({
      hook: 'after_create_message',
      id: 'see',
      execute: (_state, message) => {
        if (message.role === 'tool') seen.push(String(message.content));
      },
    });
    const { runtime, thread } = await startWith(probed, [probing(...ABC), says('done')], {
      hooks: [hook],
      agent: { hooks: ['see'] },
    });
    await probed.haveBegun(...ABC);
    probed.letGo('b', 'c');
    await haveFinished(runtime, thread, 2);
    expect(seen).toEqual([]);
    probed.letGo('a');
    await runtime.client.waitForIdle(thread);
    expect(seen).toEqual(['read a', 'read b', 'read c']);
  });

  it('[runtime 5.1a] a loop of calls ends the execution as it would one after another', async () => {
    const look = defineTool({
      description: 'looks',
      parallel: true,
      ...(place.quick ? { quick: true } : { idempotent: true, activity: 'own' }),
      execute: () => ({ status: 'success', result: 'nothing new' }),
    });
    const many = Array.from({ length: 8 }, () => ({ name: 'look' }));
    const model = scriptedModel([callsMany(many)]);
    const runtime = await testRuntime({ model, tools: { look }, agent: { guards: { loops: true } } });
    const thread = await begin(runtime);
    const record = await runtime.client.waitForIdle(thread);
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'LoopDetected' } });
    expect(await resultsOf(runtime, thread)).toEqual(many.map(() => 'tool look success: nothing new'));
    const verdicts = (await log(runtime, thread)).filter(({ type }) => type.startsWith('loop.'));
    expect(verdicts.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 4 }, () => 'loop.warning'),
      'loop.critical',
    ]);
  });
});

describe('runtime §5.1 side by side', () => {
  it('[runtime 5.1a] calls of a sub-prompt run at once, too', async () => {
    const probed = probes({ activity: 'own' });
    const model = scriptedModel([calls('consult', { topic: 'x' }), probing(...ABC), says('done')]);
    const runtime = await consulting(model, {
      tools: { probe: probed.probe },
      consult: { tools: ['probe'] },
    });
    const thread = await begin(runtime);
    await probed.haveBegun(...ABC);
    probed.letGo('c', 'b');
    await haveFinished(runtime, thread, 2);
    probed.letGo('a');
    await runtime.client.waitForIdle(thread);
    const inner = (await deep(runtime, thread)).filter(({ role, depth }) => role === 'tool' && depth > 0);
    expect(inner.map(({ content }) => content)).toEqual(['read a', 'read b', 'read c']);
  });

  it('[runtime 5.1a] the thread continues as new while one of the calls waits, and takes all of them over', async () => {
    const probed = probes({ activity: 'own' });
    const guarded = defineTool({
      description: 'reads what needs an approval',
      parallel: true,
      idempotent: true,
      capabilities: ['secrets.read'],
      execute: () => ({ status: 'success', result: 'allowed' }),
    });
    probed.letGo('c');
    const { runtime, thread } = await startWith(
      probed,
      [callsMany([{ name: 'guarded' }, { name: 'probe', args: { id: 'c' } }]), says('done')],
      {
        tools: { guarded },
        agent: { policy: { 'secrets.*': 'require_approval' } },
        configuration: { historySoftLimit: 30 },
      },
    );
    const wait = await eventually(
      'a wait',
      async () => (await runtime.client.listWaits({ threadId: thread }))[0],
    );
    await haveFinished(runtime, thread, 1);
    for (let n = 0; n < 20; n++) await runtime.client.queueMessage(thread, { content: `${n}` });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    const first = (await handle.describe()).raw.workflowExecutionInfo?.firstRunId;
    await eventually('another run', async () => (await handle.describe()).runId !== first);
    await runtime.client.answerWait(wait.id, { approved: true });
    await runtime.client.waitForIdle(thread);
    expect(await resultsOf(runtime, thread)).toEqual([
      'tool guarded success: allowed',
      'tool probe success: read c',
    ]);
    expect(probed.begun).toEqual(['c']);
  });

  it.each([
    ['writeFile', (state) => state.writeFile('/a', 'x', 'text/plain')],
    ['setValue', (state) => state.setValue('a', 1)],
    ['queueMessage', (state) => state.queueMessage({ content: 'x' })],
    ['injectMessage', (state) => state.injectMessage({ role: 'user', content: 'x' })],
    ['queueTool', async (state) => state.queueTool('probe', { id: 'x' })],
    ['terminate', (state) => state.terminate()],
    ['execution.stop', async (state) => state.execution?.stop()],
  ] as [string, (state: Parameters<Parameters<typeof defineTool>[0]['execute']>[0]) => Promise<unknown>][])(
    '[runtime 5.1a] refuses %s in a tool that says parallel',
    async (name, write) => {
      const writes = defineTool({
        description: 'writes',
        parallel: true,
        quick: true,
        execute: async (state) => ({ status: 'success', result: JSON.stringify(await write(state)) }),
      });
      const model = scriptedModel([callsMany([{ name: 'writes' }]), says('done')]);
      const runtime = await testRuntime({ model, tools: { writes } });
      const thread = await runtime.start('go');
      const [result] = await resultsOf(runtime, thread);
      expect(result).toContain(`${name}: the tool "writes" says parallel: true, so it may only read.`);
      expect(await runtime.transcript(thread)).toHaveLength(4);
    },
  );

  it('[runtime 5.1a] reads a context that it cannot change', async () => {
    const reads = defineTool({
      description: 'reads',
      parallel: true,
      quick: true,
      args: z.object({ change: z.boolean() }),
      execute: (state, { change }) => {
        const { list } = state.context as { list: string[] };
        list.push('more');
        if (change) state.context.other = 1;
        return { status: 'success', result: list.join() };
      },
    });
    const sets = defineTool({
      description: 'sets',
      execute: (state) => {
        state.context.list = ['one'];
        return { status: 'success', result: 'set' };
      },
    });
    const read = (change: boolean) => ({ name: 'reads', args: { change } });
    const model = scriptedModel([
      callsMany([{ name: 'sets' }, read(false), read(true), read(false)]),
      says('done'),
    ]);
    const runtime = await testRuntime({ model, tools: { reads, sets } });
    const thread = await runtime.start('go');
    expect((await resultsOf(runtime, thread)).slice(1)).toEqual([
      'tool reads success: one,more',
      expect.stringMatching(/^tool reads error: .*object is not extensible/),
      'tool reads success: one,more',
    ]);
  });
});
