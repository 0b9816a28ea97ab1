/** runtime §11, §9: one flow on a thread. Steps and effects take turns; what an effect queues is in line at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { ended, eventsOf, schedule } from '../support/effects.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

/** Resolves once the thread's workflow has processed every signal that was sent before. */
const isHeard = (runtime: TestRuntime, thread: string) => askStatus(workflowOf(runtime, thread));

const orderOf = async (runtime: TestRuntime, thread: string) =>
  (
    await eventsOf(
      runtime,
      thread,
      'step.started',
      'step.committed',
      'tool.result',
      'effect.started',
      'effect.done',
    )
  ).map(({ type }) => type);

describe('runtime §11 one flow on a thread', () => {
  it('[runtime 11] models, tools, hooks and effects of one thread never run concurrently', async () => {
    let acting = 0;
    let most = 0;
    const act = async <T>(result: T): Promise<T> => {
      acting += 1;
      most = Math.max(most, acting);
      await delay(15);
      acting -= 1;
      return result;
    };
    const again = defineEffect('comes again', z.object({ left: z.number() }), async (state, { left }) => {
      if (left > 0) await state.scheduleEffect('again', { left: left - 1 }, 5);
      if (left % 3 === 0) await state.queueMessage({ role: 'user', content: `effect ${left}` });
      await act(undefined);
    });
    const plan = defineTool({
      description: 'plans',
      execute: async (state) => {
        await state.scheduleEffect('again', { left: 9 }, 0);
        return act({ status: 'success', result: 'planned' } as const);
      },
    });
    const runtime = await hookRuntime({
      model: scriptedModel((_request, index) => act(index === 0 ? calls('plan') : says('ok'))),
      tools: { plan },
      effects: { again },
      hooks: {
        before_create_message: () => act(undefined),
        after_create_message: () => act(undefined),
      },
    });
    const thread = await runtime.start('go');
    for (let n = 0; n < 5; n++) {
      await runtime.client.queueMessage(thread, { content: `person ${n}` });
      await delay(20);
    }
    await ended(runtime, thread, 10);
    await runtime.client.waitForIdle(thread);
    expect(most).toBe(1);
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('user: '))).toHaveLength(10);
  });

  it('[runtime 11] a due effect waits for the step, and the next step for it', async () => {
    const gate = Promise.withResolvers<void>();
    const wait = defineTool({
      description: 'waits',
      execute: () => gate.promise.then(() => ({ status: 'success', result: 'waited' }) as const),
    });
    const note = defineEffect('notes', () => undefined);
    const model = scriptedModel([calls('wait'), says('done')]);
    const runtime = await testRuntime({ model, tools: { wait }, effects: { note } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the tool runs', async () => (await eventsOf(runtime, threadId, 'tool.started')).length);
    await schedule(runtime.client, threadId, 'note');
    await isHeard(runtime, threadId);
    // If the effect did not wait for the step, it would have run by now.
    await delay(500);
    gate.resolve();
    await runtime.client.waitForIdle(threadId);
    expect(await orderOf(runtime, threadId)).toEqual([
      'step.started',
      'step.committed',
      'tool.result',
      'effect.started',
      'effect.done',
      'step.started',
      'step.committed',
    ]);
  });

  it('[runtime 11] a message that arrives while an effect runs is listed as pending, and precedes the next effect', async () => {
    const gate = Promise.withResolvers<void>();
    const hold = defineEffect('holds', () => gate.promise);
    const note = defineEffect('notes', () => undefined);
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]), effects: { hold, note } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'hold');
    await eventually('it runs', async () => (await eventsOf(runtime, thread, 'effect.started')).length);
    await schedule(runtime.client, thread, 'note');
    await runtime.client.queueMessage(thread, { content: 'hi' });
    await eventually('it is listed', async () =>
      (await runtime.messages(thread)).some(({ status }) => status === 'pending'),
    );
    gate.resolve();
    await ended(runtime, thread, 2);
    expect(await orderOf(runtime, thread)).toEqual([
      'effect.started',
      'effect.done',
      'step.started',
      'step.committed',
      'effect.started',
      'effect.done',
    ]);
  });

  it('[runtime 11] a step that waits only for a child lets effects run', async () => {
    const gate = Promise.withResolvers<void>();
    const note = defineEffect('notes', () => gate.resolve());
    const model = modelOf({
      main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
      scribe_desk: () => gate.promise.then(() => handsIn('written')),
    });
    const project = childProject({ model, entries: ['scribe'], children: { scribe: {} } });
    const effects = new Map([['note', { ...note, name: 'note' }]]);
    const runtime = await testRuntime({ model, registry: { ...project, effects } as typeof project });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the child', async () => (await runtime.store.children.list(threadId)).length);
    await schedule(runtime.client, threadId, 'note');
    await runtime.client.waitForIdle(threadId);
    expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: thanks');
  });
});

describe('runtime §9 messages queued by an effect', () => {
  it('[runtime 9] precede later messages of a person, while the effect still runs', async () => {
    const queued = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const tell = defineEffect('tells', async (state) => {
      await state.queueMessage({ role: 'user', content: 'from the effect' });
      queued.resolve();
      await gate.promise;
    });
    const runtime = await testRuntime({ model: scriptedModel(() => says('both')), effects: { tell } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'tell');
    await queued.promise;
    await runtime.client.queueMessage(thread, { content: 'from a person' });
    await isHeard(runtime, thread);
    gate.resolve();
    await ended(runtime, thread, 1);
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toEqual([
      'user: from the effect',
      'user: from a person',
      'assistant: both',
    ]);
  });

  it('[runtime 9] start a step before the next due effect', async () => {
    const tell = defineEffect('tells', (state) => state.queueMessage({ role: 'user', content: 'hi' }));
    const note = defineEffect('notes', () => undefined);
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]), effects: { tell, note } });
    const thread = await runtime.start();
    for (const name of ['tell', 'note'])
      await runtime.store.effects.schedule(thread, { id: name, name, args: {}, delayMs: 0 });
    await runtime.client.wakeForEffects(thread, 0);
    await ended(runtime, thread, 2);
    await runtime.client.waitForIdle(thread);
    expect(await orderOf(runtime, thread)).toEqual([
      'effect.started',
      'effect.done',
      'step.started',
      'step.committed',
      'effect.started',
      'effect.done',
    ]);
  });
});
