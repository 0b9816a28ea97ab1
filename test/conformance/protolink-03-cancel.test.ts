/** Cancelled executions on the engine (docs/governance.md): every entry point, whatever runs, also a lost worker. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { begin, untilStreaming, workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRuntime, RESUMABLE } from '../support/subagent-project.ts';
import { codeOf } from '../support/tool-work.ts';

/** A tool that works until it is aborted, and would commit after that. */
function slowTool() {
  const begun = Promise.withResolvers<void>();
  const committed: string[] = [];
  const tool = defineTool({
    description: 'works for long',
    execute: async ({ execution }: ThreadState) => {
      begun.resolve();
      const aborted = Promise.withResolvers<void>();
      execution?.abortSignal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      execution?.throwIfCancelled();
      committed.push('done');
      return { status: 'success', result: 'done' };
    },
  });
  return { tool, begun: begun.promise, committed };
}

const ends = async ({ store }: TestRuntime, threadId: string) =>
  (await store.events.read(threadId, 0)).filter(
    ({ type }) => type === 'execution.ended' || type === 'step.failed',
  );

describe('cancelling an execution', () => {
  it('[PL-12] aborts a slow tool: one end, the reason everywhere, no error, and nothing committed', async () => {
    const slow = slowTool();
    const runtime = await testRuntime({
      model: scriptedModel([calls('slow'), says('next')]),
      tools: { slow: slow.tool },
    });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await slow.begun;
    const canceled = await client.cancelExecution(threadId, { reason: 'enough', by: 'ada' });
    expect(canceled).toMatchObject({
      canceled: { reason: 'enough', by: 'ada' },
      context: { canceled: true },
    });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped', stopReason: 'canceled' });
    expect(await ends(runtime, threadId)).toMatchObject([
      { data: { executionId: canceled.id, reason: 'canceled', cancelReason: 'enough', by: 'ada' } },
    ]);
    expect(await client.getExecution(threadId)).toMatchObject({
      stopReason: 'canceled',
      context: { canceled: true, cancelReason: 'enough' },
    });
    expect(await client.runs.list({ threadId })).toMatchObject([{ id: canceled.id, state: 'canceled' }]);
    const told = [];
    for await (const { event } of client.events(threadId, { as: 'run', follow: false })) told.push(event);
    expect(told.at(-1)).toMatchObject({
      final: true,
      payload: { new_state: 'canceled', metadata: { cancel_reason: 'enough' } },
    });
    expect(slow.committed).toEqual([]);
    await runtime.say(threadId, 'and now?');
    expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: next');
  });

  it('[PL-13] keeps the first reason, and reports an unknown, ended or different execution', async () => {
    const slow = slowTool();
    const runtime = await testRuntime({ model: scriptedModel([calls('slow')]), tools: { slow: slow.tool } });
    const { client } = runtime;
    const fresh = await runtime.start();
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await slow.begun;
    const handle = workflowOf(runtime, threadId);
    const byUpdate = (request: object) =>
      handle.executeUpdate('cancelExecution', { args: [request] }).catch((error) => error.cause?.type);
    expect(await byUpdate({ executionId: 'another' })).toBe('ExecutionNotFound');
    const first = await byUpdate({ reason: 'first', by: 'ada' });
    expect(first).toMatchObject({ reason: 'first', by: 'ada' });
    const told = await codeOf(() => client.cancelExecution(threadId, { reason: 'second' }));
    // The second request arrived either during the cancellation or after its end.
    if (told !== 'ExecutionNotCancelable')
      expect(told).toMatchObject({ returned: { canceled: { reason: 'first' } } });
    await client.waitForIdle(threadId);
    expect(await client.getExecution(threadId)).toMatchObject({ canceled: { reason: 'first', by: 'ada' } });
    expect(await byUpdate({})).toBe('ExecutionNotCancelable');
    expect(await codeOf(() => client.cancelExecution(threadId))).toBe('ExecutionNotCancelable');
    expect(await codeOf(() => client.cancelExecution(fresh))).toBe('ExecutionNotFound');
    expect(await codeOf(() => client.cancelExecution('nobody'))).toBe('ThreadNotFound');
    expect(await codeOf(() => client.cancelExecution(threadId, { reason: '' }))).toBe('InvalidValue');
  });

  it('[PL-12] during the first answer leaves the thread in that state, even with input still queued', async () => {
    const runtime = await testRuntime({ model: scriptedModel([hangs({ after: 'I am' }), says('next')]) });
    const { client } = runtime;
    const thread = await begin(runtime, 'go');
    await untilStreaming(runtime, thread);
    await client.cancelExecution(thread, { reason: 'enough' });
    expect(await client.waitForIdle(thread)).toMatchObject({ status: 'stopped', stopReason: 'canceled' });
    expect(await ends(runtime, thread)).toMatchObject([{ data: { reason: 'canceled' } }]);
    await eventually('its workflow', async () => {
      const shown = await askStatus(workflowOf(runtime, thread));
      return shown.status === 'stopped' && shown.stopReason === 'canceled';
    });
    await runtime.say(thread, 'and now?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant: I am',
      'user: and now?',
      'assistant: next',
    ]);
  });

  it('[PL-13] tells a second start that a cancellation is under way, with its reason', async () => {
    const slow = slowTool();
    const runtime = await testRuntime({ model: scriptedModel([calls('slow')]), tools: { slow: slow.tool } });
    const { client } = runtime;
    const again = (threadId: string) =>
      codeOf(() => client.startThread({ agent: 'helper', threadId, messages: [{ content: 'go' }] }));
    const threadId = await begin(runtime, 'go');
    await slow.begun;
    const { id } = await client.getExecution(threadId);
    await expect(client.startThread({ agent: 'helper', threadId })).rejects.toMatchObject({
      code: 'ExecutionRunning',
      message: expect.stringContaining(`"${id}" has not ended`),
    });
    await client.cancelExecution(threadId);
    await client.waitForIdle(threadId);
    expect(await again(threadId)).toBe('InvalidStart');
  });

  it('[PL-12] by a plain signal lets other queued items continue', async () => {
    const slow = slowTool();
    const runtime = await testRuntime({
      model: scriptedModel([calls('slow'), says('to the second')]),
      tools: { slow: slow.tool },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'one' }],
    });
    await slow.begun;
    await runtime.client.queueMessage(threadId, { content: 'two' });
    await workflowOf(runtime, threadId).signal('cancelExecution', { reason: 'by hand' });
    await eventually('the answer', async () =>
      (await runtime.transcript(threadId)).includes('assistant: to the second'),
    );
    await runtime.client.waitForIdle(threadId);
    expect((await runtime.client.listExecutions({ threadId })).map(({ stopReason }) => stopReason)).toEqual([
      'stop_on_response',
      'canceled',
    ]);
  });

  it('[PL-15] by a context that arrives canceled calls no model, runs no tool, and ends once', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('to the third')]) });
    const { client } = runtime;
    const { threadId } = await client.startThread({
      agent: 'helper',
      context: { canceled: true, cancelReason: 'never mind' },
      messages: [{ content: 'go' }],
    });
    await eventually('its end', async () => (await ends(runtime, threadId)).length > 0);
    await client.waitForIdle(threadId);
    await client.queueMessage(threadId, { content: 'go', context: { runId: 'r-2', canceled: true } });
    await client.waitForIdle(threadId);
    expect(await ends(runtime, threadId)).toMatchObject([
      { type: 'execution.ended', data: { reason: 'canceled', cancelReason: 'never mind' } },
      { type: 'execution.ended', data: { reason: 'canceled' } },
    ]);
    await runtime.say(threadId, 'now');
    expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: to the third');
  });

  it('[PL-16] continues if the run is lost between the request and its end', async () => {
    const slow = slowTool();
    const runtime = await testRuntime({
      model: scriptedModel([calls('slow')]),
      tools: { slow: slow.tool },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await slow.begun;
    await workflowOf(runtime, threadId).terminate();
    await runtime.client.cancelExecution(threadId, { reason: 'enough' });
    await eventually('its end', async () => (await ends(runtime, threadId)).length > 0);
    expect(await ends(runtime, threadId)).toMatchObject([
      { type: 'execution.ended', data: { reason: 'canceled', cancelReason: 'enough' } },
    ]);
    expect(slow.committed).toEqual([]);
  });

  it('[PL-12] reaches the subagents of the execution, with its reason', async () => {
    const slow = slowTool();
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x')), says('ok')],
      scout_a: [calls('slow')],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE }],
      tools: { slow: slow.tool },
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['slow', 'finish'] } },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await slow.begun;
    await runtime.client.cancelExecution(threadId, { reason: 'enough' });
    await runtime.client.waitForIdle(threadId);
    const [child] = await childrenOf(runtime, threadId);
    const id = child?.threadId as string;
    await eventually('the end of the child', async () => (await ends(runtime, id)).length > 0);
    expect(await ends(runtime, id)).toMatchObject([{ data: { reason: 'canceled', cancelReason: 'enough' } }]);
    expect(slow.committed).toEqual([]);
  });
});
