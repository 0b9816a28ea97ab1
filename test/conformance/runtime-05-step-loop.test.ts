/** runtime §5: the activity of a step continues with the steps that follow; all guarantees about steps still hold. */
import { describe, expect, it } from '@jest/globals';
import type { Registry } from '../../src/core/author/registry.ts';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { ended } from '../support/effects.ts';
import { holding } from '../support/holding.ts';
import { eventually, helperRegistry, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { activitiesOf, inputsOf, scheduledOf } from '../support/scheduled.ts';
import { heard, twoSides } from '../support/two-sides.ts';

type Execute = Parameters<typeof defineTool>[0]['execute'];
const quickly = (execute: Execute) => defineTool({ description: 'is quick', quick: true, execute });
const note = quickly(() => ({ status: 'success', result: 'noted' }));
/** A tool that is not quick by its definition. */
const paying = (options: { readonly activity?: 'own'; readonly idempotent?: boolean } = {}) =>
  defineTool({ description: 'pays', ...options, execute: () => ({ status: 'success', result: 'paid' }) });
const many = (name: string, times: number) => callsMany(Array.from({ length: times }, () => ({ name })));
const repeat = (name: string, times: number) => Array.from({ length: times }, () => calls(name));

const scheduled = (runtime: TestRuntime, threadId: string) => activitiesOf(runtime.client, threadId);
const begin = async ({ client }: TestRuntime) =>
  (await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] })).threadId;

describe('runtime §5 Tool Execution, the activity of a step', () => {
  it('[runtime 3] makes all steps of a turn whose calls are quick, and stores its end', async () => {
    const model = scriptedModel([
      ...[calls('note'), calls('note'), many('note', 2), calls('note'), says('done'), says('again')],
    ]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    expect(await scheduledOf(runtime.client, thread)).toEqual([
      { name: 'openThread', summary: 'open · helper' },
      { name: 'modelStep', summary: expect.stringMatching(/^from step 1 · /) },
      { name: 'modelStep', summary: expect.stringMatching(/^from step 6 · /) },
    ]);
    expect(await runtime.transcript(thread)).toEqual([
      ...['user: go', 'assistant:  -> note', 'tool note success: noted'],
      ...['assistant:  -> note', 'tool note success: noted', 'assistant:  -> note, note'],
      ...['tool note success: noted', 'tool note success: noted', 'assistant:  -> note'],
      ...['tool note success: noted', 'assistant: done', 'user: more', 'assistant: again'],
    ]);
    expect(await runtime.client.getThread(thread)).toMatchObject({
      ...{ status: 'idle', stopReason: 'stop_on_response', lastError: null },
    });
  });

  it('keeps the ordinals of its steps free', async () => {
    const model = scriptedModel([calls('note'), says('done'), says('again')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    expect(await inputsOf(runtime.client, thread, 'modelStep')).toMatchObject([
      { ordinal: 0, loop: { steps: 20, restOrdinal: 20 } },
      { ordinal: 22, loop: { steps: 20, restOrdinal: 42 } },
    ]);
  });

  it.each([{}, { idempotent: true }])(
    'runs the calls of a tool %p itself once the tool has proved to be short',
    async (options) => {
      const model = scriptedModel([calls('pay'), calls('pay'), many('pay', 2), says('done')]);
      const runtime = await testRuntime({ model, tools: { pay: paying(options) } });
      const thread = await runtime.start('go');
      expect(await scheduledOf(runtime.client, thread)).toEqual([
        { name: 'openThread', summary: 'open · helper' },
        { name: 'modelStep', summary: expect.stringMatching(/^from step 1 · /) },
        { name: 'runTool', summary: 'pay · step 1' },
        { name: 'modelStep', summary: expect.stringMatching(/^from step 2 · /) },
      ]);
      expect((await runtime.transcript(thread)).filter((line) => line.startsWith('tool'))).toHaveLength(4);
    },
  );

  it('leaves a tool that takes long to an activity of its own, after the call that took long', async () => {
    let call = 0;
    const pay = defineTool({
      description: 'takes long the second time',
      execute: async () => {
        if (++call === 2) await new Promise((resolve) => setTimeout(resolve, 600));
        return { status: 'success', result: 'paid' };
      },
    });
    const runtime = await testRuntime({
      model: scriptedModel([...repeat('pay', 3), says('done')]),
      tools: { pay },
    });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'runTool', 'modelStep', 'modelStep', 'runTool', 'modelStep'],
    ]);
  });

  it("never runs the calls of a tool with activity: 'own'", async () => {
    const model = scriptedModel([...repeat('pay', 2), says('done')]);
    const runtime = await testRuntime({ model, tools: { pay: paying({ activity: 'own' }) } });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'runTool', 'modelStep', 'runTool', 'modelStep'],
    ]);
  });

  it('makes one step and runs no call if the worker allows one step per activity', async () => {
    const model = scriptedModel([...repeat('note', 2), says('done')]);
    const configuration = { stepsPerActivity: 1 };
    const runtime = await testRuntime({ model, tools: { note }, configuration });
    const thread = await runtime.start('go');
    expect(await scheduledOf(runtime.client, thread)).toMatchObject([
      ...[{ name: 'openThread' }, { name: 'modelStep', summary: expect.stringMatching(/^step 1 · /) }],
      ...[{ name: 'runTool' }, { name: 'modelStep' }, { name: 'runTool' }, { name: 'modelStep' }],
      { name: 'commitStatus', summary: 'idle · stop_on_response' },
    ]);
  });

  it('ends after as many steps as the worker allows', async () => {
    const model = scriptedModel([...repeat('note', 5), says('done')]);
    const configuration = { stepsPerActivity: 3 };
    const runtime = await testRuntime({ model, tools: { note }, configuration });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep', 'modelStep']);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastStep: 6 });
  });

  it('ends when its time is over', async () => {
    const { tool, begun } = holding({ quick: true });
    const model = scriptedModel([...repeat('hold', 2), says('done')]);
    const configuration = { secondsPerActivity: 1 };
    const runtime = await testRuntime({ model, tools: { hold: tool }, configuration });
    const thread = await begin(runtime);
    const since = Date.now();
    const letGo = await begun(0);
    await eventually('its time is over', () => Date.now() - since > 1500);
    letGo();
    (await begun(1))();
    await runtime.client.waitForIdle(thread);
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep', 'modelStep']);
  });

  it('ends with each step while most slots of the worker are taken', async () => {
    const model = scriptedModel([...repeat('note', 2), says('done')]);
    const configuration = { maxConcurrentActivities: 1 };
    const runtime = await testRuntime({ model, tools: { note }, configuration });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'modelStep', 'modelStep', 'commitStatus'],
    ]);
  });

  it('uses the project as it is when each of its steps begins', async () => {
    const first = scriptedModel([calls('swap')]);
    const second = scriptedModel([says('from the newer project')]);
    let newer = false;
    const swap = quickly(() => {
      newer = true;
      return { status: 'success' };
    });
    const [before, after] = [first, second].map((model) => helperRegistry({ model, tools: { swap } }));
    const registry = () => (newer ? after : before) as Registry;
    const runtime = await testRuntime({ registry });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: from the newer project');
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep']);
  });

  it('leaves a call behind one that is not short to an activity of its own', async () => {
    const model = scriptedModel([
      callsMany([{ name: 'note' }, { name: 'pay' }, { name: 'note' }]),
      says('done'),
    ]);
    const runtime = await testRuntime({ model, tools: { note, pay: paying() } });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'runTool', 'runTool', 'modelStep'],
    ]);
    expect((await runtime.transcript(thread)).slice(1)).toEqual([
      ...['assistant:  -> note, pay, note', 'tool note success: noted', 'tool pay success: paid'],
      ...['tool note success: noted', 'assistant: done'],
    ]);
  });

  it.each([{ quick: true }, { quick: false }])(
    '[runtime 3.2] has a message sent before its calls end in the next request, however late, with %p',
    async (options) => {
      const rounds = 12;
      const { tool, begun } = holding(options);
      const model = scriptedModel([...repeat('hold', rounds), says('done')]);
      const runtime = await testRuntime({ model, tools: { hold: tool } });
      const thread = await begin(runtime);
      for (let round = 0; round < rounds; round++) {
        const letGo = await begun(round);
        // Every third round sends nothing, so the activity may go on into the next step.
        if (round % 3 < 2) await runtime.client.sendMessage(thread, { content: `word ${round}` });
        letGo();
      }
      await runtime.client.waitForIdle(thread);
      const [, ...requests] = model.requests;
      const said = requests.map(({ messages }) => messages.filter(({ role }) => role === 'user').length - 1);
      const spoken = (round: number) => 2 * Math.floor(round / 3) + Math.min(2, (round % 3) + 1);
      expect(said).toEqual(Array.from({ length: rounds }, (_, round) => spoken(round)));
      expect((await scheduled(runtime, thread)).filter((name) => name === 'modelStep').length).toBeLessThan(
        rounds + 1,
      );
    },
  );

  it('does not show as asking its model alone while one of its calls runs', async () => {
    const { tool, begun } = holding({ quick: true });
    const model = scriptedModel([calls('hold'), calls('hold'), says('done')]);
    const runtime = await testRuntime({ model, tools: { hold: tool } });
    const thread = await begin(runtime);
    (await begun(0))();
    const letGo = await begun(1);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    expect(await handle.query('status')).toMatchObject({
      activity: 'asking scripted, or running short tools, from step 1 on',
    });
    letGo();
    await runtime.client.waitForIdle(thread);
  });

  it('[runtime 3.7] leaves the end of a turn to the workflow if a message has arrived', async () => {
    const { tool, begun } = holding({ quick: true });
    const model = scriptedModel([calls('hold'), says('one'), says('two')]);
    const runtime = await testRuntime({ model, tools: { hold: tool }, side: { stopTool: 'hold' } });
    const thread = await begin(runtime);
    const letGo = await begun(0);
    await runtime.client.sendMessage(thread, { content: 'more' });
    letGo();
    await runtime.client.waitForIdle(thread);
    expect((await scheduled(runtime, thread)).filter((name) => name === 'commitStatus')).toHaveLength(1);
    expect((await runtime.transcript(thread)).slice(-2)).toEqual(['user: more', 'assistant: one']);
    await runtime.say(thread, 'again');
  });

  it('[runtime 6] prevents further model requests if a stop comes before its calls end', async () => {
    const { tool, begun } = holding({ quick: true });
    const model = scriptedModel(repeat('hold', 2));
    const runtime = await testRuntime({ model, tools: { hold: tool } });
    const thread = await begin(runtime);
    (await begun(0))();
    const letGo = await begun(1);
    await runtime.client.stop(thread, 'enough');
    letGo();
    const stopped = { status: 'stopped', stopReason: 'enough' };
    expect(await runtime.client.waitForIdle(thread)).toMatchObject(stopped);
    expect(model.requests).toHaveLength(2);
  });

  it('[runtime 6] aborts a model request if a stop comes, and the thread continues from the store', async () => {
    const model = scriptedModel([...repeat('note', 2), hangs(), says('again')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await begin(runtime);
    await eventually('the third step asks its model', async () => model.requests.length === 3);
    await runtime.client.stop(thread, 'enough');
    expect(await runtime.client.waitForIdle(thread)).toMatchObject({ status: 'stopped' });
    await runtime.say(thread, 'go on');
    expect(await runtime.transcript(thread)).toEqual([
      ...['user: go', 'assistant:  -> note', 'tool note success: noted'],
      ...['assistant:  -> note', 'tool note success: noted', 'user: go on', 'assistant: again'],
    ]);
    const events = await runtime.store.events.read(thread, 0);
    const last = events.findLast(({ type }) => type === 'step.committed')?.step;
    const asked = (await scheduledOf(runtime.client, thread)).filter(({ name }) => name === 'modelStep');
    expect(asked.at(-1)?.summary).toMatch(`from step ${last} `);
  });

  it('[runtime 3] has a message queued by one of its calls in the next request, and none stays queued', async () => {
    const remind = quickly(async (state) => {
      await state.queueMessage({ role: 'user', content: 'remember' });
      return { status: 'success' };
    });
    const model = scriptedModel([calls('note'), calls('remind'), says('done')]);
    const runtime = await testRuntime({ model, tools: { note, remind } });
    const thread = await runtime.start('go');
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'remember' });
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep']);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    expect(await handle.query('status')).toMatchObject({ status: 'idle', queued: 0, step: 3 });
  });

  it('ends with its step if that ends the turn, or a call yields it', async () => {
    const yields = quickly(async ({ execution }) => {
      execution?.forceTurn('b');
      return { status: 'success' };
    });
    for (const name of ['last', 'yields'] as const) {
      const model = scriptedModel([calls('note'), calls(name)]);
      const tools = { note, last: note, yields };
      const runtime = await testRuntime({ model, tools, side: { stopTool: 'last' } });
      const thread = await runtime.start('go');
      const stopReason = name === 'last' ? 'stop_tool' : 'forced_human_turn';
      expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', stopReason });
      expect(model.requests).toHaveLength(2);
    }
  });

  it('[runtime 6] of two sides continues with the side whose turn it is, and ends with its turn', async () => {
    const a = scriptedModel([...repeat('note', 2), says('a draft'), calls('note'), says('another')]);
    const b = scriptedModel([...repeat('note', 2), says('a word'), calls('finish')]);
    const tools = { note, finish: note };
    const runtime = await twoSides({ a, b, tools, sideB: { sessionStop: 'finish' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'session_stop',
      session: { side: 'a', turns: 0 },
    });
    expect([a.requests.length, b.requests.length]).toEqual([5, 4]);
    expect(heard(b)[3]?.at(-1)).toMatch(/another$/);
    const steps = (await scheduled(runtime, thread)).filter((name) => name === 'modelStep');
    // One for each turn of a side.
    expect(steps).toHaveLength(4);
  });

  it('[runtime 11] an effect made due by one of its calls runs before the next step', async () => {
    const ring = defineEffect('rings', (state) => state.setValue('rung', true));
    const plan = quickly(async (state) => {
      await state.scheduleEffect('ring', {}, 0);
      return { status: 'success' };
    });
    const model = scriptedModel([calls('note'), calls('plan'), says('planned')]);
    const runtime = await testRuntime({ model, tools: { note, plan }, effects: { ring } });
    const thread = await runtime.start('go');
    await ended(runtime, thread, 1);
    expect((await scheduled(runtime, thread)).slice(0, 4)).toEqual([
      ...['openThread', 'modelStep', 'runEffects', 'modelStep'],
    ]);
  });

  it('[PL-17] ends the turn if its calls have used up the budget', async () => {
    const model = scriptedModel(repeat('note', 2));
    const runtime = await testRuntime({ model, tools: { note }, agent: { budget: { maxSteps: 2 } } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'BudgetExceeded' },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('keeps the results of its calls if the following step has a fault, which the next activity handles', async () => {
    let asked = 0;
    const probe = (point: string) => {
      if (point === 'step_begun' && ++asked === 3) throw new Error('refused once');
    };
    let noted = 0;
    const count = quickly(() => ({ status: 'success', result: String(++noted) }));
    const model = scriptedModel([...repeat('count', 2), says('done')]);
    const runtime = await testRuntime({ model, tools: { count }, probe });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep', 'modelStep']);
    expect(await inputsOf(runtime.client, thread, 'modelStep')).toMatchObject([
      { ordinal: 0, loop: { steps: 20 } },
      { ordinal: 2, loop: { steps: 18 } },
    ]);
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      ...['tool count success: 1', 'assistant:  -> count', 'tool count success: 2', 'assistant: done'],
    ]);
  });

  it('leaves the end of the turn to the workflow, under the same ordinal, if storing it has a fault', async () => {
    let committed = 0;
    const probe = (point: string) => {
      if (point === 'status_committed' && ++committed === 1) throw new Error('refused once');
    };
    const runtime = await testRuntime({ model: scriptedModel([says('done')]), probe });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual(['openThread', 'modelStep', 'commitStatus']);
    expect(await inputsOf(runtime.client, thread, 'commitStatus')).toMatchObject([{ ordinal: 20 }]);
    const events = await runtime.store.events.read(thread, 0);
    expect(events.filter(({ type }) => type === 'execution.ended')).toHaveLength(1);
  });

  it('[runtime 6] leaves a stop to the workflow that comes after it has stored the end of the turn', async () => {
    const committed = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const probe = async (point: string) => {
      if (point !== 'status_committed') return;
      committed.resolve();
      await left.promise;
    };
    const runtime = await testRuntime({ model: scriptedModel([says('done')]), probe });
    const thread = await begin(runtime);
    await committed.promise;
    await runtime.client.stop(thread, 'enough');
    left.resolve();
    await eventually('the thread is stopped', async () => {
      const { status } = await runtime.client.getThread(thread);
      return status === 'stopped';
    });
    expect(await runtime.client.waitForIdle(thread)).toMatchObject({
      status: 'stopped',
      stopReason: 'enough',
    });
  });

  it('keeps its result small, whatever its steps return', async () => {
    const names = Array.from({ length: 16 }, (_, n) => ({ name: '名'.repeat(60) + n }));
    const model = scriptedModel([calls('note'), callsMany(names), callsMany(names), says('done')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    expect(model.requests).toHaveLength(4);
  });

  it('calls no further model once one of its calls has ended the thread', async () => {
    const leave = quickly(async (state) => {
      await state.terminate();
      return { status: 'success' };
    });
    const model = scriptedModel([calls('note'), calls('leave')]);
    const runtime = await testRuntime({ model, tools: { note, leave } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'terminated' });
  });
});
