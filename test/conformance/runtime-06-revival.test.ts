/** runtime §3.7, §6, §9: a run that revives a killed thread judges its last step, and obeys the stop that began it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { closeAfterTest, eventually, testRuntime, testStore } from '../support/runtime.ts';

describe('a stop of a thread whose workflow is not running', () => {
  it('revives a killed thread to stop it, and queued items wait for the next user message', async () => {
    const model = scriptedModel([hangs(), says('all three')]);
    const { client, store, ...runtime } = await testRuntime({ model });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    await eventually('the model is asked', () => model.requests.length === 1);
    await client.queueMessage(threadId, { content: 'two' });
    await eventually('the next is stored', async () => (await store.queue.count(threadId)) === 1);
    await client.temporal.workflow.getHandle(`thread/${threadId}`).terminate('by an operator');
    await client.stop(threadId, 'enough');
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped', stopReason: 'enough' });
    expect(await store.queue.count(threadId)).toBe(1);
    expect(model.requests).toHaveLength(1);
    await runtime.say(threadId, 'three');
    expect((await runtime.transcript(threadId)).slice(-3)).toEqual([
      'user: two',
      'user: three',
      'assistant: all three',
    ]);
  });

  it('of a thread that no worker has opened: no model is called before the next message', async () => {
    const store = await testStore();
    const taskQueue = `test-${randomUUID()}`;
    const early = await RuntimeClient.connect({ store, taskQueue });
    closeAfterTest(() => early.close());
    const { threadId } = await early.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    await early.stop(threadId);
    const model = scriptedModel([says('both')]);
    const { client, ...runtime } = await testRuntime({ model, store, taskQueue });
    await eventually('the stop', async () => (await store.threads.get(threadId))?.status === 'stopped');
    await client.waitForIdle(threadId);
    expect(model.requests).toHaveLength(0);
    await runtime.say(threadId, 'two');
    expect(await runtime.transcript(threadId)).toEqual(['user: one', 'user: two', 'assistant: both']);
  });

  it('without a running worker: a wait for idle does not take the old state for stopped', async () => {
    const { client, stopWorker, ...runtime } = await testRuntime({ model: scriptedModel([says('hello')]) });
    const thread = await runtime.start('hi');
    await stopWorker();
    expect(await client.waitForIdle(thread, { timeoutMs: 1000 })).toMatchObject({ status: 'idle' });
    await client.stop(thread);
    await expect(client.waitForIdle(thread, { timeoutMs: 1000 })).rejects.toMatchObject({ code: 'Timeout' });
    await testRuntime({ model: scriptedModel([]), store: runtime.store, taskQueue: runtime.taskQueue });
    expect(await client.waitForIdle(thread)).toMatchObject({ status: 'stopped' });
  });
});

describe('runtime §3.7, §6 a stored step whose stop rules were not evaluated before its run was killed', () => {
  it('[runtime 3.7] is evaluated by the next run before the message that revived the thread is taken', async () => {
    const finish = defineTool({
      description: 'ends the session',
      execute: () => ({ status: 'success', result: 'finished' }),
    });
    const model = scriptedModel([calls('finish'), says('anew')]);
    const [stored, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const seen: string[] = [];
    const { client, store, ...runtime } = await hookRuntime({
      model,
      tools: { finish },
      side: { sessionStop: 'finish' },
      hooks: {
        before_create_message: (_state, { role, content }) =>
          void (role === 'user' && seen.push(String(content))),
      },
      options: {
        probe: async (point) => {
          if (point !== 'tool_committed') return;
          stored.resolve();
          await goOn.promise;
        },
      },
    });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await stored.promise;
    await client.temporal.workflow.getHandle(`thread/${threadId}`).terminate('by an operator');
    goOn.resolve();
    await runtime.say(threadId, 'again');
    const events = await store.events.read(threadId, 0);
    expect(events.flatMap(({ type, data }) => (type === 'execution.ended' ? [data.reason] : []))).toEqual([
      'session_stop',
      'stop_on_response',
    ]);
    expect((await runtime.transcript(threadId)).slice(-3)).toEqual([
      'tool finish success: finished',
      'user: again',
      'assistant: anew',
    ]);
    expect(seen).toEqual(['go', 'again']);
  });
});
