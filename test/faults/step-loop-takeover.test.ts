/**
 * An operator resets or terminates the workflow of a thread while an activity makes many steps. The run that follows
 * takes over from the store: no call runs twice, no answer is stored twice, and the counts are those of the store.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { type HeldCommands, holdCommand } from '../support/held-command.ts';
import { begin, statusOf, workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

const STEPS = 4;

/** Where the loop is when the operator acts. */
const PLACES = ['model', 'between', 'call', 'end'] as const;
type Place = (typeof PLACES)[number];

/** Each leaves the thread with a run that goes on. */
const ACTS = {
  'Reset to the first workflow task': async (runtime: TestRuntime, thread: string) => {
    const handle = workflowOf(runtime, thread);
    await reset(runtime, thread, firstTask(await handle.fetchHistory()));
  },
  'Reset to the last workflow task': async (runtime: TestRuntime, thread: string) => {
    const handle = workflowOf(runtime, thread);
    await reset(runtime, thread, firstTask(await handle.fetchHistory(), -1));
  },
  'Terminate, and the next message': async (runtime: TestRuntime, thread: string) => {
    await workflowOf(runtime, thread).terminate('an operator');
    await runtime.client.sendMessage(thread, { content: 'more' });
  },
} as const;

type History = Awaited<ReturnType<ReturnType<typeof workflowOf>['fetchHistory']>>;

function firstTask(history: History, at = 0): number {
  const completed = (history.events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  return Number(completed.at(at)?.eventId);
}

async function reset({ client }: TestRuntime, thread: string, task: number): Promise<void> {
  await client.temporal.workflowService.resetWorkflowExecution({
    namespace: process.env.TEMPORAL_NAMESPACE,
    workflowExecution: { workflowId: `thread/${thread}` },
    reason: 'an operator',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task as never,
  });
}

/** A thread whose third step stays at `place` until it is released. */
async function stayAt(place: Place) {
  const store = await testStore();
  const bodies: string[] = [];
  const gate = Promise.withResolvers<void>();
  const at = { reached: false };
  const stay = async () => {
    if (at.reached) return;
    at.reached = true;
    await gate.promise;
  };
  const note = defineTool({
    description: 'notes',
    quick: true,
    idempotent: false,
    execute: async (state) => {
      bodies.push(String(state.idempotencyKey));
      if (place === 'call' && bodies.length === 3) await stay();
      return { status: 'success', result: 'noted' };
    },
  });
  const asked: number[] = [];
  const again = { asked: 0, gate: Promise.withResolvers<void>() };
  const model = scriptedModel(async ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (messages.at(-1)?.content === 'again') {
      again.asked += 1;
      await again.gate.promise;
      return says('done');
    }
    asked.push(results);
    if (place === 'model' && results === 2) await stay();
    return results < STEPS ? calls('note') : says('done');
  });
  let held: HeldCommands | undefined;
  if (place === 'between') held = holdCommand(store, ['steps', 'begin'], ({ ordinal }) => ordinal === 2);
  if (place === 'end') held = holdCommand(store, ['threads', 'commitStatus'], () => true);
  const runtime = await testRuntime({ model, tools: { note }, store });
  const thread = await begin(runtime, 'go');
  await eventually(`it is at ${place}`, () => at.reached || held?.held.length === 1);
  const release = () => {
    gate.resolve();
    held?.held[0]?.();
  };
  return { runtime, thread, bodies, asked, again, held, release };
}

describe.each(Object.keys(ACTS) as (keyof typeof ACTS)[])('%s', (act) => {
  it.each(PLACES)('while a loop is at %s neither repeats nor loses anything', async (place) => {
    const { runtime, thread, bodies, asked, again, held, release } = await stayAt(place);
    await ACTS[act](runtime, thread);
    await runtime.client.waitForIdle(thread);
    const { store } = runtime;
    const events = await store.events.read(thread, 0, 1_000_000);
    const transcript = await runtime.transcript(thread);
    // Each call has run once, and has one result.
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(eventsOf(events, 'tool.started')).toHaveLength(bodies.length);
    const results = transcript.filter((line) => line.startsWith('tool note'));
    expect(results).toHaveLength(eventsOf(events, 'tool.called').length);
    expect(bodies).toHaveLength(STEPS);
    // No request is repeated but the one that was under way.
    const repeated = asked.length - new Set(asked).size;
    expect(repeated).toBeLessThanOrEqual(1);
    // A message that comes with the turn under way is answered with it.
    const answers = transcript.filter((line) => line === 'assistant: done');
    expect(answers).toHaveLength(place === 'end' && transcript.includes('user: more') ? 2 : 1);
    const stored = await runtime.client.getThread(thread);
    expect(stored.status).toBe('idle');
    expect(eventsOf(events, 'execution.ended').length).toBe(eventsOf(events, 'execution.started').length);
    const view = await workflowOf(runtime, thread).query<object>('status');
    expect(view).toMatchObject({ status: 'idle', step: stored.lastStep, queued: 0, atRest: true });
    // What the replaced run asks for late changes nothing of the turn that is under way.
    await runtime.client.sendMessage(thread, { content: 'again' });
    await eventually('the next turn asks', () => again.asked === 1);
    release();
    if (held) await eventually('the replaced run has asked', () => held.over === 1);
    expect(await statusOf(runtime, thread)).toBe('running');
    again.gate.resolve();
    await runtime.client.waitForIdle(thread);
    expect(again.asked).toBe(1);
    expect((await runtime.transcript(thread)).slice(-2)).toEqual(['user: again', 'assistant: done']);
  });
});
