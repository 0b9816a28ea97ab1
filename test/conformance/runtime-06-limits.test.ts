/** runtime §3.7, §6, §15: the stop rules apply to every step, whatever starts it; order: test/core/stop.test.ts. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { twoSides } from '../support/two-sides.ts';

const finish = defineTool({
  description: 'ends',
  args: z.object({ answer: z.string() }),
  execute: () => ({ status: 'success', result: 'finished' }),
});
const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});
/** A tool that queues itself up to 30 times: a limit must end the execution before that. */
const again = () => {
  let ran = 0;
  return defineTool({
    description: 'queues itself',
    execute: (state) => {
      ran += 1;
      if (ran < 30) state.queueTool('again', {});
      return { status: 'success', result: `run ${ran}` };
    },
  });
};
const endless = (text: string) => scriptedModel(() => says(text));

const ends = async ({ store }: TestRuntime, thread: string) =>
  (await store.events.read(thread, 0, 1000)).flatMap(({ type, data }) =>
    type === 'execution.ended' ? [data.reason] : [],
  );
const runs = async (runtime: TestRuntime, thread: string) =>
  (await runtime.transcript(thread)).filter((line) => line.startsWith('tool ')).length;

describe('runtime §6.4, §15 limits apply to every step', () => {
  it('[runtime 6.4] a tool that queues itself: the rest waits for outside input, and is listed', async () => {
    const model = scriptedModel([calls('again')]);
    const runtime = await testRuntime({ model, tools: { again: again() }, side: { maxSteps: 2 } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'max_side_steps',
      lastStep: 2,
    });
    expect(await runs(runtime, thread)).toBe(2);
    expect((await runtime.messages(thread)).filter(({ status }) => status === 'pending')).toHaveLength(1);
    // A user message begins another execution, which takes what is left.
    await runtime.say(thread, 'go on');
    expect(await runs(runtime, thread)).toBe(4);
    expect(await ends(runtime, thread)).toEqual(['max_side_steps', 'max_side_steps']);
    expect(model.requests).toHaveLength(1);
  });

  it('[runtime 6.4] a hook that queues after each answer: executions started by the thread itself share one count', async () => {
    let said = 0;
    const model = endless('and so on');
    const runtime = await hookRuntime({
      model,
      side: { maxSteps: 3 },
      hooks: {
        after_create_message: async (state, { role }) => {
          if (role === 'assistant' && said++ < 30)
            await state.queueMessage({ role: 'user', content: 'more' });
        },
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_side_steps',
      lastStep: 3,
    });
    expect(model.requests).toHaveLength(3);
    await runtime.say(thread, 'go on');
    expect(model.requests).toHaveLength(6);
  });

  it('[runtime 6.4] a tool queued by an effect is outside input: it runs beyond a limit', async () => {
    const later = defineTool({
      description: 'schedules',
      execute: async (state) => {
        await state.scheduleEffect('remind');
        return { status: 'success', result: 'scheduled' };
      },
    });
    const remind = defineEffect('looks', (state) => state.queueTool('look', {}));
    const model = scriptedModel([calls('later')]);
    const runtime = await testRuntime({
      model,
      tools: { later, look },
      effects: { remind },
      side: { maxSteps: 1 },
    });
    const thread = await runtime.start('go');
    await eventually('the tool of the effect has run', async () => (await runs(runtime, thread)) === 2);
    await runtime.client.waitForIdle(thread);
    expect(await ends(runtime, thread)).toEqual(['max_side_steps', 'max_side_steps']);
    expect(model.requests).toHaveLength(1);
  });

  it('[runtime 6.4] a queued stopTool ends a turn that maxSessionTurns counts', async () => {
    const [a, b] = [endless('A'), endless('B')];
    const runtime = await twoSides({
      a,
      b,
      tools: { finish },
      sideA: { stopTool: 'finish' },
      agent: { maxSessionTurns: 1 },
    });
    const thread = await runtime.start();
    await runtime.client.queueTool(thread, { name: 'finish', arguments: { answer: '' } });
    await runtime.client.waitForIdle(thread);
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_session_turns',
      lastStep: 1,
      session: { side: 'a', turns: 0 },
    });
    expect([a.requests.length, b.requests.length]).toEqual([0, 0]);
  });

  it('[runtime 6.4] the limit of a side activated by a message is checked before it acts', async () => {
    const tell = defineTool({
      description: 'queues',
      execute: async (state) => {
        await state.queueMessage({ role: 'user', content: 'a word of B' });
        return { status: 'success', result: 'queued' };
      },
    });
    const a = scriptedModel([says('A')]);
    const b = scriptedModel([calls('tell')]);
    const runtime = await twoSides({ a, b, tools: { tell }, sideA: { maxSteps: 1 } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_side_steps',
      lastStep: 2,
    });
    expect(a.requests).toHaveLength(1);
    expect((await runtime.messages(thread)).at(-1)).toMatchObject({
      content: 'a word of B',
      status: 'pending',
    });
  });

  it('[runtime 6.4] a run that was killed and revived continues the count', async () => {
    const model = scriptedModel((_request, index) => (index === 2 ? hangs() : calls('look')));
    const runtime = await testRuntime({ model, tools: { look }, side: { maxSteps: 4 } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the third step is under way', () => model.requests.length === 3);
    await workflowOf(runtime, threadId).terminate('by an operator');
    await runtime.client.queueMessage(threadId, { content: 'go on' });
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.client.getThread(threadId)).toMatchObject({ stopReason: 'max_side_steps' });
    // The request of the third step is repeated, and that of the fourth is made.
    expect(model.requests).toHaveLength(5);
  });
});

describe('runtime §6.4, §15 limits apply to a step after one taken over by a revived run', () => {
  it('[runtime 6.4] a queued tool is checked as it starts: a limit that ends the execution before leaves it queued', async () => {
    const model = scriptedModel([calls('look')]);
    const [stored, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const probe = async (point: string) => {
      if (point !== 'model_committed') return;
      stored.resolve();
      await goOn.promise;
    };
    const runtime = await testRuntime({ model, tools: { look }, side: { maxSteps: 1 }, probe });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await stored.promise;
    await workflowOf(runtime, threadId).terminate('by an operator');
    goOn.resolve();
    await runtime.client.queueTool(threadId, { name: 'look', arguments: {} });
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual([
      'user: go',
      'assistant:  -> look',
      'tool look success: seen',
      'assistant:  -> look',
      'tool look success: seen',
    ]);
    expect(await ends(runtime, threadId)).toEqual(['max_side_steps', 'max_side_steps']);
  });
});

describe('runtime §3.7 stop conditions are evaluated after each step', () => {
  it('[runtime 3.7] for a queued session tool, also if a message arrived with it', async () => {
    const model = scriptedModel([]);
    const runtime = await testRuntime({ model, tools: { finish }, side: { sessionStop: 'finish' } });
    const thread = await runtime.start();
    await runtime.stopWorker();
    await runtime.client.queueMessage(thread, { content: 'hello' });
    await runtime.client.queueTool(thread, { name: 'finish', arguments: { answer: '' } });
    await testRuntime({
      model,
      tools: { finish },
      side: { sessionStop: 'finish' },
      store: runtime.store,
      taskQueue: runtime.taskQueue,
    });
    await runtime.client.waitForIdle(thread);
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'session_stop', lastStep: 1 });
    expect(model.requests).toHaveLength(0);
  });

  it('[runtime 6] execution.stop() applies next to a failed session tool', async () => {
    const halt = defineTool({
      description: 'stops',
      execute: (state) => {
        state.execution?.stop();
        return { status: 'success', result: 'stopped' };
      },
    });
    const model = scriptedModel([callsMany([{ name: 'finish' }, { name: 'halt' }])]);
    const runtime = await testRuntime({ model, tools: { finish, halt }, side: { sessionStop: 'finish' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'state_stop_session',
      lastStep: 1,
    });
  });
});
