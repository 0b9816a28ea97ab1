/**
 * A stop comes at each moment of an activity that makes many steps, and while a tool within it blocks the process,
 * ignores its signal, or waits for a process of its own. The thread stops, what has begun is settled once, and the next
 * message is answered. How soon it stops, `bench/recovery.ts --only stop` measures.
 */
import { spawn } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { holdCommand } from '../support/held-command.ts';
import { begin, workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

type Execute = Parameters<typeof defineTool>[0]['execute'];

const NOTED: Execute = () => ({ status: 'success', result: 'noted' });

/** A runtime whose third call is `execute`; `hold` chooses the command at which the activity is held. */
async function loop<Held = undefined>(execute = NOTED, hold?: (store: ThreadStore) => Held) {
  const store = await testStore();
  const held = hold?.(store) as Held;
  let bodies = 0;
  const note = defineTool({
    description: 'notes',
    quick: true,
    execute: async (state, input) => {
      if (++bodies === 3) return execute(state, input);
      return { status: 'success', result: 'noted' };
    },
  });
  const asked = { hangs: false };
  const model = scriptedModel(({ messages }) => {
    if (messages.at(-1)?.content === 'more') return says('here');
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (asked.hangs && results === 2) return hangs({ after: 'I thi' });
    return results < 4 ? calls('note') : says('done');
  });
  const runtime = await testRuntime({ model, tools: { note }, store });
  return { runtime, model, asked, held, bodies: () => bodies };
}

async function expectStopped(
  runtime: TestRuntime,
  thread: string,
  /** Calls that have results: as many, or up to `atMost`. */
  { results, atMost = results }: { readonly results: number; readonly atMost?: number },
) {
  const since = performance.now();
  await runtime.client.stop(thread, 'enough');
  const stopped = await runtime.client.waitForIdle(thread);
  expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'enough' });
  return async () => {
    expect(performance.now() - since).toBeLessThan(60_000);
    await runtime.say(thread, 'more');
    const transcript = await runtime.transcript(thread);
    expect(transcript.slice(-2)).toEqual(['user: more', 'assistant: here']);
    const settled = transcript.filter((line) => line.startsWith('tool note')).length;
    expect(settled).toBeGreaterThanOrEqual(results);
    expect(settled).toBeLessThanOrEqual(atMost);
    const events = await runtime.store.events.read(thread, 0, 100_000);
    expect(eventsOf(events, 'tool.called')).toHaveLength(settled);
    expect(eventsOf(events, 'execution.ended')).toHaveLength(2);
    const stored = await runtime.client.getThread(thread);
    const view = await workflowOf(runtime, thread).query<object>('status');
    expect(view).toMatchObject({ status: 'idle', step: stored.lastStep, queued: 0 });
  };
}

describe('a stop', () => {
  it('while the model of a further step streams keeps what it has said', async () => {
    const { runtime, asked, model } = await loop();
    asked.hangs = true;
    const thread = await begin(runtime, 'go');
    await eventually('the third step asks', () => model.requests.length === 3);
    await eventually('it streams', async () =>
      (await runtime.store.events.read(thread, 0)).some(({ type }) => type === 'model.chunk'),
    );
    const go = await expectStopped(runtime, thread, { results: 2 });
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: I thi');
    await go();
  });

  it('between two steps begins no other', async () => {
    const { runtime, held, model } = await loop(NOTED, (store) =>
      holdCommand(store, ['steps', 'begin'], ({ ordinal }) => ordinal === 2),
    );
    const thread = await begin(runtime, 'go');
    await eventually('it is between two steps', () => held.held.length === 1);
    const go = await expectStopped(runtime, thread, { results: 2 });
    held.held[0]?.();
    await eventually('the activity has asked for the step', () => held.over === 1);
    expect(model.requests).toHaveLength(2);
    await go();
  });

  it('while a call’s result is not stored yet stores one result', async () => {
    const { runtime, held } = await loop(NOTED, (store) =>
      holdCommand(store, ['toolCalls', 'commit'], ({ step }) => step === 3),
    );
    const thread = await begin(runtime, 'go');
    await eventually('the body has run', () => held.held.length === 1);
    const go = await expectStopped(runtime, thread, { results: 3 });
    held.held[0]?.();
    await eventually('the activity has asked to store it', () => held.over === 1);
    await go();
  });

  it('before the end of the turn is stored ends it once', async () => {
    const { runtime, held } = await loop(NOTED, (store) =>
      holdCommand(store, ['threads', 'commitStatus'], ({ status }) => status === 'idle'),
    );
    const thread = await begin(runtime, 'go');
    await eventually('the turn is ending', () => held.held.length === 1);
    const go = await expectStopped(runtime, thread, { results: 4 });
    held.held[0]?.();
    await eventually('the activity has asked for the end', () => held.over === 1);
    await go();
  });
});

describe('a stop during a call', () => {
  it('that ignores its signal settles the call, and its late result changes nothing', async () => {
    const gate = Promise.withResolvers<void>();
    const { runtime, bodies } = await loop(async () => {
      await gate.promise;
      return { status: 'success', result: 'late' };
    });
    const thread = await begin(runtime, 'go');
    await eventually('the call runs', () => bodies() === 3);
    const go = await expectStopped(runtime, thread, { results: 3 });
    gate.resolve();
    await go();
    expect(await runtime.transcript(thread)).not.toContain('tool note success: late');
  });

  it('that blocks the process for three seconds takes effect after it', async () => {
    const { runtime, bodies, model } = await loop(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
      return { status: 'success', result: 'blocked' };
    });
    const thread = await begin(runtime, 'go');
    await eventually('the call runs', () => bodies() === 3);
    // The process of this test was blocked too: the stop may find the next call begun.
    const go = await expectStopped(runtime, thread, { results: 3, atMost: 4 });
    expect(model.requests.length).toBeLessThanOrEqual(5);
    await go();
  });

  it('that waits for a process of its own aborts its signal at once', async () => {
    let code: unknown;
    const { runtime, bodies } = await loop(async (state) => {
      const child = spawn('sleep', ['100'], { signal: state.execution?.abortSignal as AbortSignal });
      child.on('error', () => undefined);
      [, code] = await new Promise<unknown[]>((resolve) => child.on('exit', (...end) => resolve(end)));
      return { status: 'success', result: 'exited' };
    });
    const thread = await begin(runtime, 'go');
    await eventually('the call runs', () => bodies() === 3);
    const go = await expectStopped(runtime, thread, { results: 3 });
    await eventually('its process is gone', () => code !== undefined);
    expect(code).toBe('SIGTERM');
    await go();
  });
});
