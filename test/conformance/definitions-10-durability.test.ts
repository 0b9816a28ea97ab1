/** definitions §10: effects outlive workflow runs, workers and faults, and end only with their thread. */
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { defineEffect } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { askWorkflow } from '../support/ask-workflow.ts';
import { ended, eventsOf, schedule } from '../support/effects.ts';
import { readRuns } from '../support/run-chain.ts';
import { eventually, type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const reply = scriptedModel(() => says('ok'));
const note = defineEffect('notes', (state) => state.setValue('noted', Date.now()));
/** For tests that count how often an effect runs: a slow machine must not make a living worker look lost. */
const PATIENT = { toolHeartbeatMs: 20_000 };

async function details({ client }: TestRuntime, thread: string): Promise<string> {
  const handle = client.temporal.workflow.getHandle(`thread/${thread}`);
  const { currentDetails } = await askWorkflow<{ currentDetails: string }>(
    handle,
    '__temporal_workflow_metadata',
  );
  return currentDetails;
}

/** Makes due what the thread has scheduled, whenever that was to be. */
function makeDue({ store }: TestRuntime, thread: string): void {
  const database = new DatabaseSync(store.place.replace('SQLite at ', ''));
  database.prepare('update effects set due_at = 1 where thread_id = ?').run(thread);
  database.close();
}

describe('definitions §10 Effects: durability', () => {
  it('[definitions 10] fires though the thread has continued as new', async () => {
    const runtime = await testRuntime({
      model: reply,
      effects: { note },
      configuration: { historySoftLimit: 50 },
    });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'note', { delayMs: 3000 });
    for (let n = 0; n < 8; n++) await runtime.say(thread, `m${n}`);
    const before = (await readRuns(runtime.client, thread)).length;
    expect(before).toBeGreaterThan(1);
    await ended(runtime, thread, 1);
    const [scheduled] = await eventsOf(runtime, thread, 'effect.scheduled');
    const dueAt = Number(scheduled?.data.dueAt);
    expect(await runtime.store.values.get(thread, 'noted')).toBeGreaterThanOrEqual(Math.floor(dueAt / 1000));
  });

  it('[definitions 10] a thread with effects only continues as new, too', async () => {
    const chain = defineEffect('goes on', z.object({ left: z.number() }), async (state, { left }) => {
      if (left > 0) await state.scheduleEffect('chain', { left: left - 1 }, 120);
    });
    const runtime = await testRuntime({
      model: reply,
      effects: { chain },
      configuration: { historySoftLimit: 50, ...PATIENT },
    });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'chain', { args: { left: 19 } });
    await ended(runtime, thread, 20);
    const runs = await readRuns(runtime.client, thread);
    expect(runs.length).toBeGreaterThan(2);
    expect(await eventsOf(runtime, thread, 'effect.started')).toHaveLength(20);
    // A batch and its timer are a dozen history events, so a run continues as new soon after it reaches its limit.
    expect(Math.max(...runs.map(({ events }) => events))).toBeLessThan(50 + 20);
    expect(await eventsOf(runtime, thread, 'effect.failed')).toEqual([]);
    await runtime.say(thread, 'well?');
    expect(await runtime.transcript(thread)).toEqual(['user: well?', 'assistant: ok']);
  });

  it('[definitions 10] does not continue as new while an effect runs, and runs it once', async () => {
    let begun = 0;
    const release = Promise.withResolvers<void>();
    const hold = defineEffect('holds', () => {
      begun += 1;
      return release.promise;
    });
    const runtime = await testRuntime({
      model: reply,
      effects: { hold },
      configuration: { historySoftLimit: 50, ...PATIENT },
    });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'hold');
    await eventually('it runs', () => begun === 1);
    const length = async () => (await readRuns(runtime.client, thread))[0]?.events ?? 0;
    for (let n = 0; (await length()) < 60; n++)
      await runtime.client.queueMessage(thread, { content: `m${n}` });
    expect(await readRuns(runtime.client, thread)).toHaveLength(1);
    release.resolve();
    await eventually('a new run', async () => (await readRuns(runtime.client, thread)).length === 2);
    expect(await ended(runtime, thread, 1)).toMatchObject([{ type: 'effect.done' }]);
    expect(begun).toBe(1);
  });

  it('[definitions 10] fires on another worker when the first one is gone', async () => {
    const store = await testStore();
    const first = await testRuntime({ model: reply, effects: { note }, store });
    const thread = await first.start();
    await schedule(first.client, thread, 'note', { delayMs: 1500 });
    // On a busy machine it may fire before the hint is seen.
    const isHinted = async () => (await details(first, thread)).includes('next effect');
    const isOver = async () => (await eventsOf(first, thread, 'effect.done')).length > 0;
    await eventually('the hint', async () => (await isHinted()) || isOver());
    await first.stopWorker();
    const { taskQueue } = first;
    const second = await testRuntime({ model: reply, effects: { note }, store, taskQueue });
    await ended(second, thread, 1);
  });

  it('[definitions 10] an effect running at SIGTERM gets its grace period, and then runs again', async () => {
    const store = await testStore();
    const begun: string[] = [];
    const wait = (name: string, done: Promise<void> | undefined) =>
      defineEffect('waits', () => {
        begun.push(name);
        return done;
      });
    const forever = new Promise<void>(() => undefined);
    const first = await testRuntime({
      model: reply,
      effects: { wait: wait('first', forever) },
      store,
      configuration: PATIENT,
    });
    const thread = await first.start();
    await schedule(first.client, thread, 'wait');
    await eventually('it runs', () => begun.length === 1);
    const { taskQueue } = first;
    await testRuntime({ model: reply, effects: { wait: wait('second', undefined) }, store, taskQueue });
    await first.stopWorker();
    expect(await ended(first, thread, 1)).toMatchObject([{ type: 'effect.done' }]);
    expect(begun).toEqual(['first', 'second']);
    expect(await eventsOf(first, thread, 'effect.started')).toMatchObject([
      { data: { attempt: 1 } },
      { data: { attempt: 2 } },
    ]);
  });

  it('[definitions 10] ends with its thread: waiting effects are cancelled, running ones aborted', async () => {
    let status: string | undefined;
    const compute = defineEffect('computes', async (state) => {
      status = (await state.runCode('for (;;);')).status;
    });
    const runtime = await testRuntime({ model: reply, effects: { compute, note }, configuration: PATIENT });
    const thread = await runtime.start();
    // Far in the future, since the code that runs may take long to begin.
    await schedule(runtime.client, thread, 'note', { delayMs: 3_600_000 });
    await schedule(runtime.client, thread, 'compute');
    await eventually('it runs', async () => (await eventsOf(runtime, thread, 'effect.started')).length === 1);
    await runtime.client.terminate(thread);
    await runtime.client.waitForIdle(thread);
    expect(await runtime.store.effects.list(thread)).toEqual([]);
    await eventually('the code to end', () => status === 'terminated');
    const late = runtime.store.effects.schedule(thread, { id: 'x', name: 'note', args: {}, delayMs: 0 });
    await expect(late).rejects.toMatchObject({ code: 'ThreadTerminated' });
    await expect(runtime.client.wakeForEffects(thread, 0)).rejects.toMatchObject({
      code: 'ThreadTerminated',
    });
    expect(await runtime.store.values.get(thread, 'noted')).toBeNull();
    expect(await eventsOf(runtime, thread, 'effect.done', 'effect.failed')).toEqual([]);
  });

  it('[definitions 10] an effect may end its thread, with the effects that wait', async () => {
    const said = Promise.withResolvers<void>();
    const over = defineEffect('ends it', async (state) => {
      await said.promise;
      await state.terminate();
    });
    const runtime = await testRuntime({ model: scriptedModel([]), effects: { over } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'over');
    await eventually('it runs', async () => (await eventsOf(runtime, thread, 'effect.started')).length === 1);
    await runtime.client.queueMessage(thread, { content: 'hi' });
    said.resolve();
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'terminated' });
  });

  it('[definitions 10] is not affected by a stop: it fires, and its message waits for a person', async () => {
    const speak = defineEffect('speaks', (state) => state.queueMessage({ role: 'user', content: 'psst' }));
    const runtime = await testRuntime({ model: reply, effects: { speak } });
    const thread = await runtime.start('hi');
    await schedule(runtime.client, thread, 'speak', { delayMs: 3_600_000 });
    await runtime.client.stop(thread);
    await eventually('the stop', async () => (await runtime.client.getThread(thread)).status === 'stopped');
    makeDue(runtime, thread);
    await runtime.client.wakeForEffects(thread, 0);
    await ended(runtime, thread, 1);
    await eventually('the details to tell', async () =>
      (await details(runtime, thread)).includes('**queued:** 1'),
    );
    expect((await runtime.messages(thread)).at(-1)).toMatchObject({ content: 'psst', status: 'pending' });
    await runtime.say(thread, 'go on');
    expect((await runtime.transcript(thread)).slice(-3)).toEqual([
      'user: psst',
      'user: go on',
      'assistant: ok',
    ]);
  });

  it('an internal fault neither ends the thread nor is retried without a pause', async () => {
    const store = await testStore();
    const tried: number[] = [];
    const broken: typeof store = {
      ...store,
      effects: {
        ...store.effects,
        async begin(command) {
          tried.push(performance.now());
          if (tried.length <= 2) throw ApplicationFailure.nonRetryable('broken');
          return store.effects.begin(command);
        },
      },
    };
    const runtime = await testRuntime({ model: reply, effects: { note }, store: broken });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'note');
    await eventually('the first fault', () => tried.length > 0);
    await runtime.say(thread, 'still there?');
    await ended(runtime, thread, 1);
    const [first = 0, second = 0, third = 0] = tried;
    expect(second - first).toBeGreaterThan(900);
    expect(third - second).toBeGreaterThan(1900);
  });

  it('the Web UI shows when the next one is due, and an empty wake-up signal checks at once', async () => {
    const plan = toolOf((state) => state.scheduleEffect('note', {}, 3_600_000));
    const model = scriptedModel([calls('plan'), says('planned')]);
    const runtime = await testRuntime({ model, effects: { note }, tools: { plan } });
    const thread = await runtime.start('plan');
    const [scheduled] = await eventsOf(runtime, thread, 'effect.scheduled');
    const [, shown = ''] = /\*\*next effect:\*\* (\S+)/.exec(await details(runtime, thread)) ?? [];
    expect(Math.abs(Date.parse(shown) - Number(scheduled?.data.dueAt) / 1000)).toBeLessThan(60_000);
    await runtime.store.effects.schedule(thread, { id: 'now', name: 'note', args: {}, delayMs: 0 });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    for (const payload of ['soon', { inMs: 'x' }]) await handle.signal('wakeForEffects', payload);
    await ended(runtime, thread, 1);
    expect(await runtime.store.effects.list(thread)).toHaveLength(1);
  });
});
