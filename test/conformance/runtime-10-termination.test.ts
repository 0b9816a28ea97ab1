/** runtime §10: a terminated thread stays terminated, whatever is sent to it. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

describe('runtime §10 Termination', () => {
  it('[runtime 10] sets the time of termination, ends the workflow as completed, and keeps the history readable', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const thread = await runtime.start('hi');
    await runtime.client.terminate(thread, 'done with it');
    const record = await runtime.client.waitForIdle(thread);
    expect(record).toMatchObject({ status: 'terminated', stopReason: 'done with it' });
    expect(record.terminatedAt).toBeGreaterThan(record.createdAt);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
    expect(await runtime.transcript(thread)).toEqual(['user: hi', 'assistant: hello']);
  });

  it('[runtime 10] rejects every further command with a code', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const thread = await runtime.start();
    await runtime.client.terminate(thread);
    await runtime.client.waitForIdle(thread);
    const refused = { code: 'ThreadTerminated' };
    await expect(runtime.client.queueMessage(thread, { content: 'x' })).rejects.toMatchObject(refused);
    await expect(runtime.client.sendMessage(thread, { content: 'x' })).rejects.toMatchObject(refused);
    await expect(runtime.client.queueTool(thread, { name: 'x' })).rejects.toMatchObject(refused);
    await expect(runtime.client.stop(thread)).rejects.toMatchObject(refused);
    await expect(runtime.client.startThread({ agent: 'helper', threadId: thread })).rejects.toMatchObject(
      refused,
    );
    await runtime.client.terminate(thread);
  });

  it('[runtime 10] what follows a termination is refused at once, also where no worker is there to hear of it', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]), fresh: true });
    const thread = await runtime.start();
    await runtime.stopWorker();
    const { client } = runtime;
    const unopened = await client.startThread({ agent: 'helper' });
    for (const id of [thread, unopened.threadId]) {
      await client.terminate(id, 'done with it');
      for (const command of [
        () => client.queueMessage(id, { content: 'x' }),
        () => client.queueTool(id, { name: 'x' }),
        () => client.stop(id),
      ])
        await expect(command()).rejects.toMatchObject({ code: 'ThreadTerminated' });
    }
    const other = await connectPatiently({ store: runtime.store, taskQueue: runtime.taskQueue });
    await expect(other.queueMessage(thread, { content: 'x' })).rejects.toMatchObject({
      code: 'ThreadTerminated',
    });
    await other.close();
    expect(await client.getThread(thread)).toMatchObject({
      status: 'terminated',
      stopReason: 'done with it',
    });
  });

  it('[runtime 10] a thread started again by hand under a spent id ends at once and stores nothing', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const thread = await runtime.start();
    await runtime.client.terminate(thread);
    await runtime.client.waitForIdle(thread);
    await runtime.client.temporal.workflow.getHandle(`thread/${thread}`).result();
    const again = await runtime.client.temporal.workflow.start('thread', {
      workflowId: `thread/${thread}`,
      taskQueue: runtime.taskQueue,
      args: [{ agent: 'helper', messages: [{ content: 'anybody there?' }] }],
    });
    expect(await again.result()).toEqual({ outcome: 'terminated' });
    expect(await runtime.messages(thread)).toEqual([]);
  });

  it('[runtime 10] aborts work in flight and leaves no call without a result', async () => {
    const signal = Promise.withResolvers<AbortSignal>();
    const wait = defineTool({
      description: 'waits',
      execute: async (state) => {
        signal.resolve(state.execution?.abortSignal as AbortSignal);
        return new Promise(() => undefined);
      },
    });
    const runtime = await testRuntime({ model: scriptedModel([calls('wait', {})]), tools: { wait } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const abortSignal = await signal.promise;
    await runtime.client.terminate(threadId);
    await runtime.client.waitForIdle(threadId);
    await eventually('the tool is told to stop', () => abortSignal.aborted);
    expect((await runtime.transcript(threadId)).at(-1)).toBe(
      'tool wait error: Failed to execute tool: stopped',
    );
  });
});
