/** definitions §9 and §12.6: which hooks run within a sub-prompt and around its call; what a reset within one keeps. */
import { describe, expect, it } from '@jest/globals';
import { defineHook } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { begin, gatedTool, workflowOf } from '../support/operator.ts';
import { consulting, deep, promptProject, resultOf, TOPIC, told } from '../support/prompt-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

describe('definitions §12.6 Hooks of called prompts', () => {
  it('[definitions 9] runs the hooks of the prompt on its messages, and those of its caller on its result', async () => {
    const seen: string[] = [];
    const mark = defineHook({
      hook: 'before_create_message',
      id: 'mark',
      execute: async (state, { role, depth, content, parent_id: parent }) => {
        seen.push(`${state.execution?.promptPath} ${role} ${depth} ${parent !== null}`);
        return role === 'user' ? { content: `${content}, marked` } : undefined;
      },
    });
    const after = defineHook({
      hook: 'after_create_message',
      id: 'after',
      execute: (_state, { role, content }) => void seen.push(`stored ${role}: ${content}`),
    });
    const rewrite = defineHook({
      hook: 'after_tool_call_success',
      id: 'rewrite',
      execute: async (_state, call, result) => ({
        ...result,
        result: `${call.function.name}: ${result.result}`,
      }),
    });
    const model = scriptedModel([calls('consult', { topic: 'tea' }), says('Green.'), says('done')]);
    const runtime = await consulting(model, {
      hooks: [mark, after, rewrite],
      main: { hooks: ['rewrite'], tools: [{ name: 'consult', initUserMessageProperty: 'topic' }] },
      consult: { hooks: ['mark', 'after'] },
    });
    const thread = await runtime.start('go');
    expect(seen).toEqual([
      'main,consult user 1 true',
      'stored user: tea, marked',
      'main,consult assistant 1 true',
      'stored assistant: Green.',
    ]);
    expect(told(model.requests[1] as never)).toEqual(['system: You are consult.', 'user: tea, marked']);
    expect(await resultOf(runtime, thread)).toBe('tool consult success: consult: Green.');
    const result = (await runtime.messages(thread)).find(({ role }) => role === 'tool');
    expect((await deep(runtime, thread)).map(({ parent_id: parent }) => parent)).toEqual([
      result?.id,
      result?.id,
    ]);
  });

  it('[definitions 9] passes the hooks of a nested prompt the depth of its messages', async () => {
    const seen: string[] = [];
    const mark = defineHook({
      hook: 'before_create_message',
      id: 'mark',
      execute: (_state, { role, depth }) => void seen.push(`${role} ${depth}`),
    });
    const call = (name: string) => [{ name, initUserMessageProperty: 'topic' }];
    const model = scriptedModel([
      calls('consult', { topic: 'tea' }),
      calls('ponder', { topic: 'leaves' }),
      says('Green.'),
      says('done'),
    ]);
    const registry = promptProject({
      model,
      hooks: [mark],
      main: { tools: call('consult') },
      prompts: {
        consult: { requiredSchema: TOPIC, hooks: ['mark'], tools: call('ponder') },
        ponder: { requiredSchema: TOPIC, hooks: ['mark'] },
      },
    });
    const runtime = await testRuntime({ model, registry });
    await runtime.start('go');
    expect(seen.filter((line) => !line.startsWith('tool'))).toEqual([
      'user 1',
      'assistant 1',
      'user 2',
      'assistant 2',
    ]);
  });

  it('[definitions 9] reports a request refused by a hook to the caller, which continues', async () => {
    const refuse = defineHook({
      hook: 'prefilter_llm_history',
      id: 'refuse',
      execute: () => {
        throw Object.assign(new Error('not about tea'), { block: true });
      },
    });
    const model = scriptedModel([calls('consult', { topic: 'tea' }), says('never mind')]);
    const runtime = await consulting(model, { hooks: [refuse], consult: { hooks: ['refuse'] } });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread)).toMatch(/^tool consult error: .*Blocked: .*not about tea/);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: never mind');
  });
});

describe('a reset within a sub-prompt', () => {
  it('[definitions 12.6] takes over its stored answer, and marks a running call as of unknown outcome', async () => {
    const { tool, runs, open } = gatedTool();
    const model = scriptedModel([calls('consult', { topic: 'x' }), calls('wait'), says('done')]);
    const runtime = await consulting(model, { tools: { wait: tool } });
    const thread = await begin(runtime, 'go');
    await eventually('the tool runs', () => runs.length === 1);
    const workflow = workflowOf(runtime, thread);
    const { events } = await workflow.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    await runtime.client.temporal.workflowService.resetWorkflowExecution({
      namespace: process.env.TEMPORAL_NAMESPACE,
      workflowExecution: { workflowId: `thread/${thread}` },
      reason: 'test',
      requestId: thread,
      workflowTaskFinishEventId: first?.eventId,
    });
    await runtime.client.waitForIdle(thread);
    open();
    expect(await resultOf(runtime, thread)).toMatch(/^tool consult error: .*wait\(\) failed: The outcome/);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
    expect(runs).toHaveLength(1);
    expect((await deep(runtime, thread)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});
