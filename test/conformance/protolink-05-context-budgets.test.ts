/** Budgets in the context of a run, on the engine: for one message, for a start, and for a family. */
import { describe, expect, it } from '@jest/globals';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRuntime, RESUMABLE } from '../support/subagent-project.ts';
import { toolOf } from '../support/tool-work.ts';

const denied = { status: 'failed', lastError: { code: 'BudgetExceeded' } };
const look = toolOf(() => 'seen');

describe('budgets of a run context', () => {
  it('[PL-17] a message limits the execution that it starts, and the next one is not limited', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('look'), calls('look'), says('done')]),
      tools: { look },
    });
    const { client } = runtime;
    const thread = await runtime.start();
    await client.queueMessage(thread, { content: 'go', context: { budget: { maxSteps: 1 } } });
    await client.waitForIdle(thread);
    expect(await client.getThread(thread)).toMatchObject(denied);
    expect(await client.getBudget(thread)).toMatchObject([{ limit: 'maxSteps', max: 1, used: 1 }]);
    await runtime.say(thread, 'again');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    expect(await client.getBudget(thread)).toEqual([]);
  });

  it('[PL-17] a start limits every execution, in addition to the agent’s budget', async () => {
    const model = scriptedModel([says('one'), calls('look')]);
    const agent = { budget: { maxSteps: 1, maxToolCalls: 5 } };
    const runtime = await testRuntime({ model, tools: { look }, agent });
    const { client } = runtime;
    const context = { budget: { maxSteps: 4, maxToolCalls: 0 } };
    const { threadId } = await client.startThread({ agent: 'helper', context, messages: [{ content: 'a' }] });
    await client.waitForIdle(threadId);
    await runtime.say(threadId, 'b');
    expect(await client.getThread(threadId)).toMatchObject(denied);
    expect(await client.getBudget(threadId)).toMatchObject([
      { limit: 'maxSteps', max: 1, used: 1 },
      { limit: 'maxToolCalls', max: 0, used: 0 },
    ]);
  });

  it('[PL-17] a subagent is limited by the context of the run that called it', async () => {
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x'))],
      scout_a: [calls('look'), calls('look')],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE, blocking: true }],
      tools: { look },
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['look', 'finish'] } },
    });
    const { client } = runtime;
    const context = { budget: { maxSteps: 3 } };
    const { threadId } = await client.startThread({
      agent: 'helper',
      messages: [{ content: 'go', context }],
    });
    await client.waitForIdle(threadId);
    const [child] = await childrenOf(runtime, threadId);
    expect(await client.getThread(threadId)).toMatchObject(denied);
    expect(await client.getThread(child?.threadId as string)).toMatchObject(denied);
    expect(await client.getBudget(threadId)).toMatchObject([
      { threadId, limit: 'maxSteps', max: 3, used: 3 },
    ]);
  });
});
