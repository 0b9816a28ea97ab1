/** A thread's log as RunEvents: the page's types and order, from the start of any execution, whatever was pruned. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { callsMany, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { collect, expectGolden, expectWhole } from './golden.ts';

const look = defineTool({
  description: 'looks',
  quick: true,
  execute: (state) => {
    state.emit('halfway', { percent: 50 });
    return { status: 'success', result: 'seen' };
  },
});

const runEvents = async ({ client }: TestRuntime, thread: string, run?: string) =>
  collect(client.events(thread, { as: 'run', follow: false, run }));

describe('RunEvents of a thread', () => {
  it('[PL-21] an answer follows the spec, with one final event', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('done')]) });
    const thread = await runtime.start('Produce a result');
    const told = (await runEvents(runtime, thread)).map(({ event }) => event);
    expectGolden('answer', told);
    expectWhole(told);
    const [first] = await runtime.client.runs.list({ threadId: thread });
    expect(new Set(told.map(({ run_id: id }) => id))).toEqual(new Set([first?.id]));
    expect(new Set(told.map(({ agent_name: name }) => name))).toEqual(new Set(['helper']));
    expect(told.at(-1)?.payload).toMatchObject({
      new_state: 'completed',
      task: {
        state: 'completed',
        artifacts: [{ kind: 'result', parts: [{ type: 'text', content: 'done' }] }],
      },
    });
  });

  it('[PL-21] contain calls, failures and custom events, from any execution and any cursor', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([
        fails({ status: 500, message: 'overloaded', retryAfter: 0 }),
        callsMany([{ name: 'look' }, { name: 'nowhere', args: { at: 1 } }]),
        says('seen'),
        says('again'),
      ]),
      tools: { look },
    });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    const runs = await runtime.client.runs.list({ threadId: thread });
    expect(runs.map(({ state }) => state)).toEqual(['completed', 'completed']);
    const all = await runEvents(runtime, thread);
    const [second = '', first = ''] = runs.map(({ id }) => id);
    const ofFirst = await runEvents(runtime, thread, first);
    const ofSecond = await runEvents(runtime, thread, second);
    expectGolden(
      'calls',
      ofFirst.map(({ event }) => event),
    );
    // The start of a reading does not change its events, and neither does later pruning.
    expect([...ofFirst, ...ofSecond]).toEqual(all);
    for (const [n, { cursor }] of all.entries()) {
      const rest = await collect(runtime.client.events(thread, { as: 'run', after: cursor, follow: false }));
      expect(rest).toEqual(all.slice(n + 1));
    }
    const actions = ofFirst.filter(({ event }) => event.type.startsWith('action.'));
    expect(new Set(actions.map(({ event }) => event.action_id))).toEqual(
      new Set([`${thread}:1:0`, `${thread}:1:1`]),
    );
    expect(actions[0]?.event.payload).toMatchObject({ action: { name: 'look', kind: 'tool.call' } });
  });

  it('[PL-12] a stop is one final event with the state canceled and its reason, and no error', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([callsMany([{ name: 'wait' }])]),
      tools: {
        wait: defineTool({
          description: 'waits',
          execute: (state) =>
            new Promise((_, reject) => {
              state.emit('waits', {});
              const { abortSignal } = state.execution ?? {};
              abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error));
            }),
        }),
      },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const told = [];
    for await (const { event } of runtime.client.events(threadId, { as: 'run' })) {
      told.push(event);
      if (event.type === 'app.waits') await runtime.client.stop(threadId, 'Stopped by user');
      if (event.final) break;
    }
    expectWhole(told);
    expect(told.some(({ type }) => type === 'task.error')).toBe(false);
    expect(told.at(-1)).toMatchObject({
      type: 'task.status',
      payload: { new_state: 'canceled', metadata: { cancel_reason: 'Stopped by user' } },
    });
  });

  it('options of a wrong shape and an unknown run are refused', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const thread = await runtime.start();
    const read = (options: object) =>
      collect(runtime.client.events(thread, { as: 'run', follow: false, ...options }));
    await expect(read({ after: '12' })).rejects.toMatchObject({ code: 'InvalidValue' });
    await expect(read({ run: 'nowhere' })).rejects.toMatchObject({ code: 'ExecutionNotFound' });
  });
});
