/** Calls that are refused, fail or are interrupted (docs/guards.md): each gets a result, and the thread continues. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { NO_RESULT } from '../../src/core/context/sanitise.ts';
import type { ToolCall } from '../../src/core/message/message.ts';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

function toolsOf() {
  const ran: string[] = [];
  const begun = Promise.withResolvers<void>();
  const note = (name: string, fields: object = {}) =>
    defineTool({
      description: name,
      ...fields,
      execute: async () => {
        ran.push(name);
        return { status: 'success', result: `${name} done` };
      },
    });
  const tools = {
    ok: note('ok', { quick: true }),
    later: note('later', { capabilities: ['doors.open'] }),
    bang: defineTool({
      description: 'throws',
      execute: async () => {
        throw new Error('no door');
      },
    }),
    slow: defineTool({
      description: 'works until it is aborted',
      execute: async ({ execution }: ThreadState) => {
        const aborted = Promise.withResolvers<void>();
        execution?.abortSignal.addEventListener('abort', () => aborted.resolve());
        begun.resolve();
        await aborted.promise;
        return { status: 'success', result: 'too late' };
      },
    }),
  };
  return { ran, begun: begun.promise, tools };
}

/** Returns the ids of calls that do not have exactly one result row, and of rows that answer no call. */
async function unpaired({ store }: TestRuntime, thread: string): Promise<string[]> {
  const { messages } = await store.messages.list(thread, { limit: 1000 });
  const made = messages.flatMap(({ tool_calls: text }) => JSON.parse(text ?? '[]') as ToolCall[]);
  const rows = messages.flatMap(({ role, tool_call_id: id }) => (role === 'tool' && id ? [id] : []));
  const ids = made.map(({ id }) => id);
  const lacking = ids.filter((id) => rows.filter((row) => row === id).length !== 1);
  return [...lacking, ...rows.filter((row) => !ids.includes(row))];
}

const BATCH = callsMany([{ name: 'ok' }, { name: 'slow' }, { name: 'later' }, { name: 'ok' }]);

type Ending = readonly [
  end: (runtime: TestRuntime, thread: string) => Promise<unknown>,
  more?: Partial<AgentInput>,
];

const ENDINGS: Readonly<Record<string, Ending>> = {
  'a stop': [async ({ client }, thread) => client.stop(thread)],
  'the end of its execution': [async ({ client }, thread) => client.cancelExecution(thread)],
  'the loss of its run': [async (runtime, thread) => workflowOf(runtime, thread).terminate('by an operator')],
  'a denial, and a stop': [
    async ({ client }, thread) => client.stop(thread),
    { policy: { 'doors.*': 'deny' } },
  ],
};

describe('a call that is refused, fails or is interrupted', () => {
  it.each(Object.entries(ENDINGS))(
    '[AX-64] has its result after %s, as do the calls after it: the next request needs no made-up result',
    async (_, [end, agent]) => {
      const { ran, begun, tools } = toolsOf();
      const model = scriptedModel([BATCH, says('on we go')]);
      const runtime = await testRuntime({ model, tools, agent });
      const { threadId } = await runtime.client.startThread({
        agent: 'helper',
        messages: [{ content: 'go' }],
      });
      await begun;
      await end(runtime, threadId);
      await runtime.say(threadId, 'next');
      expect(await unpaired(runtime, threadId)).toEqual([]);
      expect(ran[0]).toBe('ok');
      expect((await runtime.transcript(threadId)).at(-1)).toBe('assistant: on we go');
      expect(JSON.stringify(model.requests[1]?.messages)).not.toContain(NO_RESULT);
    },
  );

  it('[AX-64] has its result if its thread is terminated', async () => {
    const { begun, tools } = toolsOf();
    const runtime = await testRuntime({ model: scriptedModel([BATCH]), tools });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await begun;
    await runtime.client.terminate(threadId);
    await eventually(
      'its end',
      async () => (await runtime.client.getThread(threadId)).status === 'terminated',
    );
    expect(await unpaired(runtime, threadId)).toEqual([]);
  });

  it.each<[string, Partial<AgentInput>]>([
    ['the budget of its execution denies it', { budget: { maxToolCalls: 1 } }],
    ['its denial ends the execution', { policy: { rules: { 'doors.*': 'deny' }, onDenied: 'fail' } }],
  ])('[AX-64] has its result if %s, as do the calls after it', async (_, agent) => {
    const { ran, tools } = toolsOf();
    const model = scriptedModel([callsMany([{ name: 'ok' }, { name: 'later' }, { name: 'ok' }])]);
    const runtime = await testRuntime({ model, tools, agent });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    expect(await runtime.client.waitForIdle(threadId)).toMatchObject({ status: 'failed' });
    expect(ran).toEqual(['ok']);
    expect(await unpaired(runtime, threadId)).toEqual([]);
  });

  it('[AX-64] has its result if it waits for a person and its thread is stopped', async () => {
    const { ran, tools } = toolsOf();
    const model = scriptedModel([
      callsMany([{ name: 'ok' }, { name: 'later' }, { name: 'ok' }]),
      says('on we go'),
    ]);
    const agent = { policy: { 'doors.*': 'require_approval' as const, '*': 'allow' as const } };
    const runtime = await testRuntime({ model, tools, agent });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('somebody is asked', async () => (await client.listWaits({ threadId })).length === 1);
    await client.stop(threadId);
    await runtime.say(threadId, 'next');
    expect(ran).toEqual(['ok']);
    expect(await unpaired(runtime, threadId)).toEqual([]);
  });

  it('[AX-61] has an error result if its tool is unknown, and the calls after it run', async () => {
    const { ran, tools } = toolsOf();
    const model = scriptedModel([callsMany([{ name: 'nobody' }, { name: 'later' }]), says('done')]);
    const runtime = await testRuntime({ model, tools });
    const thread = await runtime.start('go');
    expect(ran).toEqual(['later']);
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'tool nobody error: Failed to execute tool: Tool not found: nobody',
      'tool later success: later done',
      'assistant: done',
    ]);
  });

  it('[AX-62] has its result in its position, whatever the others returned, and the next step follows', async () => {
    const { tools } = toolsOf();
    const four = ['ok', 'nobody', 'None', 'bang'].map((name) => ({ name }));
    const model = scriptedModel([callsMany(four), says('done')]);
    const runtime = await testRuntime({ model, tools });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(1)).toEqual([
      'assistant:  -> ok, nobody, bang',
      'tool ok success: ok done',
      'tool nobody error: Failed to execute tool: Tool not found: nobody',
      'tool bang error: Failed to execute tool: no door',
      'assistant: done',
    ]);
    expect(await unpaired(runtime, thread)).toEqual([]);
  });

  it('[AX-63] is denied before a confirmation is asked for', async () => {
    const asked: unknown[] = [];
    const { ran, tools } = toolsOf();
    const careful = defineTool({
      description: 'asks first',
      capabilities: ['doors.open'],
      confirm: (args: unknown) => {
        asked.push(args);
        return 'really?';
      },
      execute: async () => {
        ran.push('careful');
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('careful'), says('done')]);
    const runtime = await testRuntime({
      model,
      tools: { ...tools, careful },
      agent: { policy: { 'doors.*': 'deny' } },
    });
    const thread = await runtime.start('go');
    expect([asked, ran]).toEqual([[], []]);
    const events = await runtime.store.events.read(thread, 0);
    expect(events.filter(({ type }) => type.startsWith('wait.'))).toEqual([]);
    expect((await runtime.transcript(thread))[2]).toMatch(/^tool careful error: .*The policy denies/);
  });

  it('[AX-67] of a subagent that the prompt does not list is an error, and the turn continues', async () => {
    const { tools } = toolsOf();
    const model = scriptedModel([
      calls('subagent_create', { agent: 'scout', message: 'go', attachments: [], name: 'scout' }),
      calls('ok'),
      says('done'),
    ]);
    const runtime = await testRuntime({ model, tools });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      expect.stringMatching(
        /^tool subagent_create error: .*"subagent_create" is not available to this prompt\.$/,
      ),
      'assistant:  -> ok',
      'tool ok success: ok done',
      'assistant: done',
    ]);
  });
});
