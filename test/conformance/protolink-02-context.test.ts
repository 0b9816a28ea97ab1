/** Contexts of runs on the engine (docs/governance.md): how they are given, who sees them, and what they survive. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { workflowOf } from '../support/operator.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRuntime, RESUMABLE, settled } from '../support/subagent-project.ts';
import { codeOf, toolAnswers, toolOf } from '../support/tool-work.ts';

const GIVEN = {
  runId: 'run_123',
  sessionId: 'session_abc',
  traceId: 'trace_abc',
  workspaceUri: 'file:///workspace',
  agentChain: ['gateway'],
  permissions: { 'records.write': 'deny' },
  budget: { maxSteps: 8 },
  metadata: { ticket: 4711 },
} as const;

const seeing = () => toolOf(({ execution }: ThreadState) => execution?.context);

describe('the context of a run', () => {
  it('[PL-01] is given with a start and with messages, and visible to tools', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('see'), says('done'), calls('see'), says('done')]),
      tools: { see: seeing() },
    });
    const { client } = runtime;
    const { threadId } = await client.startThread({
      agent: 'helper',
      context: { sessionId: 'session_abc', permissions: { 'files.*': 'deny' } },
      messages: [{ content: 'go', context: GIVEN }],
    });
    await client.waitForIdle(threadId);
    await runtime.say(threadId, 'again');
    const [first, second] = await toolAnswers(runtime, threadId);
    expect(first).toEqual({
      ...GIVEN,
      organizationId: null,
      parentRunId: null,
      agentChain: ['gateway', 'helper'],
      permissions: { capabilities: { 'files.*': 'deny', 'records.write': 'deny' } },
      canceled: false,
      cancelReason: null,
    });
    const { id } = await client.getExecution(threadId);
    expect(second).toMatchObject({
      runId: id,
      sessionId: 'session_abc',
      traceId: null,
      permissions: { 'files.*': 'deny' },
      budget: {},
    });
    expect(await client.listExecutions({ runId: 'run_123', threadId })).toMatchObject([{ context: first }]);
    expect((await runtime.messages(threadId))[0]?.metadata).toMatchObject({
      run_id: 'run_123',
      session_id: 'session_abc',
      run_context: { run_id: 'run_123', agent_chain: ['gateway', 'helper'] },
    });
  });

  it('[PL-01] is given with plain signals, large messages and tools, and an invalid one is reported by field', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([says('one'), says('two'), says('three')]),
      tools: { see: seeing() },
    });
    const threadId = await runtime.start();
    const handle = workflowOf(runtime, threadId);
    const runs = async () =>
      (await runtime.client.listExecutions({ threadId })).map(({ context }) => context.runId).toReversed();
    await handle.signal('queueMessage', { content: 'hello', context: { runId: 'r-1' } });
    await eventually('the first run', async () => (await runs()).includes('r-1'));
    await runtime.client.waitForIdle(threadId);
    await runtime.client.queueMessage(threadId, { content: 'x'.repeat(5000), context: { runId: 'r-2' } });
    await runtime.client.waitForIdle(threadId);
    await runtime.client.queueTool(threadId, { name: 'see', context: { runId: 'r-3' } });
    await runtime.client.waitForIdle(threadId);
    expect(await runs()).toEqual(['r-1', 'r-2', 'r-3']);
    expect(await toolAnswers(runtime, threadId)).toMatchObject([{ runId: 'r-3' }]);
    await handle.signal('queueMessage', {
      id: 'bad',
      content: 'x',
      context: { permissions: { a: 'perhaps' } },
    });
    const rejected = await eventually('the refusal', async () =>
      (await runtime.store.events.read(threadId, 0)).find((event) => event.type === 'item.rejected'),
    );
    expect(rejected?.data).toMatchObject({
      id: 'bad',
      code: 'InvalidMessage',
      reason: expect.stringContaining('"context.permissions" cannot be used: "a" must be'),
    });
  });

  it('is refused by the client if it is invalid', async () => {
    const { client, start } = await testRuntime({ model: scriptedModel([]) });
    const threadId = await start();
    const bad = { budget: { maxStep: 1 } } as never;
    const message = { content: 'x' };
    expect(
      await Promise.all([
        codeOf(() => client.startThread({ agent: 'helper', context: bad })),
        codeOf(() => client.queueMessage(threadId, { ...message, context: bad })),
        codeOf(() => client.sendMessage(threadId, { ...message, context: 'x' as never })),
        codeOf(() => client.queueTool(threadId, { name: 'see', context: bad })),
        codeOf(() =>
          client.queueMessage(threadId, { ...message, context: { metadata: { at: new Date() } } }),
        ),
        codeOf(() => client.getExecution(threadId)),
        codeOf(() => client.getExecution('no-such-thread')),
        codeOf(() => client.listExecutions({ run: 'x' } as never)),
      ]),
    ).toEqual([
      'InvalidStart',
      'InvalidMessage',
      'InvalidMessage',
      'InvalidMessage',
      'InvalidValue',
      'ExecutionNotFound',
      'ThreadNotFound',
      'InvalidValue',
    ]);
  });

  it('survives continue-as-new, a killed run, and a new worker', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([
        calls('see'),
        calls('see'),
        calls('see'),
        says('done'),
        calls('see'),
        says('done'),
      ]),
      tools: { see: seeing() },
      configuration: { historySoftLimit: 40 },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      context: { sessionId: 's-1' },
      messages: [{ content: 'go', context: { runId: 'r-1' } }],
    });
    await runtime.client.waitForIdle(threadId);
    await workflowOf(runtime, threadId).terminate();
    await runtime.say(threadId, 'again');
    const seen = (await toolAnswers(runtime, threadId)) as { runId: string; sessionId: string }[];
    expect(seen.map(({ runId }) => runId).slice(0, 3)).toEqual(['r-1', 'r-1', 'r-1']);
    expect(new Set(seen.map(({ sessionId }) => sessionId))).toEqual(new Set(['s-1']));
  });

  it('[PL-03] is inherited by a subagent, whose report carries it back', async () => {
    const see = defineTool({
      description: 'sees',
      execute: async ({ execution }) => ({ status: 'success', result: JSON.stringify(execution?.context) }),
    });
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x')), says('ok'), says('heard')],
      scout_a: [calls('see'), calls('finish', { text: 'done' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE, blocking: false }],
      tools: { see },
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['see', 'finish'] } },
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go', context: GIVEN }],
    });
    await runtime.client.waitForIdle(threadId);
    await settled(runtime, threadId);
    const [child] = await childrenOf(runtime, threadId);
    const result = (await runtime.messages(child?.threadId as string)).find(({ name }) => name === 'see');
    const seen = JSON.parse(result?.content ?? 'null');
    expect(seen).toEqual({
      ...GIVEN,
      runId: expect.not.stringMatching('run_123'),
      organizationId: null,
      parentRunId: 'run_123',
      agentChain: ['gateway', 'helper', 'scout'],
      canceled: false,
      cancelReason: null,
    });
    const { context } = await runtime.client.getExecution(threadId);
    expect(context).toMatchObject({ sessionId: 'session_abc', permissions: GIVEN.permissions });
  });
});
