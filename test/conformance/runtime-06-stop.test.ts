/** runtime §6: the stop rules of one side, on a real thread; their order is tested in test/core/stop.test.ts. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { openaiCompatible } from '../../src/models/index.ts';
import type { SpillItems } from '../../src/store/message/message-record.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { workflowOf } from '../support/operator.ts';
import { closeAfterTest, eventually, helperRegistry, testRuntime, testStore } from '../support/runtime.ts';

const finish = defineTool({
  description: 'ends the turn',
  args: z.object({ answer: z.string() }),
  execute: () => ({ status: 'success', result: 'finished' }),
});
const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});

describe('runtime §6 Stop Conditions', () => {
  it('[runtime 6.2] stopTool ends the turn, and its response property becomes the answer', async () => {
    const model = scriptedModel([calls('finish', { answer: 'forty-two' })]);
    const side = { stopTool: 'finish', stopToolResponseProperty: 'answer' };
    const runtime = await testRuntime({ model, tools: { finish }, side });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[1]).toBe('assistant: forty-two -> finish');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', stopReason: 'stop_tool' });
  });

  it('[runtime 6.2] a stopTool whose call failed does not stop', async () => {
    const model = scriptedModel([calls('finish', { wrong: true }), says('then in words')]);
    const runtime = await testRuntime({ model, tools: { finish }, side: { stopTool: 'finish' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'stop_on_response' });
  });

  it('[runtime 6.3] stopOnResponse ends the turn at an answer without tool calls', async () => {
    const model = scriptedModel([calls('look', {}, { text: 'looking' }), says('seen it')]);
    const runtime = await testRuntime({ model, tools: { look } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'stop_on_response',
      lastStep: 2,
    });
  });

  it('[runtime 6.4] maxSteps ends an endless execution, and the next message starts a new count', async () => {
    const runtime = await testRuntime({
      model: scriptedModel(() => calls('look', {})),
      tools: { look },
      side: { maxSteps: 3 },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'max_side_steps',
      lastStep: 3,
    });
    await runtime.say(thread, 'more');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_side_steps',
      lastStep: 6,
    });
  });

  it('[runtime 6.4] the hard cap ends an execution without other limits', async () => {
    // No tools, and no history in the request: each step is as cheap as possible.
    const runtime = await testRuntime({
      model: scriptedModel(() => says('and so on')),
      side: { stopOnResponse: false },
      prompt: { includeChat: false },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const thread = await runtime.client.waitForIdle(threadId);
    expect(thread).toMatchObject({ status: 'idle', stopReason: 'max_total_steps', lastStep: 250 });
  });

  it('[decision 0008] stop while a model streams keeps its text, frees the provider, and the next message is answered', async () => {
    // Far more text than is streamed before the stop arrives.
    const text = 'one two three four five six '.repeat(20);
    const model = scriptedModel([says(text, { chunks: 120, chunkDelayMs: 400 }), says('fresh')]);
    const runtime = await testRuntime({ model });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'count' }],
    });
    await eventually('text has streamed', async () => {
      const events = await runtime.store.events.read(threadId, 0);
      return events.filter((event) => event.type === 'model.chunk').length >= 2;
    });
    await runtime.client.stop(threadId, 'enough');
    const thread = await runtime.client.waitForIdle(threadId);
    expect(thread).toMatchObject({ status: 'stopped', stopReason: 'enough' });
    const last = (await runtime.messages(threadId)).at(-1);
    expect(last).toMatchObject({ role: 'assistant', metadata: { stopped: true } });
    expect(text.startsWith(last?.content ?? '?')).toBe(true);
    expect(last?.content?.length).toBeLessThan(text.length);
    await runtime.say(threadId, 'again');
    expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: fresh');
  });

  it('stop closes the socket to the provider, as the provider sees it', async () => {
    const model = scriptedModel([says('word '.repeat(300), { chunks: 300, chunkDelayMs: 400 })]);
    const { url, close } = await model.serve();
    closeAfterTest(close);
    const provider = openaiCompatible({ baseUrl: url, apiKey: 'none' });
    const registry = helperRegistry({ model: { ...model, provider } });
    const runtime = await testRuntime({ registry });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('text has streamed', async () =>
      (await runtime.store.events.read(threadId, 0)).some((event) => event.type === 'model.chunk'),
    );
    await runtime.client.stop(threadId);
    const connection = await eventually('the provider sees the connection closed', () =>
      model.connections.find(({ closedAt }) => closedAt !== null),
    );
    // bench/recovery.ts measures this delay; here it must only be shorter than the answer.
    expect(connection.completed).toBe(false);
  });

  it('stop while a tool runs gives it and the calls after it the result "stopped"', async () => {
    const aborted = Promise.withResolvers<void>();
    const wait = defineTool({
      description: 'waits',
      execute: async (state) => {
        state.execution?.abortSignal.addEventListener('abort', () => aborted.resolve());
        await aborted.promise;
        return { status: 'success', result: 'too late' };
      },
    });
    const model = scriptedModel([calls('wait', {}), says('on we go')]);
    const runtime = await testRuntime({ model, tools: { wait } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the tool runs', async () =>
      (await runtime.store.events.read(threadId, 0)).some((event) => event.type === 'tool.started'),
    );
    await runtime.client.stop(threadId);
    await runtime.client.waitForIdle(threadId);
    await aborted.promise;
    expect((await runtime.transcript(threadId)).at(-1)).toBe(
      'tool wait error: Failed to execute tool: stopped',
    );
    await runtime.say(threadId, 'next');
    expect((await runtime.transcript(threadId)).filter((line) => line.startsWith('tool'))).toHaveLength(1);
  });

  it('items queued after a stop wait for the next user message', async () => {
    const model = scriptedModel([hangs(), says('all three')]);
    const runtime = await testRuntime({ model, tools: { look } });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }],
    });
    await eventually('the model is asked', () => model.requests.length === 1);
    await runtime.client.stop(threadId);
    await runtime.client.waitForIdle(threadId);
    await runtime.client.queueMessage(threadId, { role: 'assistant', content: 'a note' });
    await runtime.client.queueTool(threadId, { name: 'look' });
    await eventually('both are parked', async () => {
      return (await askStatus(workflowOf(runtime, threadId))).queued >= 2;
    });
    expect(model.requests).toHaveLength(1);
    await runtime.say(threadId, 'three');
    expect(await runtime.transcript(threadId)).toEqual([
      'user: one',
      'assistant: a note',
      'assistant:  -> look',
      'user: three',
      'tool look success: seen',
      'assistant: all three',
    ]);
  });

  it('a stopped thread is not idle while a message to it is on its way', async () => {
    const store = await testStore();
    const model = scriptedModel([hangs(), says('both')]);
    const first = await testRuntime({ model, store });
    const { client, taskQueue } = first;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'one' }] });
    await eventually('the model is asked', () => model.requests.length === 1);
    await client.queueMessage(threadId, { content: 'two' });
    await eventually('it is stored', async () => (await first.messages(threadId)).length === 2);
    await client.stop(threadId);
    await client.waitForIdle(threadId);
    await first.stopWorker();
    await client.queueMessage(threadId, { content: 'three' });
    // The next worker receives the wait for rest together with the message. The message is in line behind stored rows,
    // so it is spilled to the store first, and only then does the thread run.
    const waiting = client.waitForIdle(threadId);
    await delay(300);
    const slow = {
      ...store,
      queue: {
        ...store.queue,
        spill: (command: SpillItems) => delay(500).then(() => store.queue.spill(command)),
      },
    };
    await testRuntime({ model, store: slow, taskQueue });
    await waiting;
    expect(await first.transcript(threadId)).toEqual([
      'user: one',
      'user: two',
      'user: three',
      'assistant: both',
    ]);
  });
});
