/** runtime §5: the activity of a step with quick calls only continues with the next step; all guarantees still hold. */
import { describe, expect, it } from '@jest/globals';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { ended } from '../support/effects.ts';
import { holding } from '../support/holding.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { activitiesOf, inputsOf, scheduledOf } from '../support/scheduled.ts';
import { heard, twoSides } from '../support/two-sides.ts';

const quickly = (execute: Parameters<typeof defineTool>[0]['execute']) =>
  defineTool({ description: 'is quick', quick: true, execute });
const note = quickly(() => ({ status: 'success', result: 'noted' }));
const many = (name: string, times: number) => callsMany(Array.from({ length: times }, () => ({ name })));

const scheduled = (runtime: TestRuntime, threadId: string) => activitiesOf(runtime.client, threadId);
const begin = async ({ client }: TestRuntime) =>
  (await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] })).threadId;

describe('runtime §5 Tool Execution, a step whose calls are all quick', () => {
  it('[runtime 3] continues with the next step, as did the one before; its activity names both', async () => {
    const model = scriptedModel([
      ...[calls('note'), calls('note'), many('note', 2), calls('note'), says('done'), says('again')],
    ]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    const asked = (name: string) => ({ name: 'modelStep', summary: expect.stringMatching(`^${name} · `) });
    expect(await scheduledOf(runtime.client, thread)).toEqual([
      { name: 'openThread', summary: 'open · helper' },
      asked('step 1'),
      asked('step 2 \\(\\+3\\)'),
      asked('step 4 \\(\\+5\\)'),
      { name: 'commitStatus', summary: 'idle · stop_on_response' },
      asked('step 6 \\(\\+7\\)'),
      { name: 'commitStatus', summary: 'idle · stop_on_response' },
    ]);
    expect(await runtime.transcript(thread)).toEqual([
      ...['user: go', 'assistant:  -> note', 'tool note success: noted'],
      ...['assistant:  -> note', 'tool note success: noted', 'assistant:  -> note, note'],
      ...['tool note success: noted', 'tool note success: noted', 'assistant:  -> note'],
      ...['tool note success: noted', 'assistant: done', 'user: more', 'assistant: again'],
    ]);
  });

  it('starts each step under an ordinal that no other command of the run has', async () => {
    const model = scriptedModel([calls('note'), calls('note'), calls('note'), calls('note'), says('done')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    type Asked = { readonly ordinal: number; readonly next?: { readonly ordinal: number } };
    const asked = await inputsOf<Asked>(runtime.client, thread, 'modelStep');
    expect(asked.map(({ ordinal, next }) => [ordinal, next?.ordinal])).toEqual([
      [0, undefined],
      [1, -2],
      [2, -3],
    ]);
    expect(await inputsOf(runtime.client, thread, 'commitStatus')).toMatchObject([{ ordinal: 3 }]);
  });

  it('[runtime 3] leaves calls that are not quick to separate activities', async () => {
    const pay = defineTool({ description: 'pays', execute: () => ({ status: 'success', result: 'paid' }) });
    const model = scriptedModel([
      ...[calls('note'), calls('note'), callsMany([{ name: 'note' }, { name: 'pay' }]), says('done')],
    ]);
    const runtime = await testRuntime({ model, tools: { note, pay } });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'modelStep', 'runTool', 'commitStatus'],
    ]);
    expect((await runtime.transcript(thread)).slice(-4)).toEqual([
      'assistant:  -> note, pay',
      'tool note success: noted',
      'tool pay success: paid',
      'assistant: done',
    ]);
  });

  it('[runtime 3.2] a message sent before its calls end is in the next request, however late', async () => {
    const rounds = 12;
    const { tool, begun } = holding({ quick: true });
    const script = Array.from({ length: rounds }, () => calls('hold'));
    const model = scriptedModel([...script, says('done')]);
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
  });

  it('[runtime 6] a stop before its calls end prevents further model requests', async () => {
    const { tool, begun } = holding({ quick: true });
    const model = scriptedModel([calls('hold'), calls('hold')]);
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

  it('[runtime 6] a stop aborts the following model request, and the thread continues from the store', async () => {
    const model = scriptedModel([calls('note'), calls('note'), hangs(), says('again')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await begin(runtime);
    await eventually('the step behind asks its model', async () => model.requests.length === 3);
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
    expect(asked.at(-1)?.summary).toMatch(`step ${last} `);
  });

  it('[runtime 3] a message queued by one of its calls is in the next request, and none stays queued', async () => {
    const remind = quickly(async (state) => {
      await state.queueMessage({ role: 'user', content: 'remember' });
      return { status: 'success' };
    });
    const model = scriptedModel([calls('note'), calls('remind'), says('done')]);
    const runtime = await testRuntime({ model, tools: { note, remind } });
    const thread = await runtime.start('go');
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'remember' });
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'modelStep', 'commitStatus'],
    ]);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle' });
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
    const a = scriptedModel([calls('note'), calls('note'), says('a draft'), calls('note'), says('another')]);
    const b = scriptedModel([calls('note'), calls('note'), says('a word'), calls('finish')]);
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
    expect(steps.length).toBeLessThan(9);
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
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'modelStep', 'runEffects', 'modelStep', 'commitStatus'],
    ]);
  });

  it('[PL-17] a budget exhausted by it denies the following step', async () => {
    const model = scriptedModel([calls('note'), calls('note')]);
    const runtime = await testRuntime({ model, tools: { note }, agent: { budget: { maxSteps: 2 } } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'failed',
      lastError: { code: 'BudgetExceeded' },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('its calls keep their results when the following step has a fault, which the next activity handles', async () => {
    let asked = 0;
    const probe = (point: string) => {
      if (point === 'step_begun' && ++asked === 3) throw new Error('refused once');
    };
    let noted = 0;
    const count = quickly(() => ({ status: 'success', result: String(++noted) }));
    const model = scriptedModel([calls('count'), calls('count'), says('done')]);
    const runtime = await testRuntime({ model, tools: { count }, probe });
    const thread = await runtime.start('go');
    expect(await scheduled(runtime, thread)).toEqual([
      ...['openThread', 'modelStep', 'modelStep', 'modelStep', 'commitStatus'],
    ]);
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      ...['tool count success: 1', 'assistant:  -> count', 'tool count success: 2', 'assistant: done'],
    ]);
  });

  it('keeps the result of its activity small, whatever both steps return', async () => {
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
