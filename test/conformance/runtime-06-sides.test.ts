/** runtime §6: the session of two AI sides on a real thread; the order of its rules: test/core/stop.test.ts. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { askWorkflow } from '../support/ask-workflow.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime } from '../support/runtime.ts';
import { heard, twoSides } from '../support/two-sides.ts';

const finish = defineTool({
  description: 'ends the session',
  args: z.object({ answer: z.string() }),
  execute: () => ({ status: 'success', result: 'finished' }),
});
const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});
const script = (...texts: string[]) => scriptedModel(texts.map((text) => says(text)));
const endless = (text: string) => scriptedModel(() => says(text));

const ends = async ({ store }: TestRuntime, thread: string) =>
  (await store.events.read(thread, 0)).flatMap(({ type, data }) =>
    type === 'execution.ended' ? [data.reason] : [],
  );

const statusOf = (runtime: TestRuntime, thread: string) =>
  askWorkflow<{ activity: string; stopReason: string | null; side?: string }>(
    workflowOf(runtime, thread),
    'status',
  );

describe('runtime §6 Stop Conditions of two sides', () => {
  it('[runtime 6] sessionStop ends the session, and its reason is in the record, the query, the log and the details', async () => {
    const a = scriptedModel([says('a draft'), calls('finish', { answer: 'done' })]);
    const b = script('go on');
    const side = { sessionStop: 'finish' };
    const runtime = await twoSides({ a, b, tools: { finish }, sideA: side, sideB: side });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'session_stop',
      session: { side: 'a', turns: 0 },
    });
    expect(await statusOf(runtime, thread)).toMatchObject({ stopReason: 'session_stop', side: 'a' });
    expect(await ends(runtime, thread)).toEqual(['session_stop']);
    const { currentDetails } = await askWorkflow<{ currentDetails: string }>(
      workflowOf(runtime, thread),
      '__temporal_workflow_metadata',
    );
    expect(currentDetails).toContain('- **stopped by:** session\\_stop');
  });

  it('[runtime 6] sessionFail of side B ends the session', async () => {
    const a = script('a draft');
    const b = scriptedModel([calls('finish', { answer: 'no way' })]);
    const runtime = await twoSides({ a, b, tools: { finish }, sideB: { sessionFail: 'finish' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'session_fail' });
    expect(await ends(runtime, thread)).toEqual(['session_fail']);
  });

  it('[definitions 22.44] a failed session tool ends nothing: the same side acts again', async () => {
    const a = scriptedModel([calls('finish', {}), calls('finish', { answer: 'yes' })]);
    const runtime = await twoSides({ a, b: script(), tools: { finish }, sideA: { sessionStop: 'finish' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'session_stop', lastStep: 2 });
  });

  it('[runtime 6.2] stopTool ends the turn of its side, and its response property is sent to the other one', async () => {
    const b = scriptedModel([says('thinking aloud'), calls('finish', { answer: 'and forty-two' })]);
    const a = script('six by seven', 'thanks');
    const runtime = await twoSides({
      a,
      b,
      tools: { finish },
      sideB: { stopOnResponse: false, stopTool: 'finish', stopToolResponseProperty: 'answer' },
      agent: { maxSessionTurns: 3 },
    });
    const thread = await runtime.start('go');
    expect(heard(a)[1]).toEqual([
      'user: go',
      'assistant: six by seven',
      'user: thinking aloud',
      'user: and forty-two',
    ]);
    expect(await runtime.client.getThread(thread)).toMatchObject({ stopReason: 'max_session_turns' });
  });

  it('[runtime 6.3] stopOnResponse applies to each side separately', async () => {
    const a = script('one', 'two');
    const b = scriptedModel([calls('look'), says('three'), calls('look'), calls('finish', { answer: '' })]);
    const runtime = await twoSides({
      a,
      b,
      tools: { look, finish },
      sideB: { stopOnResponse: true, sessionStop: 'finish' },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).filter((line) => !line.startsWith('tool'))).toEqual([
      'user: go',
      'assistant: one',
      'user:  -> look',
      'user: three',
      'assistant: two',
      'user:  -> look',
      'user:  -> finish',
    ]);
  });

  it('[definitions 12.5] a side without any rule yields after each of its steps', async () => {
    const a = scriptedModel([calls('look'), says('then')]);
    const b = script('I heard nothing', 'now I did');
    const runtime = await twoSides({
      a,
      b,
      tools: { look },
      sideA: { stopOnResponse: false },
      agent: { maxSessionTurns: 4 },
    });
    await runtime.start('go');
    expect(heard(b)[0]).toEqual(['user: Begin.', 'assistant: go']);
    expect(heard(a)[1]).toEqual(['user: go', 'assistant:  -> look', 'tool: seen', 'user: I heard nothing']);
  });

  it('[runtime 6.4] maxSessionTurns counts the turns of both sides, and the next message starts a new session', async () => {
    const a = endless('A');
    const b = endless('B');
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 3 } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      status: 'idle',
      stopReason: 'max_session_turns',
      lastStep: 3,
      session: { side: 'a', turns: 0 },
    });
    await runtime.say(thread, 'again');
    expect(await runtime.client.getThread(thread)).toMatchObject({ lastStep: 6 });
  });

  it('[runtime 6.4] maxSteps of a side ends the execution when that side would act', async () => {
    const a = endless('A');
    const b = script('B');
    const runtime = await twoSides({ a, b, sideB: { maxSteps: 1 } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_side_steps',
      lastStep: 3,
      session: { side: 'b', turns: 3 },
    });
  });

  it('[definitions 14.1] forceTurn keeps the turn or yields it, and execution has the side and its steps', async () => {
    const seen: unknown[] = [];
    const steer = defineTool({
      description: 'steers',
      args: z.object({ to: z.enum(['a', 'b']) }),
      execute: async (state, { to }) => {
        const { currentSide, stepCount, sideAStepCount, sideBStepCount, promptPath } = state.execution ?? {};
        seen.push([currentSide, stepCount, sideAStepCount, sideBStepCount, promptPath]);
        state.execution?.forceTurn(to);
        return { status: 'success', result: 'ok' };
      },
    });
    const a = scriptedModel([calls('steer', { to: 'b' }), says('back again')]);
    const b = scriptedModel([calls('steer', { to: 'b' }), calls('steer', { to: 'a' })]);
    const runtime = await twoSides({
      a,
      b,
      tools: { steer },
      sideB: { stopOnResponse: false },
      agent: { maxSessionTurns: 3 },
    });
    const thread = await runtime.start('go');
    expect(seen).toEqual([
      ['a', 1, 1, 0, ['writer']],
      ['b', 2, 1, 1, ['critic']],
      ['b', 3, 1, 2, ['critic']],
    ]);
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_session_turns',
      lastStep: 4,
    });
  });

  it('[definitions 12.5] stop() of side B ends the session, and names the side that called it', async () => {
    const seen: unknown[] = [];
    const halt = defineTool({
      description: 'stops',
      execute: async (state) => {
        state.execution?.stop();
        seen.push([state.execution?.stopped, state.execution?.stoppedBy]);
        return { status: 'success', result: 'stopped' };
      },
    });
    const b = scriptedModel([calls('halt')]);
    const runtime = await twoSides({ a: script('A'), b, tools: { halt } });
    const thread = await runtime.start('go');
    expect(seen).toEqual([[true, 'b']]);
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'state_stop_session',
      session: { side: 'a', turns: 0 },
    });
    expect(await ends(runtime, thread)).toEqual(['state_stop_session']);
  });

  it('[definitions 12.3] a queued assistant message activates side B, a user message side A', async () => {
    const a = script('A one', 'A two');
    const b = script('B one', 'B two');
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 2 } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    await runtime.client.queueMessage(threadId, { role: 'assistant', content: 'the draft' });
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.transcript(threadId)).toEqual([
      'assistant: the draft',
      'user: B one',
      'assistant: A one',
    ]);
    await runtime.say(threadId, 'once more');
    expect((await runtime.transcript(threadId)).slice(3)).toEqual([
      'user: once more',
      'assistant: A two',
      'user: B two',
    ]);
  });

  it('[definitions 22.40] a message that arrives during a turn decides who acts next', async () => {
    const say = defineTool({
      description: 'queues',
      execute: async (state) => {
        await state.queueMessage({ role: 'assistant', content: 'a word of A' });
        return { status: 'success', result: 'queued' };
      },
    });
    const a = scriptedModel([calls('say'), says('A goes on')]);
    const b = script('B answers');
    const runtime = await twoSides({ a, b, tools: { say }, agent: { maxSessionTurns: 2 } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).filter((line) => !line.startsWith('tool'))).toEqual([
      'user: go',
      'assistant:  -> say',
      'assistant: a word of A',
      'user: B answers',
      'assistant: A goes on',
    ]);
  });

  it('[definitions 12.7] refuses a handoff of a thread with two sides', async () => {
    const clerk = defineAgent({ name: 'clerk', sideA: { prompt: 'writer' } });
    const a = scriptedModel([calls('clerk'), says('then not')]);
    const runtime = await twoSides({
      a,
      b: script(),
      agents: [clerk],
      promptA: { tools: ['clerk'] },
      agent: { maxSessionTurns: 1 },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toMatch(
      /^tool clerk error: .*cannot take over this thread/,
    );
    expect((await runtime.client.getThread(thread)).agent).toBe('helper');
  });

  it('[definitions 9] runs the hooks of the acting side, on its input and on its answer', async () => {
    const seen: string[] = [];
    const watch = (id: string) =>
      defineHook({
        hook: 'before_create_message',
        id,
        execute: async (state, { role, content }) => {
          seen.push(`${id} ${state.execution?.currentSide} ${role}: ${content}`);
          return content === 'B' ? { content: 'B, mended' } : undefined;
        },
      });
    const hooks = [watch('of_a'), watch('of_b')];
    const runtime = await twoSides({
      a: script('A', 'A'),
      b: script('B', 'B'),
      hooks,
      promptA: { hooks: ['of_a'] },
      promptB: { hooks: ['of_b'] },
      agent: { maxSessionTurns: 2 },
    });
    const thread = await runtime.start('go');
    await runtime.client.queueMessage(thread, { role: 'assistant', content: 'the draft' });
    await runtime.client.waitForIdle(thread);
    expect(seen).toEqual([
      'of_a a user: go',
      'of_a a assistant: A',
      'of_b b user: B',
      'of_b b assistant: the draft',
      'of_b b user: B',
      'of_a a assistant: A',
    ]);
    expect((await runtime.messages(thread))[2]).toMatchObject({ role: 'user', content: 'B, mended' });
  });

  it('[decision 0008] stop during a turn of side B keeps its text as that of side B', async () => {
    const a = script('A', 'A again');
    const b = scriptedModel([hangs({ after: 'B had beg' }), says('B')]);
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 3 } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('side B streams', async () =>
      (await runtime.store.events.read(threadId, 0)).some(
        ({ type, step }) => type === 'model.chunk' && step === 2,
      ),
    );
    await runtime.client.stop(threadId, 'enough');
    await runtime.client.waitForIdle(threadId);
    expect((await runtime.messages(threadId)).at(-1)).toMatchObject({
      role: 'user',
      metadata: { stopped: true },
    });
    expect(await runtime.client.getThread(threadId)).toMatchObject({ stopReason: 'enough' });
    await runtime.say(threadId, 'again');
    expect((await runtime.transcript(threadId)).slice(3)).toEqual([
      'user: again',
      'assistant: A again',
      'user: B',
    ]);
  });
});

describe('a session of two sides', () => {
  it('[runtime 6] keeps its side and turns when the workflow continues as new', async () => {
    const a = endless('A');
    const b = endless('B');
    const runtime = await twoSides({
      a,
      b,
      agent: { maxSessionTurns: 15 },
      options: { configuration: { historySoftLimit: 30 } },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({
      stopReason: 'max_session_turns',
      lastStep: 15,
    });
    expect([a.requests.length, b.requests.length]).toEqual([8, 7]);
    const { raw } = await workflowOf(runtime, thread).describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(raw.workflowExecutionInfo?.execution?.runId);
  });

  it('[runtime 6] is the same after Reset to any point', async () => {
    const a = endless('A');
    const b = endless('B');
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 3 } });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    const handle = workflowOf(runtime, thread);
    const { runId } = (await handle.describe()) as { runId: string };
    const { events = [] } = await handle.fetchHistory();
    const tasks = (events ?? []).flatMap(({ eventId, workflowTaskCompletedEventAttributes: completed }) =>
      completed ? [Number(eventId)] : [],
    );
    for (const [lastStep, taskId] of [
      [9, tasks[2]],
      [12, tasks[5]],
      [15, tasks.at(-3)],
    ]) {
      const { temporal } = runtime.client;
      const { runId: next } = await temporal.workflowService.resetWorkflowExecution({
        namespace: process.env.TEMPORAL_NAMESPACE,
        workflowExecution: { workflowId: handle.workflowId, runId },
        reason: 'an operator',
        workflowTaskFinishEventId: taskId as never,
        requestId: randomUUID(),
      });
      await eventually('the new run has found that there is nothing to do', async () => {
        const history = await temporal.workflow.getHandle(handle.workflowId, next).fetchHistory();
        const { activity } = await statusOf(runtime, thread);
        return Number(history.events?.length) > Number(taskId) + 5 && activity.startsWith('waiting');
      });
      await runtime.say(thread, 'once more');
      expect(await runtime.client.getThread(thread)).toMatchObject({
        lastStep,
        stopReason: 'max_session_turns',
        session: { side: 'a', turns: 0 },
      });
    }
  });

  it('[runtime 6] keeps its side and turns when its run was killed and a message revives it', async () => {
    const a = script('A one', 'A two');
    const b = scriptedModel([hangs(), says('B one'), says('B two')]);
    const runtime = await twoSides({ a, b, agent: { maxSessionTurns: 3 } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('side B is asked', () => b.requests.length === 1);
    await workflowOf(runtime, threadId).terminate('by hand');
    expect((await runtime.client.getThread(threadId)).session).toEqual({ side: 'b', turns: 1 });
    await runtime.client.queueTool(threadId, { name: 'none' });
    await runtime.client.waitForIdle(threadId);
    expect((await runtime.transcript(threadId)).filter((line) => !line.startsWith('tool'))).toEqual([
      'user: go',
      'assistant: A one',
      'user:  -> none',
      'user: B one',
      'assistant: A two',
    ]);
    expect(await runtime.client.getThread(threadId)).toMatchObject({ stopReason: 'max_session_turns' });
    await runtime.client.queueMessage(threadId, { role: 'assistant', content: 'new' });
    await eventually('side B is asked again', () => b.requests.length === 3);
    await runtime.client.terminate(threadId);
  });
});
