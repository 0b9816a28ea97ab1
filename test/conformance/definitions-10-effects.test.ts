/** definitions §10: due effects fire one after another, between the steps of a thread; how they may begin and end. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineEffect } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { ended, eventsOf, schedule } from '../support/effects.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const reply = scriptedModel(() => says('ok'));
const nothing = defineEffect('does nothing', () => undefined);

describe('definitions §10 Effects: firing', () => {
  it('[runtime 2a] an effect that queues a message starts an idle thread', async () => {
    const remind = defineEffect('reminds', z.object({ text: z.string() }), async (state, { text }) => {
      await state.queueMessage({ role: 'user', content: text });
    });
    const model = scriptedModel([says('well'), says('the tea is ready')]);
    const runtime = await testRuntime({ model, effects: { remind } });
    const thread = await runtime.start('remind me');
    expect((await runtime.client.getThread(thread)).status).toBe('idle');
    await schedule(runtime.client, thread, 'remind', { args: { text: 'tea time' } });
    await eventually('the answer', async () =>
      (await runtime.transcript(thread)).includes('assistant: the tea is ready'),
    );
    await runtime.client.waitForIdle(thread);
    expect((await runtime.transcript(thread)).slice(-2)).toEqual([
      'user: tea time',
      'assistant: the tea is ready',
    ]);
  });

  it('[runtime 2a] an effect that queues a tool starts an idle thread, and the model sees the result', async () => {
    const check = defineEffect('checks', (state) => state.queueTool('look', {}));
    const look = toolOf(async () => 'clear');
    const model = scriptedModel([says('well'), says('the sky is clear')]);
    const runtime = await testRuntime({ model, tools: { look }, effects: { check } });
    const thread = await runtime.start('watch');
    await schedule(runtime.client, thread, 'check');
    await eventually(
      'the answer',
      async () => (await runtime.transcript(thread)).at(-1) === 'assistant: the sky is clear',
    );
    expect((await runtime.transcript(thread)).slice(-3)).toEqual([
      'assistant:  -> look',
      'tool look success: "clear"',
      'assistant: the sky is clear',
    ]);
  });

  it('[definitions 10] an effect that queues nothing starts no execution, and is not shown to the model', async () => {
    const note = defineEffect('notes', (state) => state.setValue('noted', true));
    const plan = toolOf((state) => state.scheduleEffect('note'));
    const runtime = await testRuntime({ model: reply, effects: { note }, tools: { plan } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'note');
    await ended(runtime, thread, 1);
    expect(await runtime.store.values.get(thread, 'noted')).toBe(true);
    expect(await runtime.messages(thread)).toEqual([]);
    expect(await eventsOf(runtime, thread, 'step.started')).toEqual([]);
  });

  it('[definitions 10] messages injected or queued by an effect name it', async () => {
    const speak = defineEffect('speaks', async (state) => {
      await state.injectMessage({ role: 'system', content: 'injected', metadata: { own: 1 } });
      await state.queueMessage({ role: 'user', content: 'queued', silent: true });
    });
    const runtime = await testRuntime({ model: reply, effects: { speak } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'speak', { id: 'e1' });
    await eventually('the answer', async () => (await runtime.messages(thread)).length === 3);
    const scheduledEffect = { id: 'e1', name: 'speak' };
    expect(await runtime.messages(thread)).toMatchObject([
      { content: 'injected', metadata: { own: 1, scheduledEffect } },
      { content: 'queued', silent: true, metadata: { scheduledEffect } },
      { role: 'assistant', content: 'ok' },
    ]);
  });

  it('[definitions 10] fires between the steps of a turn, one after each step', async () => {
    const fire = defineEffect('fires', () => undefined);
    const plan = toolOf(async (state) => {
      for (let n = 0; n < 3; n++) await state.scheduleEffect('fire');
    });
    const look = toolOf(async () => 'clear');
    const model = scriptedModel([calls('plan'), calls('look'), calls('look'), calls('look'), says('done')]);
    const runtime = await testRuntime({ model, tools: { plan, look }, effects: { fire } });
    const thread = await runtime.start('go');
    const order = await eventsOf(runtime, thread, 'step.committed', 'effect.done');
    // The workflow may receive the first effect only after the next step has begun, hence the optional step.
    expect(order.map(({ type }) => type.slice(0, 6)).join(' ')).toMatch(
      /^step.c (step.c )?effect step.c effect step.c effect step.c( step.c)?$/,
    );
  });

  it('[definitions 10] due effects run one after another, the first due first', async () => {
    const order: number[] = [];
    let running = 0;
    const step = defineEffect('steps', z.object({ n: z.number() }), async (_state, { n }) => {
      expect(++running).toBe(1);
      await new Promise(setImmediate);
      running -= 1;
      order.push(n);
    });
    const runtime = await testRuntime({ model: reply, effects: { step } });
    const thread = await runtime.start();
    for (let n = 0; n < 120; n++) {
      await runtime.store.effects.schedule(thread, { id: `e${n}`, name: 'step', args: { n }, delayMs: 0 });
    }
    await runtime.client.wakeForEffects(thread, 0);
    await ended(runtime, thread, 120);
    expect(order).toEqual(Array.from({ length: 120 }, (_, n) => n));
    expect(await eventsOf(runtime, thread, 'effect.failed')).toEqual([]);
  });

  it('[definitions 10] arguments are validated and completed when the effect runs', async () => {
    const given: unknown[] = [];
    const args = z.object({ city: z.string(), unit: z.enum(['C', 'F']).default('C') });
    const weather = defineEffect('tells', args, (_state, each) => void given.push(each));
    const runtime = await testRuntime({ model: reply, effects: { weather } });
    const thread = await runtime.start();
    await schedule(runtime.client, thread, 'weather', { id: 'wrong', args: { city: 7, unit: 'K' } });
    await schedule(runtime.client, thread, 'weather', { id: 'right', args: { city: 'Rome', extra: true } });
    const events = await ended(runtime, thread, 2);
    expect(given).toEqual([{ city: 'Rome', unit: 'C' }]);
    expect(events).toMatchObject([
      {
        type: 'effect.failed',
        data: {
          id: 'wrong',
          error: { code: 'InvalidValue', message: expect.stringMatching(/\[city\] .*; \[unit\] /) },
        },
      },
      { type: 'effect.done', data: { id: 'right' } },
    ]);
  });

  it('[definitions 10] a failing handler is stored as failed, is not retried, and affects nothing else', async () => {
    let tries = 0;
    const fail = defineEffect('fails', async (state) => {
      tries += 1;
      throw new Error(`no ${await state.env('KEY')}`);
    });
    const runtime = await testRuntime({ model: reply, effects: { fail, nothing } });
    const thread = await runtime.start();
    await runtime.client.setEnv({ thread }, 'KEY', 'swordfish-4711');
    for (const name of ['fail', 'gone', 'nothing']) await schedule(runtime.client, thread, name);
    expect(await ended(runtime, thread, 3)).toMatchObject([
      {
        type: 'effect.failed',
        data: { id: 'fail', error: { code: 'EffectFailed', message: 'no [secret KEY]' } },
      },
      { type: 'effect.failed', data: { id: 'gone', error: { code: 'EffectNotFound' } } },
      { type: 'effect.done', data: { id: 'nothing' } },
    ]);
    await runtime.say(thread, 'still there?');
    expect(await runtime.transcript(thread)).toEqual(['user: still there?', 'assistant: ok']);
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
    expect(tries).toBe(1);
  });
});
