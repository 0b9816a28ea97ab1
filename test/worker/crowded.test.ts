/**
 * Twice as many threads as a worker has slots, each with a turn of several steps, and messages to all of them while
 * every slot is taken. `npm run test:soak -- crowded` has 400 threads on 200 slots.
 */
import { expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { isLong } from '../support/long-form.ts';
import { begin, workflowOf } from '../support/operator.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const SLOTS = isLong ? 200 : 10;
const THREADS = 2 * SLOTS;
const STEPS = 4;
const WORDS = ['first', 'second', 'third'];

it('all messages are stored while every slot is taken, none overtakes another, and no thread starves', async () => {
  const gate = Promise.withResolvers<void>();
  const note = defineTool({
    description: 'notes',
    quick: true,
    execute: () => ({ status: 'success', result: 'noted' }),
  });
  const model = scriptedModel(async ({ messages }) => {
    await gate.promise;
    const heard = messages.filter(({ role }) => role === 'user').length;
    const results = messages.filter(({ role }) => role === 'tool').length;
    return results < STEPS ? calls('note') : says(`heard ${heard}`);
  });
  const configuration = { maxConcurrentActivities: SLOTS };
  const runtime = await testRuntime({ model, tools: { note }, configuration });
  const { client, store } = runtime;
  const threads = await Promise.all(Array.from({ length: THREADS }, () => begin(runtime, 'go')));
  await eventually('every slot is taken', () => model.requests.length === SLOTS);
  // A step takes what has come before it is asked for.
  for (const thread of threads)
    await eventually('its step is asked for', async () => {
      const { activity } = await workflowOf(runtime, thread).query<{ activity: string }>('status');
      return activity.startsWith('asking');
    });
  for (const content of WORDS)
    await Promise.all(threads.map((thread) => client.queueMessage(thread, { content })));
  await eventually('all are in line in the store', async () => {
    const counts = await Promise.all(threads.map((thread) => store.queue.count(thread)));
    // The first message of a thread whose step waits for a slot is not in line: its activity has it.
    return counts.every((count) => count === WORDS.length);
  });
  expect(model.requests).toHaveLength(SLOTS);
  gate.resolve();
  await Promise.all(threads.map((thread) => client.waitForIdle(thread, { timeoutMs: 300_000 })));
  let [lastBegin, firstEnd] = [0, Number.POSITIVE_INFINITY];
  for (const thread of threads) {
    const transcript = await runtime.transcript(thread);
    expect(transcript.filter((line) => line.startsWith('user: '))).toEqual(
      ['go', ...WORDS].map((word) => `user: ${word}`),
    );
    expect(transcript.at(-1)).toBe('assistant: heard 4');
    expect(transcript.filter((line) => line.startsWith('tool note success'))).toHaveLength(STEPS);
    const events = await store.events.read(thread, 0, 100_000);
    lastBegin = Math.max(lastBegin, eventsOf(events, 'step.started')[0]?.at ?? Number.NaN);
    firstEnd = Math.min(firstEnd, eventsOf(events, 'execution.ended')[0]?.at ?? Number.NaN);
  }
  expect(lastBegin).toBeLessThan(firstEnd);
});
