/**
 * An attempt at the activity of a step stalls after it has checked that it may go on, and before its next command: its
 * process is frozen, or its connection is. Another attempt, or another activity, has gone on when it wakes. What it
 * then asks of the store is refused, so that no model is asked twice and no turn is ended that another one runs.
 */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { holdCommand } from '../support/held-command.ts';
import { holding } from '../support/holding.ts';
import { loseAttempt } from '../support/lost-activities.ts';
import { begin } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

const STEPS = 3;
const model = () =>
  scriptedModel(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    return since.filter(({ role }) => role === 'tool').length < STEPS ? calls('note') : says('done');
  });
const TURN = [
  ...Array.from({ length: STEPS }, () => ['assistant:  -> note', 'tool note success: noted']).flat(),
  'assistant: done',
];

function noting() {
  const bodies: string[] = [];
  const tool = defineTool({
    description: 'notes',
    quick: true,
    execute: (state) => {
      bodies.push(String(state.idempotencyKey));
      return { status: 'success', result: 'noted' };
    },
  });
  return { tool, bodies };
}

/** Holds attempts once their model has answered, while `isOn`; the first ones pass. */
function holdAnswers() {
  const held: (() => void)[] = [];
  let isOn = false;
  return {
    held,
    begin: () => {
      isOn = true;
    },
    probe: async (at: string) => {
      if (at !== 'model_answered' || !isOn) return;
      const gate = Promise.withResolvers<void>();
      held.push(gate.resolve);
      await gate.promise;
    },
  };
}

const lose = ({ client: { temporal: client } }: TestRuntime, thread: string) =>
  loseAttempt({ client, workflowId: `thread/${thread}`, activity: 'modelStep' });

describe('an attempt that stalls before it begins the next step', () => {
  it('does not ask the model again if it wakes while a newer attempt makes that step', async () => {
    const store = await testStore();
    const begins = holdCommand(store, ['steps', 'begin'], ({ ordinal }) => ordinal === 2);
    const { tool, bodies } = noting();
    const answers = holdAnswers();
    const asked = model();
    const runtime = await testRuntime({ model: asked, tools: { note: tool }, store, probe: answers.probe });
    const thread = await begin(runtime, 'go');
    await eventually('an attempt stalls', () => begins.held.length === 1);
    answers.begin();
    await lose(runtime, thread);
    await eventually('the newer attempt has asked for the step', () => answers.held.length === 1);
    begins.held[0]?.();
    await eventually('the older attempt has asked for it', () => begins.over === 1);
    answers.held[0]?.();
    await eventually('the newer one goes on', () => answers.held.length >= 2);
    for (const release of answers.held) release();
    await eventually('it ends its turn', async () => {
      for (const release of answers.held) release();
      return (await runtime.client.getThread(thread)).status === 'idle';
    });
    expect(asked.requests).toHaveLength(STEPS + 1);
    expect(bodies).toHaveLength(STEPS);
    expect(await runtime.transcript(thread)).toEqual(['user: go', ...TURN]);
    const events = await store.events.read(thread, 0);
    expect(events.filter(({ type }) => type === 'step.retried')).toHaveLength(0);
  });

  it('does not begin the step if it wakes while a newer attempt is on the way to it', async () => {
    const store = await testStore();
    const begins = holdCommand(store, ['steps', 'begin'], ({ ordinal }) => ordinal === 2, 2);
    const { tool, bodies } = noting();
    const asked = model();
    const runtime = await testRuntime({ model: asked, tools: { note: tool }, store });
    const thread = await begin(runtime, 'go');
    await eventually('an attempt stalls', () => begins.held.length === 1);
    await lose(runtime, thread);
    await eventually('the newer attempt has come as far', () => begins.held.length === 2);
    begins.held[0]?.();
    await eventually('the older attempt has asked for the step', () => begins.over === 1);
    begins.held[1]?.();
    await runtime.client.waitForIdle(thread);
    expect(asked.requests).toHaveLength(STEPS + 1);
    expect(bodies).toHaveLength(STEPS);
    expect(await runtime.transcript(thread)).toEqual(['user: go', ...TURN]);
  });

  it('takes no message of the turn that has begun after a stop', async () => {
    const store = await testStore();
    const begins = holdCommand(store, ['steps', 'begin'], ({ ordinal }) => ordinal === 2);
    const { tool } = noting();
    const answers = holdAnswers();
    const asked = model();
    const runtime = await testRuntime({ model: asked, tools: { note: tool }, store, probe: answers.probe });
    const thread = await begin(runtime, 'go');
    await eventually('an attempt stalls', () => begins.held.length === 1);
    await runtime.client.stop(thread, 'enough');
    await runtime.client.waitForIdle(thread);
    answers.begin();
    await runtime.client.sendMessage(thread, { content: 'more' });
    await eventually('the next turn has asked its model', () => answers.held.length === 1);
    begins.held[0]?.();
    await eventually('the older activity has asked for its step', () => begins.over === 1);
    await eventually('the turn ends', async () => {
      for (const release of answers.held) release();
      return (await runtime.client.getThread(thread)).status === 'idle';
    });
    expect(asked.requests).toHaveLength(2 + STEPS + 1);
    expect((await runtime.transcript(thread)).slice(-TURN.length - 1)).toEqual(['user: more', ...TURN]);
  });
});

describe('an attempt that stalls before it ends the turn', () => {
  it('ends no turn that has begun since', async () => {
    const store = await testStore();
    const ends = holdCommand(store, ['threads', 'commitStatus'], () => true);
    const { tool, begun } = holding({ quick: true });
    const asked = scriptedModel([calls('hold'), says('one'), calls('hold'), says('two')]);
    const runtime = await testRuntime({ model: asked, tools: { hold: tool }, store });
    const thread = await begin(runtime, 'go');
    (await begun(0))();
    await eventually('an attempt stalls', () => ends.held.length === 1);
    await lose(runtime, thread);
    await runtime.client.waitForIdle(thread);
    await runtime.client.sendMessage(thread, { content: 'more' });
    const letGo = await begun(1);
    ends.held[0]?.();
    await eventually('the older attempt has asked for the end', () => ends.over === 1);
    expect((await runtime.client.getThread(thread)).status).toBe('running');
    letGo();
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toEqual([
      ...['user: go', 'assistant:  -> hold', 'tool hold success: held', 'assistant: one'],
      ...['user: more', 'assistant:  -> hold', 'tool hold success: held', 'assistant: two'],
    ]);
    const events = await store.events.read(thread, 0);
    expect(events.filter(({ type }) => type === 'execution.ended')).toHaveLength(2);
  });
});

describe('an attempt that stalls before it begins a further call of its step', () => {
  it.each([true, false])(
    'leaves the call to the newer attempt, also if that begins it later, idempotent %p',
    async (idempotent) => {
      const store = await testStore();
      const begins = holdCommand(store, ['toolCalls', 'begin'], ({ index }) => index === 1, 2);
      const { tool, begun } = holding({ quick: true, idempotent });
      const asked = scriptedModel([callsMany([{ name: 'hold' }, { name: 'hold' }]), says('done')]);
      const runtime = await testRuntime({ model: asked, tools: { hold: tool }, store });
      const thread = await begin(runtime, 'go');
      (await begun(0))();
      await eventually('an attempt stalls', () => begins.held.length === 1);
      await lose(runtime, thread);
      await eventually('the newer attempt has come as far', () => begins.held.length === 2);
      begins.held[0]?.();
      await eventually('the older attempt has asked for the call', () => begins.over === 1);
      begins.held[1]?.();
      (await begun(1))();
      await runtime.client.waitForIdle(thread);
      expect(await runtime.transcript(thread)).toEqual([
        ...['user: go', 'assistant:  -> hold, hold', 'tool hold success: held'],
        ...['tool hold success: held', 'assistant: done'],
      ]);
      const events = await store.events.read(thread, 0);
      expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(2);
      expect(events.filter(({ type }) => type === 'tool.late_result')).toHaveLength(0);
    },
  );
});
