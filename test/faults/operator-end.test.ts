/** Cancel and Terminate in the Web UI: Cancel ends a thread, Terminate only its run (runtime §10). */
import { describe, expect, it } from '@jest/globals';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { begin, gatedTool, statusOf, untilStreaming, workflowOf } from '../support/operator.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

describe('Cancel', () => {
  it('completes an idle thread with the outcome "terminated", as terminate does', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const thread = await runtime.start('hi');
    const handle = workflowOf(runtime, thread);
    await handle.cancel();
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
    expect(await statusOf(runtime, thread)).toBe('terminated');
    await expect(runtime.client.queueMessage(thread, { content: 'again' })).rejects.toMatchObject({
      code: 'ThreadTerminated',
    });
  });

  it('ends a thread during an answer, and keeps the text so far', async () => {
    const runtime = await testRuntime({ model: scriptedModel([hangs({ after: 'Once upon' })]) });
    const thread = await begin(runtime, 'tell');
    await untilStreaming(runtime, thread);
    const handle = workflowOf(runtime, thread);
    await handle.cancel();
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
    expect(await statusOf(runtime, thread)).toBe('terminated');
    expect(await runtime.transcript(thread)).toEqual(['user: tell', 'assistant: Once upon']);
  });
});

describe('Terminate', () => {
  it('ends only the run: the next message revives the thread with its history', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello'), says('still here')]) });
    const thread = await runtime.start('hi');
    await workflowOf(runtime, thread).terminate('an operator');
    await runtime.say(thread, 'are you there?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: hi',
      'assistant: hello',
      'user: are you there?',
      'assistant: still here',
    ]);
  });

  it('while a tool runs leaves an unknown outcome, and the turn continues with the next message', async () => {
    const { tool, runs, open } = gatedTool();
    const model = scriptedModel([calls('gated'), says('I see')]);
    const runtime = await testRuntime({ model, tools: { gated: tool } });
    const thread = await begin(runtime, 'go');
    await eventually('the tool to run', () => runs.length === 1);
    await workflowOf(runtime, thread).terminate('an operator');
    await runtime.say(thread, 'what became of it?');
    open();
    const transcript = await runtime.transcript(thread);
    expect(transcript.filter((line) => line.startsWith('tool '))).toEqual([
      expect.stringMatching(/outcome of this call is unknown/),
    ]);
    expect(transcript.at(-1)).toBe('assistant: I see');
    expect(runs).toHaveLength(1);
    expect(await statusOf(runtime, thread)).toBe('idle');
  });

  it('repeated, with tools queued in between, leaves no call without a result', async () => {
    const { tool, runs, open } = gatedTool();
    const model = scriptedModel([calls('gated'), says('all settled')]);
    const runtime = await testRuntime({ model, tools: { gated: tool } });
    const thread = await begin(runtime, 'go');
    await eventually('the tool to run', () => runs.length === 1);
    await workflowOf(runtime, thread).terminate('an operator');
    await runtime.client.queueTool(thread, { name: 'gated' });
    await eventually('the queued tool to run', () => runs.length === 2);
    await workflowOf(runtime, thread).terminate('an operator');
    await runtime.say(thread, 'now?');
    open();
    const messages = await runtime.messages(thread);
    const asked = messages.flatMap(({ tool_calls: asked }) =>
      asked ? (JSON.parse(asked) as { id: string }[]) : [],
    );
    const answered = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id: id }) => id);
    expect(answered.sort()).toEqual(asked.map(({ id }) => id).sort());
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: all settled');
  });

  it('of a thread already terminated in the store changes nothing: a new start finds it terminated', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('hello')]) });
    const thread = await runtime.start('hi');
    await runtime.client.terminate(thread);
    await workflowOf(runtime, thread).result();
    const before = await runtime.store.events.read(thread, 0);
    const options = { workflowId: `thread/${thread}`, taskQueue: runtime.taskQueue };
    const started = await runtime.client.temporal.workflow.start('thread', {
      ...options,
      args: [{ agent: 'helper', messages: [{ content: 'wake up' }] }],
    });
    expect(await started.result()).toEqual({ outcome: 'terminated' });
    const signalled = await runtime.client.temporal.workflow.signalWithStart('thread', {
      ...options,
      args: [{ agent: 'helper' }],
      signal: 'queueMessage',
      signalArgs: [{ content: 'wake up' }],
    });
    expect(await signalled.result()).toEqual({ outcome: 'terminated' });
    expect(await runtime.store.events.read(thread, 0)).toEqual(before);
    expect(await runtime.transcript(thread)).toEqual(['user: hi', 'assistant: hello']);
  });
});
