/**
 * What a thread's workflow counts and shows equals what the store has, after any mix of turns whose steps one activity
 * makes: calls that fail, are repaired, are unknown or queue items, messages that arrive meanwhile, tools that are not
 * short, a budget that ends the execution.
 */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { type Random, seededRandom } from '../support/seeded-random.ts';

const TURNS = 6;
const MAX_STEPS = 24;

type Execute = Parameters<typeof defineTool>[0]['execute'];
const quickly = (execute: Execute) => defineTool({ description: 'is quick', quick: true, execute });

/** The tools; `hear` sends its own thread a message from outside. */
function toolsOf(send: (threadId: string) => Promise<unknown>) {
  return {
    note: quickly(() => ({ status: 'success', result: 'noted' })),
    pay: defineTool({ description: 'pays', execute: () => ({ status: 'success', result: 'paid' }) }),
    fail: quickly(() => {
      throw new Error('broken');
    }),
    remind: quickly(async (state) => {
      await state.queueMessage({ role: 'user', content: 'remember' });
      return { status: 'success' };
    }),
    hear: quickly(async (state) => {
      await send(state.threadId);
      return { status: 'success' };
    }),
  };
}

const NAMES = ['note', 'note', 'note', 'pay', 'fail', 'remind', 'hear', 'unknown_tool'];

/** A model that makes a few steps, then answers, then begins anew. */
function modelOf(random: Random) {
  let left = random.below(12);
  return scriptedModel(() => {
    if (left-- > 0) {
      if (random.chance(0.2))
        return callsMany(Array.from({ length: 1 + random.below(3) }, () => ({ name: random.pick(NAMES) })));
      return calls(random.pick(NAMES));
    }
    left = random.below(random.chance(0.2) ? 30 : 8);
    return says('done');
  });
}

async function expectSame(runtime: TestRuntime, thread: string): Promise<void> {
  const { store } = runtime;
  const view = await workflowOf(runtime, thread).query<object>('status');
  const stored = await runtime.client.getThread(thread);
  const events = await store.events.read(thread, 0, 1_000_000);
  const made = eventsOf(events, 'step.started').length;
  expect(stored.lastStep).toBe(made);
  expect(eventsOf(events, 'step.committed')).toHaveLength(made);
  expect(view).toMatchObject({
    status: stored.status,
    step: stored.lastStep,
    queued: await store.queue.count(thread),
    atRest: true,
    stopReason: stored.stopReason ?? stored.lastError?.code ?? null,
    agent: stored.agent,
  });
  const results = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
  expect(results).toHaveLength(eventsOf(events, 'tool.called').length);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const begun = events.findLastIndex(({ type }) => type === 'execution.started');
  const last = events.slice(begun);
  const [line] = await store.budgets.read(thread);
  expect(line).toMatchObject({ limit: 'maxSteps', used: eventsOf(last, 'step.started').length });
}

describe('a thread whose activities make many steps', () => {
  it.each([1, 2, 3, 4])('counts and shows what the store has, seed %i', async (seed) => {
    const random = seededRandom(seed);
    let runtime: TestRuntime | undefined;
    const tools = toolsOf(async (threadId) => runtime?.client.sendMessage(threadId, { content: 'more' }));
    const model = modelOf(random);
    runtime = await testRuntime({ model, tools, agent: { budget: { maxSteps: MAX_STEPS } } });
    const thread = await runtime.start('go');
    await expectSame(runtime, thread);
    for (let turn = 1; turn < TURNS; turn++) {
      await runtime.client.sendMessage(thread, { content: `turn ${turn}` });
      await runtime.client.waitForIdle(thread);
      await expectSame(runtime, thread);
    }
    expect(model.requests).toHaveLength((await runtime.client.getThread(thread)).lastStep);
  });
});
