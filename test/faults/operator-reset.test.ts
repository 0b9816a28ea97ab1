/** Reset in the Web UI: a new run takes over a store that is ahead of it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { begin, gatedTool, workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

describe('Reset', () => {
  it('to any workflow task, before, inside and after a step, neither duplicates nor loses what is stored', async () => {
    const runs: string[] = [];
    const note = defineTool({
      description: 'notes',
      execute: async (state) => ({
        status: 'success',
        result: `note ${runs.push(String(state.idempotencyKey))}`,
      }),
    });
    const model = scriptedModel((request) => {
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      return results < 2
        ? calls('note')
        : says(`answer to ${request.messages.filter(({ role }) => role === 'user').length}`);
    });
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('one');
    await runtime.say(thread, 'two');
    const stored = await runtime.messages(thread);
    const handle = workflowOf(runtime, thread);
    const { runId } = (await handle.describe()) as { runId: string };
    const history = await handle.fetchHistory();
    for (const taskId of workflowTasks(history)) {
      await reset(runtime, thread, runId, taskId);
      await runtime.client.waitForIdle(thread);
      expect(await runtime.messages(thread)).toEqual(stored);
    }
    expect(runs).toHaveLength(2);
    await runtime.say(thread, 'three');
    expect(await runtime.transcript(thread)).toEqual([
      ...(await linesOf(runtime, thread, stored.length)),
      'user: three',
      'assistant: answer to 3',
    ]);
    expect((await runtime.messages(thread)).slice(0, stored.length)).toEqual(stored);
  });

  it('while a tool runs stores one result for its call, and the body does not run again', async () => {
    const { tool, runs, open } = gatedTool();
    const model = scriptedModel([calls('gated'), says('I see')]);
    const runtime = await testRuntime({ model, tools: { gated: tool } });
    const thread = await begin(runtime, 'go');
    await eventually('the tool to run', () => runs.length === 1);
    const handle = workflowOf(runtime, thread);
    const { runId } = (await handle.describe()) as { runId: string };
    // Reset to the workflow task that received the model's answer: the new run dispatches the call again.
    await reset(runtime, thread, runId, workflowTasks(await handle.fetchHistory()).at(-1) as number);
    await runtime.client.waitForIdle(thread);
    open();
    const transcript = await runtime.transcript(thread);
    expect(transcript).toEqual([
      'user: go',
      'assistant:  -> gated',
      expect.stringContaining('unknown'),
      'assistant: I see',
    ]);
    expect(runs).toHaveLength(1);
  });

  it('while a model answers repeats the request, and the first answer is refused', async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel(async (_request, index) => {
      if (index === 0) await gate.promise;
      return says(`answer ${index + 1}`);
    });
    const runtime = await testRuntime({ model });
    const thread = await begin(runtime, 'go');
    await eventually('the model to be asked', () => model.requests.length === 1);
    const handle = workflowOf(runtime, thread);
    const { runId } = (await handle.describe()) as { runId: string };
    await reset(runtime, thread, runId, workflowTasks(await handle.fetchHistory())[0] as number);
    await runtime.client.waitForIdle(thread);
    gate.resolve();
    await runtime.say(thread, 'more');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant: answer 2',
      'user: more',
      'assistant: answer 3',
    ]);
  });
});

type History = Awaited<ReturnType<ReturnType<typeof workflowOf>['fetchHistory']>>;

/** Event ids of a run's completed workflow tasks, oldest first: the points that the Web UI offers for a reset. */
function workflowTasks(history: History): number[] {
  const completed = (history.events ?? []).filter(
    ({ workflowTaskCompletedEventAttributes: attributes }) => attributes,
  );
  return completed.map(({ eventId }) => Number(eventId));
}

async function reset(
  runtime: TestRuntime,
  thread: string,
  runId: string,
  workflowTaskFinishEventId: number,
): Promise<void> {
  const { temporal } = runtime.client;
  await temporal.workflowService.resetWorkflowExecution({
    namespace: process.env.TEMPORAL_NAMESPACE,
    workflowExecution: { workflowId: `thread/${thread}`, runId },
    reason: 'an operator',
    requestId: randomUUID(),
    workflowTaskFinishEventId: workflowTaskFinishEventId as never,
  });
}

async function linesOf(runtime: TestRuntime, thread: string, count: number): Promise<string[]> {
  return (await runtime.transcript(thread)).slice(0, count);
}
