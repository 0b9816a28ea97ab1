/**
 * A thread's log as AgenticX's RuntimeEvents, on the real engine, from the start of any execution and from any cursor.
 */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { isTerminal } from '../../src/projections/agenticx/agenticx-event.ts';
import { callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { collect } from './golden.ts';

const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
const pay = defineTool({
  description: 'pays',
  confirm: true,
  execute: () => ({ status: 'success', result: 'paid' }),
});

const turns = ({ client }: TestRuntime, thread: string, options = {}) =>
  collect(client.events(thread, { as: 'agenticx', follow: false, ...options }));

describe('RuntimeEvents of a thread', () => {
  it('[AX-81] contain rounds, calls, an unknown tool and the answer, the same from any cursor', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([
        callsMany([{ name: 'look' }, { name: 'nowhere', args: { at: 1 } }]),
        says('seen'),
        says('again'),
      ]),
      tools: { look },
    });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    const all = await turns(runtime, thread);
    const told = all.map(({ event }) => event).filter(({ type }) => type !== 'token');
    expect(told.map(({ type }) => type)).toEqual([
      'round_start',
      'tool_call',
      'tool_call',
      'tool_result',
      'error',
      'tool_result',
      'round_start',
      'final',
      'round_start',
      'final',
    ]);
    expect(told[2]?.data).toMatchObject({ name: 'nowhere', arguments: { at: 1 } });
    expect(told[4]?.data).toMatchObject({ terminal: false, text: expect.stringContaining('nowhere') });
    expect(told.filter(isTerminal).map(({ data }) => data)).toEqual([{ text: 'seen' }, { text: 'again' }]);
    const runs = await runtime.client.runs.list({ threadId: thread });
    const parts = await Promise.all(runs.toReversed().map(({ id }) => turns(runtime, thread, { run: id })));
    expect(parts.flat()).toEqual(all);
    for (const [n, { cursor }] of all.entries())
      expect(await turns(runtime, thread, { after: cursor })).toEqual(all.slice(n + 1));
  });

  it('[AX-66] contain the request and answer of a confirmation before the result of its call', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([callsMany([{ name: 'pay' }]), says('done')]),
      tools: { pay },
    });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'waiting' });
    const [wait] = await client.listWaits({ threadId });
    await client.answerWait(wait?.id ?? '', { approved: true });
    await client.waitForIdle(threadId);
    const told = (await turns(runtime, threadId))
      .map(({ event }) => event)
      .filter(({ type }) => type !== 'token');
    expect(told.map(({ type }) => type)).toEqual([
      'round_start',
      'tool_call',
      'confirm_required',
      'confirm_response',
      'tool_result',
      'round_start',
      'final',
    ]);
    expect(told[2]?.data).toMatchObject({ id: wait?.id, context: { tool: 'pay' } });
    expect(told[3]?.data).toEqual({ id: wait?.id, approved: true });
  });
});
