/**
 * Workers that allow another number of steps per activity serve the same threads: what one worker has offered, the
 * other takes or leaves, and the thread is that of either alone.
 */
import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

const STEPS = 5;
const TURNS = 3;
const THREADS = 6;

it('a worker with one step per activity and one with twenty make the turns of the same threads', async () => {
  const model = scriptedModel(({ messages }) => {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'));
    return since.filter(({ role }) => role === 'tool').length < STEPS ? calls('note') : says('done');
  });
  const bodies: string[] = [];
  const note = defineTool({
    description: 'notes',
    quick: true,
    idempotent: false,
    execute: (state) => {
      bodies.push(String(state.idempotencyKey));
      return { status: 'success', result: 'noted' };
    },
  });
  const shared = { model, tools: { note }, store: await testStore(), taskQueue: `mixed-${randomUUID()}` };
  const runtime = await testRuntime({ ...shared, configuration: { stepsPerActivity: 1 } });
  await testRuntime({ ...shared, configuration: { stepsPerActivity: 20 } });
  const turn = ['user: go', ...Array(STEPS).fill(['assistant:  -> note', 'tool note success: noted']).flat()];
  const live = async () => {
    const thread = await runtime.start('go');
    for (let told = 1; told < TURNS; told++) await runtime.say(thread, 'go');
    expect(await runtime.transcript(thread)).toEqual(
      Array(TURNS)
        .fill([...turn, 'assistant: done'])
        .flat(),
    );
    const events = await runtime.store.events.read(thread, 0, 100_000);
    expect(eventsOf(events, 'step.started')).toHaveLength(TURNS * (STEPS + 1));
    expect(await workflowOf(runtime, thread).query<object>('status')).toMatchObject({
      ...{ status: 'idle', step: TURNS * (STEPS + 1), queued: 0 },
    });
  };
  await Promise.all(Array.from({ length: THREADS }, live));
  expect(bodies).toHaveLength(THREADS * TURNS * STEPS);
  expect(new Set(bodies).size).toBe(bodies.length);
});
