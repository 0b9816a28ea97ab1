/** runtime §5: the activity of a step's last call continues with the next step; all guarantees about steps still hold. */
import { describe, expect, it } from '@jest/globals';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { ended } from '../support/effects.ts';
import { holding } from '../support/holding.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { activitiesOf, scheduledOf } from '../support/scheduled.ts';

const pay = defineTool({ description: 'pays', execute: () => ({ status: 'success', result: 'paid' }) });

describe('runtime §5 Tool Execution, the last call of a step', () => {
  it('[runtime 3] continues with the next step in its own activity, which names both', async () => {
    const model = scriptedModel([calls('pay'), callsMany([{ name: 'pay' }, { name: 'pay' }]), says('done')]);
    const runtime = await testRuntime({ model, tools: { pay } });
    const thread = await runtime.start('go');
    expect(await scheduledOf(runtime.client, thread)).toEqual([
      { name: 'openThread', summary: 'open · helper' },
      { name: 'modelStep', summary: expect.stringMatching(/^step 1 · /) },
      { name: 'runTool', summary: expect.stringMatching(/^pay · step 1, then step 2 · /) },
      { name: 'runTool', summary: 'pay · step 2' },
      { name: 'runTool', summary: expect.stringMatching(/^pay · step 2, then step 3 · /) },
      { name: 'commitStatus', summary: 'idle · stop_on_response' },
    ]);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> pay',
      'tool pay success: paid',
      'assistant:  -> pay, pay',
      'tool pay success: paid',
      'tool pay success: paid',
      'assistant: done',
    ]);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle' });
  });

  it('[runtime 3.2] a message sent before the call ends is in the next request, however late', async () => {
    const rounds = 12;
    const { tool, begun } = holding();
    const script = Array.from({ length: rounds }, () => calls('hold'));
    const model = scriptedModel([...script, says('done')]);
    const runtime = await testRuntime({ model, tools: { hold: tool } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    for (let round = 0; round < rounds; round++) {
      const letGo = await begun(round);
      await runtime.client.sendMessage(threadId, { content: `word ${round}` });
      letGo();
    }
    await runtime.client.waitForIdle(threadId);
    const [, ...requests] = model.requests;
    const said = requests.map(({ messages }) => messages.filter(({ role }) => role === 'user').length - 1);
    expect(said).toEqual(Array.from({ length: rounds }, (_, round) => round + 1));
  });

  it('[runtime 6] a stop before the call ends prevents further model requests', async () => {
    const { tool, begun } = holding();
    const model = scriptedModel([calls('hold')]);
    const runtime = await testRuntime({ model, tools: { hold: tool } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const letGo = await begun(0);
    await runtime.client.stop(threadId, 'enough');
    letGo();
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({
      status: 'stopped',
      stopReason: 'enough',
    });
    expect(model.requests).toHaveLength(1);
  });

  it('[runtime 6] a stop aborts the following model request, and the next message continues the thread', async () => {
    const model = scriptedModel([calls('pay'), hangs(), says('again')]);
    const runtime = await testRuntime({ model, tools: { pay } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the next step asks its model', async () => model.requests.length === 2);
    await runtime.client.stop(threadId, 'enough');
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({ status: 'stopped' });
    await runtime.say(threadId, 'go on');
    expect(await runtime.transcript(threadId)).toEqual([
      'user: go',
      'assistant:  -> pay',
      'tool pay success: paid',
      'user: go on',
      'assistant: again',
    ]);
  });

  it('does not continue with the next step if it, or its failure, ends the turn', async () => {
    const succeeds = () => ({ status: 'success', result: 'paid' }) as const;
    const fails = () => ({ status: 'error', error: 'no money' }) as const;
    for (const [execute, script] of [
      [succeeds, [calls('pay')]],
      [fails, [calls('pay'), says('done')]],
    ] as const) {
      const tools = { pay: defineTool({ description: 'pays', execute }) };
      const model = scriptedModel(script);
      const runtime = await testRuntime({ model, tools, side: { stopTool: 'pay' } });
      const thread = await runtime.start('go');
      const scheduled = await scheduledOf(runtime.client, thread);
      expect(scheduled.filter(({ summary }) => summary.includes('then'))).toEqual([]);
    }
  });

  it('does not continue with the next step if it yields the turn', async () => {
    const yields = defineTool({
      description: 'hands the turn back',
      execute: async ({ execution }) => {
        execution?.forceTurn('b');
        return { status: 'success', result: 'yours' };
      },
    });
    const model = scriptedModel([calls('yields')]);
    const runtime = await testRuntime({ model, tools: { yields } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'forced_human_turn' });
    expect(model.requests).toHaveLength(1);
  });

  it('[runtime 11] an effect that it made due runs before the next step', async () => {
    const ring = defineEffect('rings', (state) => state.setValue('rung', true));
    const plan = defineTool({
      description: 'plans',
      execute: async (state) => {
        await state.scheduleEffect('ring', {}, 0);
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('plan'), says('planned')]);
    const runtime = await testRuntime({ model, tools: { plan }, effects: { ring } });
    const thread = await runtime.start('go');
    await ended(runtime, thread, 1);
    expect(await activitiesOf(runtime.client, thread)).toEqual([
      ...['openThread', 'modelStep', 'runTool', 'runEffects', 'modelStep', 'commitStatus'],
    ]);
  });

  it('keeps the result of its activity small, whatever its step and the next one return', async () => {
    const names = Array.from({ length: 16 }, (_, n) => '名'.repeat(60) + n);
    const model = scriptedModel([calls('pay'), callsMany(names.map((name) => ({ name }))), says('done')]);
    const runtime = await testRuntime({ model, tools: { pay } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    expect(model.requests).toHaveLength(3);
  });

  it('keeps its result when the following step has a fault, which the next activity handles', async () => {
    let asked = 0;
    const probe = (point: string) => {
      if (point === 'step_begun' && ++asked === 2) throw new Error('refused once');
    };
    const runtime = await testRuntime({
      model: scriptedModel([calls('pay'), says('done')]),
      tools: { pay },
      probe,
    });
    const thread = await runtime.start('go');
    expect(await activitiesOf(runtime.client, thread)).toEqual([
      ...['openThread', 'modelStep', 'runTool', 'modelStep', 'commitStatus'],
    ]);
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'tool pay success: paid',
      'assistant: done',
    ]);
  });
});
