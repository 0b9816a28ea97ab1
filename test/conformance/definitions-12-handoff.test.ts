/** definitions §12.7: an agent gives its thread to another one. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, fails, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { workflowOf } from '../support/operator.ts';
import { type PromptProject, promptProject, told } from '../support/prompt-project.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

const CHAT = { includeChat: true, includePastTools: true };

/** The agent "helper" may hand over to "clerk", whose prompt is "clerk_desk". */
async function handing(
  model: ScriptedModel,
  { clerk = {}, ...more }: Partial<PromptProject> & { clerk?: object } = {},
): Promise<TestRuntime> {
  const registry = promptProject({
    model,
    main: { tools: ['clerk'] },
    ...more,
    prompts: { clerk_desk: { ...CHAT, ...clerk }, ...more.prompts },
    agents: { clerk: { title: 'the clerk' }, ...more.agents },
  });
  return testRuntime({ model, registry });
}

const agentOf = async ({ client }: TestRuntime, thread: string) => (await client.getThread(thread)).agent;

async function changes({ store }: TestRuntime, thread: string) {
  const events = await store.events.read(thread, 0);
  return events.filter((event) => event.type === 'thread.agent').map(({ data }) => data);
}

const systems = (model: ScriptedModel) => model.requests.map((request) => told(request)[0]);

describe('definitions §12.7 Handoff', () => {
  it('[definitions 12.7] gives the thread to the called agent after the step, with its history', async () => {
    const model = scriptedModel([calls('clerk'), says('At your service.'), says('Still here.')]);
    const runtime = await handing(model);
    const thread = await runtime.start('a form, please');
    expect(await runtime.transcript(thread)).toEqual([
      'user: a form, please',
      'assistant:  -> clerk',
      'tool clerk success: Handed over to the clerk.',
      'assistant: At your service.',
    ]);
    expect(told(model.requests[1] as never)).toEqual([
      'system: You are clerk_desk.',
      'user: a form, please',
      'assistant:  -> clerk',
      'tool: Handed over to the clerk.',
    ]);
    expect(await agentOf(runtime, thread)).toBe('clerk');
    expect(await changes(runtime, thread)).toEqual([{ from: 'helper', to: 'clerk' }]);
    await runtime.say(thread, 'still there?');
    expect(systems(model)[2]).toBe('system: You are clerk_desk.');
  });

  it('[definitions 12.7] shows the new agent in the query, the search attribute, and a revived workflow', async () => {
    const model = scriptedModel([calls('clerk'), says('yes'), says('revived')]);
    const runtime = await handing(model);
    const thread = await runtime.start('go');
    const workflow = workflowOf(runtime, thread);
    expect(await askStatus(workflow)).toMatchObject({ agent: 'clerk', status: 'idle' });
    expect((await workflow.describe()).searchAttributes).toMatchObject({ AgentId: ['clerk'] });
    await workflow.terminate('by hand');
    await runtime.say(thread, 'are you there?');
    expect(systems(model)[2]).toBe('system: You are clerk_desk.');
    expect(await askStatus(workflowOf(runtime, thread))).toMatchObject({ agent: 'clerk' });
  });

  it('[definitions 12.7] takes the arguments of its prompt, which may show them, and queues its first input', async () => {
    const entry = { name: 'clerk', initUserMessageProperty: 'request', initAttachmentsProperty: 'files' };
    const write = defineTool({
      description: 'writes',
      execute: async (state: ThreadState) => {
        await state.writeFile('/attachments/form.txt', 'x', 'text/plain');
        return { status: 'success', result: 'ok' };
      },
    });
    const args = { request: 'form 7', files: '/attachments/form.txt', desk: 'two' };
    const model = scriptedModel([calls('write'), calls('clerk', args), says('Form 7 it is.')]);
    const runtime = await handing(model, {
      main: { tools: ['write', entry] },
      tools: { write },
      clerk: {
        prompt: 'You sit at desk {{desk}}.',
        requiredSchema: z.object({ request: z.string(), files: z.string(), desk: z.string() }),
      },
    });
    const thread = await runtime.start('go');
    expect(systems(model)[2]).toBe('system: You sit at desk two.');
    expect((await runtime.messages(thread)).at(-2)).toMatchObject({
      role: 'user',
      content: 'form 7',
      attachments: [{ path: '/attachments/form.txt' }],
    });
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: Form 7 it is.');
    expect(model.requests[1]?.tools?.map((tool) => tool.function.name)).toEqual(['write', 'clerk']);
  });

  it.each([
    ['arguments that its prompt refuses', {}, /argument validation failed: \[desk\]/],
    ['a file that is not there', { desk: 'two', file: '/attachments/none.txt' }, /has no file/],
  ])('[definitions 12.7] refuses %s, and keeps the agent', async (_what, args, reason) => {
    const model = scriptedModel([calls('clerk', args), says('I stay')]);
    const runtime = await handing(model, {
      main: { tools: [{ name: 'clerk', initAttachmentsProperty: 'file' }] },
      clerk: { requiredSchema: z.object({ desk: z.string(), file: z.string().optional() }) },
    });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[2]).toMatch(reason);
    expect(systems(model)[1]).toBe('system: You are main.');
    expect(await agentOf(runtime, thread)).toBe('helper');
    expect(await changes(runtime, thread)).toEqual([]);
  });

  it('[definitions 12.7] refuses an agent that already has the thread', async () => {
    const model = scriptedModel([calls('clerk'), calls('clerk'), says('here I am')]);
    const runtime = await handing(model, { clerk: { tools: ['clerk'] } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread))[4]).toContain('"clerk" already has this thread');
  });

  it('[definitions 12.7] runs the other calls of the step for the calling agent; of two handoffs the last wins', async () => {
    const own = defineTool({
      description: 'tells',
      execute: async (state: ThreadState) => ({ status: 'success', result: state.agentId }),
    });
    const model = scriptedModel([
      callsMany([
        { name: 'clerk', args: { note: 'for the clerk' } },
        { name: 'boss', args: { note: 'for the boss' } },
        { name: 'own' },
      ]),
      says('boss here'),
    ]);
    const requiredSchema = z.object({ note: z.string() });
    const entry = (name: string) => ({ name, initUserMessageProperty: 'note' });
    const runtime = await handing(model, {
      main: { tools: [entry('clerk'), entry('boss'), 'own'] },
      tools: { own },
      clerk: { requiredSchema },
      prompts: { boss_desk: { ...CHAT, requiredSchema } },
      agents: { boss: {} },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> clerk, boss, own',
      'tool clerk success: Handed over to the clerk.',
      'tool boss success: Handed over to boss.',
      'tool own success: helper',
      'user: for the boss',
      'assistant: boss here',
    ]);
    expect(await changes(runtime, thread)).toEqual([{ from: 'helper', to: 'boss' }]);
  });

  it('[definitions 12.7] bubbles from a sub-prompt to the thread', async () => {
    const model = scriptedModel([calls('consult'), calls('clerk'), says('clerk here')]);
    const runtime = await handing(model, {
      main: { tools: ['consult'] },
      prompts: { consult: { tools: ['clerk'] } },
    });
    const thread = await runtime.start('go');
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> consult',
      'tool consult success: Tool calls:\n- clerk() → Handed over to the clerk.',
      'assistant: clerk here',
    ]);
    expect(await agentOf(runtime, thread)).toBe('clerk');
  });

  it('[definitions 12.7] applies the stop rules of its step to the agent that acted', async () => {
    const model = scriptedModel([calls('clerk'), says('later')]);
    const runtime = await handing(model, { side: { stopTool: 'clerk' } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ agent: 'clerk', stopReason: 'stop_tool' });
    expect(await askStatus(workflowOf(runtime, thread))).toMatchObject({ agent: 'clerk' });
    await runtime.say(thread, 'now');
    expect(systems(model)).toEqual(['system: You are main.', 'system: You are clerk_desk.']);
  });

  it('[definitions 12.7] persists when the new agent fails at once', async () => {
    const model = scriptedModel([calls('clerk'), fails({ status: 400, message: 'no' }), says('better')]);
    const runtime = await handing(model);
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ agent: 'clerk', status: 'failed' });
    expect(await askStatus(workflowOf(runtime, thread))).toMatchObject({ agent: 'clerk' });
    await runtime.say(thread, 'again');
    expect(systems(model)[2]).toBe('system: You are clerk_desk.');
  });

  it('[runtime 5.3] offers an agent like a function tool, by its description and the schema of its prompt', async () => {
    const model = scriptedModel([says('no need')]);
    const runtime = await handing(model, {
      agents: { clerk: { description: 'Knows every form.' } },
      clerk: { requiredSchema: z.object({ request: z.string() }) },
    });
    await runtime.start('hi');
    expect(model.requests[0]?.tools).toMatchObject([
      {
        function: {
          name: 'clerk',
          description: 'Knows every form.',
          parameters: { properties: { request: { type: 'string' } }, additionalProperties: false },
        },
      },
    ]);
  });
});
