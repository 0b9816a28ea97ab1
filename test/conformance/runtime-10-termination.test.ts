/** runtime §10: a terminated thread stays terminated, whatever is sent to it. */
import { describe, expect, it } from '@jest/globals';
import type { HookDefinition } from '../../src/core/author/hook.ts';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { call, message, openThread } from '../contract/thread-driver.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';
import { codeOf } from '../support/tool-work.ts';

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

  it('[runtime 10] commands after a termination are refused at once, even without a worker', async () => {
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

  it('[runtime 10] a thread started again under a used id ends at once and stores nothing', async () => {
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

  it('[runtime 10] aborts running work and leaves no call without a result', async () => {
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

  it('[runtime 10] aborts a model request, which is not repeated', async () => {
    const model = scriptedModel([hangs({ after: 'I think' })]);
    const asked = Promise.withResolvers<AbortSignal>();
    const provider: typeof model.provider = (config) => {
      const own = model.provider(config);
      return {
        ...own,
        stream: (request) => {
          if (request.signal) asked.resolve(request.signal);
          return own.stream(request);
        },
      };
    };
    const runtime = await testRuntime({ model: { ...model, provider } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const abortSignal = await asked.promise;
    await runtime.client.terminate(threadId);
    await runtime.client.temporal.workflow.getHandle(`thread/${threadId}`).result();
    await eventually('the request is aborted', () => abortSignal.aborted);
    expect(model.requests).toHaveLength(1);
  });

  it('[runtime 10] a tool that terminates its thread keeps its result, and nothing else starts', async () => {
    const ran: string[] = [];
    const seen: Record<string, unknown> = {};
    const other = defineTool({
      description: 'other',
      execute: async () => ({ status: 'success', result: `${ran.push('other')}` }),
    });
    const end = defineTool({
      description: 'ends the thread',
      execute: async (state) => {
        const begun = state.runCode('export default new Promise(() => {})');
        await state.terminate();
        seen.begun = (await begun).status;
        seen.later = (await state.runCode('export default 1')).status;
        seen.aborted = state.execution?.abortSignal.aborted;
        for (const [name, work] of Object.entries({
          invokeTool: () => state.invokeTool('other', {}),
          queueTool: () => state.queueTool('other', {}),
          queueMessage: () => state.queueMessage({ content: 'more' }),
        }))
          seen[name] = await codeOf(work);
        return { status: 'success', result: 'bye' };
      },
    });
    const model = scriptedModel([callsMany([{ name: 'end' }, { name: 'other' }])]);
    const runtime = await testRuntime({ model, tools: { end, other } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.temporal.workflow.getHandle(`thread/${threadId}`).result();
    expect(seen).toEqual({
      begun: 'terminated',
      later: 'terminated',
      aborted: true,
      invokeTool: 'ThreadTerminated',
      queueTool: 'ThreadTerminated',
      queueMessage: 'ThreadTerminated',
    });
    expect(ran).toEqual([]);
    expect(model.requests).toHaveLength(1);
    await eventually('its own result', async () =>
      (await runtime.transcript(threadId)).includes('tool end success: bye'),
    );
    expect((await runtime.transcript(threadId)).slice(-2)).toEqual([
      'tool end success: bye',
      'tool other error: Failed to execute tool: stopped',
    ]);
  });

  it('[runtime 10] a call that terminates its thread and is then lost keeps the result "stopped"', async () => {
    const store = await testStore();
    const thread = await openThread(store);
    const { step } = await thread.answer([message('go')], { toolCalls: [call('c', 'end')] });
    await thread.beginTool(step, 0);
    await store.threads.terminate(thread.id, 'state.terminate', { step, index: 0 });
    const texts = async () =>
      (await store.messages.list(thread.id, {})).messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content);
    expect(await texts()).toEqual(['Failed to execute tool: stopped']);
    expect(await thread.commitTool(step, 0)).toMatchObject({ kind: 'terminated' });
    expect(await texts()).not.toEqual(['Failed to execute tool: stopped']);
    expect(await texts()).toHaveLength(1);
  });

  it('[runtime 10] a hook that terminates the thread before a request prevents the request', async () => {
    const model = scriptedModel([]);
    const hook = defineHook({
      hook: 'filter_messages',
      id: 'ends',
      execute: async (state) => void (await state.terminate()),
    }) as HookDefinition;
    const runtime = await hookRuntime({ model, hooks: [hook] });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.temporal.workflow.getHandle(`thread/${threadId}`).result();
    expect(model.requests).toHaveLength(0);
    expect(await runtime.transcript(threadId)).toEqual(['user: go']);
  });

  it('[runtime 10] a tool still running after its thread was terminated cannot invoke another', async () => {
    const ran: string[] = [];
    const seen = Promise.withResolvers<unknown>();
    const other = defineTool({
      description: 'other',
      execute: async () => ({ status: 'success', result: `${ran.push('other')}` }),
    });
    const wait = defineTool({
      description: 'goes on regardless',
      execute: async (state) => {
        const { store } = runtime;
        await eventually(
          'the end',
          async () => (await store.threads.get(state.threadId))?.terminatedAt != null,
        );
        seen.resolve(await codeOf(() => state.invokeTool('other', {})));
        return { status: 'success' };
      },
    });
    const runtime = await testRuntime({ model: scriptedModel([calls('wait')]), tools: { wait, other } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the tool', async () =>
      (await runtime.store.events.read(threadId, 0)).some(({ type }) => type === 'tool.started'),
    );
    await runtime.client.terminate(threadId);
    expect(await seen.promise).toBe('ThreadTerminated');
    expect(ran).toEqual([]);
  });
});
