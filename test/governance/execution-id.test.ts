/** Items that name the execution that they begin (core/thread/execution-id.ts). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

/** A tool that holds its first execution until it is released, and records in which executions it runs. */
function holding() {
  const gate = Promise.withResolvers<void>();
  const seen: (string | undefined)[] = [];
  const hold = defineTool({
    description: 'holds',
    execute: async (state) => {
      seen.push(state.execution?.flowId);
      if (seen.length === 1) await gate.promise;
      return { status: 'success', result: 'held' };
    },
  });
  return { hold, seen, letGo: gate.resolve };
}

describe('an item with an executionId', () => {
  it('[PL-15] is cancelled while it is queued: the running execution continues, and it ends as canceled without a step', async () => {
    const { hold, seen, letGo } = holding();
    const model = scriptedModel([calls('hold', {}), says('one')]);
    const runtime = await testRuntime({ model, tools: { hold } });
    const { client, store, transcript } = runtime;
    const executionId = `run-${randomUUID()}`;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'first' }] });
    await eventually('the tool', async () => seen.length === 1);
    await client.queueMessage(threadId, { content: 'second', executionId });
    await eventually('the item in line', async () => (await store.queue.count(threadId)) === 1);
    expect(await client.cancelExecution(threadId, { executionId, reason: 'enough' })).toMatchObject({
      id: executionId,
      endedAt: null,
      canceled: { reason: 'enough' },
    });
    const handle = workflowOf(runtime, threadId);
    const told = await handle.executeUpdate('cancelExecution', { args: [{ executionId, reason: 'later' }] });
    expect(told).toMatchObject({ reason: 'enough' });
    letGo();
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual([
      'user: first',
      'assistant:  -> hold',
      'tool hold success: held',
      'assistant: one',
      'user: second',
    ]);
    expect(await client.getExecution(threadId, executionId)).toMatchObject({ stopReason: 'canceled' });
    expect(await client.getExecution(threadId, seen[0])).toMatchObject({ canceled: null });
  });

  it('is the execution of the calls that its first step runs itself', async () => {
    const seen: (string | undefined)[] = [];
    const look = defineTool({
      description: 'looks',
      quick: true,
      execute: async ({ execution }) => {
        seen.push(execution?.flowId);
        return { status: 'success', result: 'seen' };
      },
    });
    const model = scriptedModel([calls('look', {}), says('done')]);
    const runtime = await testRuntime({ model, tools: { look } });
    const executionId = `run-${randomUUID()}`;
    const thread = await runtime.start();
    await runtime.client.queueMessage(thread, { content: 'go', executionId });
    await runtime.client.waitForIdle(thread);
    expect(seen).toEqual([executionId]);
  });

  it('waits until the thread is idle, starts that execution alone, and is answered once however often it is sent', async () => {
    const { hold, seen, letGo } = holding();
    const model = scriptedModel([calls('hold', {}), says('one'), calls('hold', {}), says('two')]);
    const { client, store, transcript } = await testRuntime({ model, tools: { hold } });
    const executionId = `run-${randomUUID()}`;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'first' }] });
    await eventually('the tool', async () => seen.length === 1);
    const named = { content: 'second', executionId };
    const sent = await client.queueMessage(threadId, named);
    expect(sent.id).toMatch(/^x-[0-9a-f]{40}$/);
    expect(await client.queueMessage(threadId, named)).toEqual(sent);
    await expect(client.queueMessage(threadId, { ...named, content: 'other' })).rejects.toMatchObject({
      code: 'ExecutionConflict',
    });
    await expect(client.queueMessage(threadId, { ...named, executionId: 'a b' })).rejects.toMatchObject({
      code: 'InvalidMessage',
    });
    await eventually('the item in line', async () => (await store.queue.count(threadId)) === 1);
    letGo();
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual([
      'user: first',
      'assistant:  -> hold',
      'tool hold success: held',
      'assistant: one',
      'user: second',
      'assistant:  -> hold',
      'tool hold success: held',
      'assistant: two',
    ]);
    expect(seen[1]).toBe(executionId);
    const started: string[] = [];
    for await (const event of client.events(threadId, { follow: false }))
      if (event.type === 'execution.started') started.push(event.data.executionId);
    expect(started).toEqual([seen[0], executionId]);
    // Sent again: the item is already there, and no execution begins.
    expect(await client.queueMessage(threadId, named)).toEqual(sent);
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
  });

  it('is accepted from a plain signal as well, and a conflict is logged', async () => {
    const {
      client,
      transcript,
      taskQueue: _,
    } = await testRuntime({ model: scriptedModel([says('one'), says('two')]) });
    const executionId = `run-${randomUUID()}`;
    const { threadId } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'first', executionId }],
    });
    await client.waitForIdle(threadId);
    const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
    await handle.signal('queueMessage', { id: 'other', content: 'else', executionId });
    await handle.signal('queueMessage', { content: 'second' });
    await eventually('the answer', async () => (await transcript(threadId)).includes('assistant: two'));
    expect(await transcript(threadId)).toEqual([
      'user: first',
      'assistant: one',
      'user: second',
      'assistant: two',
    ]);
    const rejected: string[] = [];
    for await (const event of client.events(threadId, { follow: false }))
      if (event.type === 'item.rejected') rejected.push(`${event.data.id} ${event.data.code}`);
    expect(rejected).toEqual(['other ExecutionConflict']);
  });
});
