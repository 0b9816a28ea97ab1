/**
 * The names of Protolink's page as a layer over the engine: what they translate, and that they leave decisions to the
 * engine.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { beginExecution } from '../../src/client/named-execution.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import {
  ActionDeniedError,
  Agent,
  type AgentCard,
  AgentClient,
  type AgentOptions,
  type AgentTool,
  type ApprovalRequest,
  ApprovalRequiredError,
  artifact,
  BudgetExceededError,
  BudgetPolicy,
  CancellationToken,
  CapabilityPolicy,
  createLlm,
  InMemoryEventSink,
  type JudgedSpending,
  Part,
  RunAction,
  type RunActionFields,
  RunContext,
  RunEvent,
  RunStoreSink,
  Task,
  TaskAlreadyRunningError,
  TaskNotCancelableError,
  TaskNotFoundError,
} from '../../src/faces/protolink/index.ts';
import type { RunReport } from '../../src/projections/run/run-report.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { read, rowsOf } from '../projections/row.ts';
import { eventually } from '../support/eventually.ts';
import { closeAfterTest, testStore } from '../support/runtime.ts';

const COMPLETE = {
  runId: 'run_123',
  sessionId: 'session_abc',
  traceId: 'trace_abc',
  workspaceUri: 'file:///workspace',
  agentChain: ['gateway'],
  permissions: { 'fs.read': { paths: ['file:///workspace'] } },
  budget: { maxSteps: 8, maxLlmCalls: 4 },
  metadata: { ticket: 4711 },
} as const;

async function agentOf(options: AgentOptions): Promise<{ agent: Agent; published: unknown[] }> {
  const store = await testStore();
  const taskQueue = `face-${randomUUID()}`;
  const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;
  const agent = new Agent(
    { name: 'clerk', description: 'Changes records.' },
    { store, taskQueue, workflowBundle, ...options },
  );
  const published: unknown[] = [];
  if (!options.handler)
    agent.tool({ name: 'publish', description: 'Publishes.', capabilities: ['records.write'] }, () => {
      published.push('done');
      return 'published';
    });
  closeAfterTest(() => agent.close());
  return { agent, published };
}

const ASKS = { policy: new CapabilityPolicy({ 'records.write': 'require_approval' }) };

describe('names that Protolink’s face does not know', () => {
  it.each<[string, () => unknown, string]>([
    [
      'an option of an agent',
      () => new Agent({ name: 'a', description: 'b' }, { approval_handler: 1 } as object),
      "'approvalHandler'",
    ],
    [
      'a field of a card',
      () => new Agent({ name: 'a', description: 'b', descripton: 'c' } as AgentCard),
      "'description'",
    ],
    [
      'a field of a tool',
      () =>
        new Agent({ name: 'a', description: 'b' }).tool(
          { name: 'c', description: 'd', capabilties: ['e'] } as AgentTool,
          () => 1,
        ),
      "'capabilities'",
    ],
    [
      'a field of an action',
      () => new RunAction({ kind: 'a', name: 'b', capabilites: ['c'] } as RunActionFields),
      "'capabilities'",
    ],
    ['a field of a context', () => new RunContext({ session_id: 'a' } as object), "'sessionId'"],
    ['a limit of a context', () => new RunContext({ budget: { max_steps: 3 } as object }), 'maxSteps'],
    ['a field of a question', () => Task.createInfer({ promt: 'a' } as never), "'prompt'"],
    ['a field of a call', () => Task.createToolCall({ tool_name: 'a' } as never), "'toolName'"],
    [
      'an option of a budget policy',
      () => new BudgetPolicy({ warning_ratio: 1 } as object),
      "'warningRatio'",
    ],
    ['a field of an event', () => new RunEvent({ type: 'task.progress', runId: 'a' } as never), "'run_id'"],
  ])('%s is refused, with the one that was meant', (_, make, meant) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'InvalidValue', message: expect.stringContaining(meant) }),
    );
  });
});

describe('a Protolink context', () => {
  it('[PL-01] is read from a task as it was attached, with copies of its ids', () => {
    const task = Task.createInfer({ prompt: 'go' });
    const context = new RunContext(COMPLETE);
    context.attachToTask(task);
    expect(RunContext.fromTask(task).toDict()).toEqual(context.toDict());
    expect(task.metadata).toMatchObject({
      run_id: 'run_123',
      session_id: 'session_abc',
      trace_id: 'trace_abc',
      workspace_uri: 'file:///workspace',
    });
    expect(RunContext.fromDict(context.toDict()).toDict()).toEqual(context.toDict());
  });

  it('[PL-01] has its fields under their own names, with their defaults', () => {
    const context = new RunContext(COMPLETE);
    expect(context).toMatchObject({ ...COMPLETE, parentRunId: null, canceled: false, cancelReason: null });
    const { given: _, runId, ...empty } = new RunContext();
    expect(runId).toMatch(/^run_/);
    expect(empty).toEqual({
      ...{ sessionId: null, traceId: null, workspaceUri: null, parentRunId: null, agentChain: [] },
      ...{ permissions: {}, budget: {}, canceled: false, cancelReason: null, metadata: {} },
    });
  });

  it('[PL-02] is read from older metadata, and has the id of its task', () => {
    const metadata = { session_id: 's', trace_id: 't', workspace: 'w', budgets: { max_steps: 3 } };
    const task = new Task({ metadata });
    const context = RunContext.ensureTaskContext(task, 'clerk');
    expect(context.toDict()).toMatchObject({
      run_id: task.id,
      session_id: 's',
      trace_id: 't',
      workspace_uri: 'w',
      agent_chain: ['clerk'],
      budget: { max_steps: 3 },
    });
  });

  it('[PL-03] of a child has a run of its own, and the rest of its parent', () => {
    const parent = new RunContext(COMPLETE);
    const child = parent.child({ agentName: 'helper' }).toDict();
    const { run_id: _, parent_run_id: __, agent_chain: ___, ...same } = parent.toDict();
    expect(child).toMatchObject({
      ...same,
      parent_run_id: 'run_123',
      agent_chain: ['gateway', 'helper'],
    });
    expect(child.run_id).not.toBe('run_123');
  });
});

describe('Protolink events and tokens', () => {
  it('[PL-22] an event of the application has the defaults of the page, and a sink numbers it', () => {
    const sink = new InMemoryEventSink();
    const event = new RunEvent({ type: 'task.progress', summary: 'Halfway done' });
    sink.emit(event);
    expect(sink.toList()).toEqual([{ ...event, sequence: 1 }]);
    expect(event).toMatchObject({
      version: '1.0',
      run_id: null,
      severity: 'info',
      payload: {},
      final: false,
    });
  });

  it('[PL-13] a token keeps its first reason, and raises it', () => {
    const token = new CancellationToken();
    token.raiseIfCancelled();
    expect([token.isCancelled, token.reason, token.canceledAt]).toEqual([false, null, null]);
    expect([token.cancel('first'), token.cancel('second')]).toEqual([true, false]);
    expect([token.isCancelled, token.reason]).toEqual([true, 'first']);
    expect(() => token.raiseIfCancelled()).toThrow('first');
  });
});

describe('Protolink actions and policies', () => {
  it('[PL-11] an action gives its artifacts its id, and is immutable', () => {
    const action = new RunAction({ kind: 'resource.update', name: 'publish', capabilities: ['a'] });
    const shown = action.withArtifacts([artifact({ kind: 'preview', parts: [Part.json(1)] })]);
    expect(shown.artifacts).toMatchObject([{ kind: 'preview', action_id: action.action_id }]);
    expect(JSON.parse(JSON.stringify(shown))).toMatchObject({
      capabilities: ['a'],
      artifacts: [{ parts: [{ content: 1 }] }],
    });
    expect(action.artifacts).toEqual([]);
    expect(() => new RunAction({ kind: ' ', name: 'x' })).toThrow(
      expect.objectContaining({ code: 'InvalidValue' }),
    );
  });

  it('[PL-05] a policy judges as the engine does, and refuses an invalid rule', () => {
    const policy = new CapabilityPolicy({
      'records.*': 'require_approval',
      'records.read': true,
      'records.delete': false,
    });
    const needs = (...capabilities: string[]) => new RunAction({ kind: 'x', name: 'x', capabilities });
    expect(policy.evaluate(needs('records.read')).effect).toBe('allow');
    expect(policy.evaluate(needs('records.read', 'records.x', 'records.delete'))).toMatchObject({
      effect: 'deny',
      matchedCapabilities: ['records.delete'],
    });
    expect(policy.evaluate(needs()).effect).toBe('allow');
    const strict = new RunContext({ permissions: { default: 'deny' } });
    expect(policy.evaluate(needs('records.read'), strict).effect).toBe('deny');
    expect(() => new CapabilityPolicy({ a: 'maybe' })).toThrow(
      expect.objectContaining({ code: 'InvalidValue' }),
    );
  });
});

describe('a Protolink agent', () => {
  it('[PL-24] runs a task by its own handler, and passes the run to its own store, whatever that does', async () => {
    const reports: RunReport[] = [];
    const warnings: string[] = [];
    const { agent } = await agentOf({
      handler: (task, { context }) => ({ saw: task.messages[0]?.parts[0]?.content, run: context.runId }),
      runStore: {
        saveTask: () => undefined,
        saveReport: (report) => {
          reports.push(report);
          throw new Error('full');
        },
      },
      onWarning: (warning) => warnings.push(warning),
    });
    const task = Task.createInfer({ prompt: 'go' });
    new RunContext({ runId: 'run_own' }).attachToTask(task);
    const done = await agent.runTask(task);
    expect(done.state).toBe('completed');
    expect(JSON.parse(String(done.artifacts.at(-1)?.parts[0]?.content))).toEqual({
      saw: { prompt: 'go' },
      run: 'run_own',
    });
    expect(reports).toMatchObject([
      { metadata: { run_id: 'run_own', task_id: task.id }, final_task: { state: 'completed' } },
    ]);
    expect(warnings).toEqual(['Error: full']);
    await expect(agent.cancelTask(task.id)).rejects.toBeInstanceOf(TaskNotFoundError);
  });

  it('[PL-11] lets its code act outside tool calls, by the same rules', async () => {
    const done: unknown[] = [];
    const act = (name: string, capability: string) =>
      new RunAction({
        ...{ kind: 'resource.update', name, payload: { arguments: { id: '42' } } },
        capabilities: [capability],
      });
    const { agent } = await agentOf({
      policy: new CapabilityPolicy({ 'records.write': 'allow', 'records.delete': 'deny' }),
      handler: async (_task, scope) => {
        const told = await scope.act(act('publish_record', 'records.write'), ({ actionId }) => {
          done.push('published');
          return actionId.length > 0;
        });
        const denied = await scope
          .act(act('remove_record', 'records.delete'), () => done.push('removed'))
          .catch((error) => error);
        return { told, denied: denied instanceof ActionDeniedError && denied.action.name };
      },
    });
    const told: string[] = [];
    const parents = new Set<string | null>();
    const spans = new Set<string | null>();
    let around: string | null = null;
    const task = Task.createInfer({ prompt: 'go' });
    await agent.executeTask(task, ({ type, payload, ...ids }) => {
      const { name, kind, payload: of } = (payload.action ?? {}) as RunAction;
      if (ids.action_id === `${task.id}:1:0`) around = ids.span_id;
      if (kind === 'resource.update') parents.add(ids.parent_action_id);
      if (kind === 'resource.update') spans.add(ids.parent_span_id);
      if (kind === 'resource.update') expect(of).toEqual({ arguments: { id: '42' } });
      if (type === 'action.denied' || type === 'action.completed') told.push(`${type} ${name}`);
    });
    expect([...parents]).toEqual([`${task.id}:1:0`]);
    expect([...spans]).toEqual([around]);
    expect(JSON.parse(task.answer)).toEqual({ told: true, denied: 'remove_record' });
    expect(done).toEqual(['published']);
    expect(told).toContain('action.completed publish_record');
    expect(told).toContain('action.denied remove_record');
  });

  it('[PL-11] passes the arguments of a tool that declares none as they are, to its action and to its code', async () => {
    const model = scriptedModel([calls('look', { id: '42', deep: { a: [1] } }), says('seen')]);
    const { agent } = await agentOf({
      policy: new CapabilityPolicy({}),
      llm: { provider: model.provider, model: 'mock' },
    });
    const seen: unknown[] = [];
    const actionBuilder = (given: object) => {
      seen.push(structuredClone(given));
      return new RunAction({ kind: 'tool.call', name: 'look' });
    };
    agent.tool({ name: 'look', description: 'Looks.', actionBuilder }, (given) => {
      seen.push(given);
      return 'seen';
    });
    await agent.executeTask(Task.createInfer({ prompt: 'go' }));
    await agent.callToolInContext('look', new RunContext(), { id: '43' });
    const given = { id: '42', deep: { a: [1] } };
    expect(seen).toEqual([given, given, { id: '43' }, { id: '43' }]);
  });

  it.each([
    ['throws', 'broken', {}, 'boom'],
    ['gets invalid arguments', 'strict', { count: 'many' }, 'count'],
    ['is unknown', 'nobody', {}, 'nobody'],
  ])('[PL-31] raises what a call without a model ends with if its tool %s', async (_, name, args, reason) => {
    const { agent } = await agentOf({});
    agent.tool({ name: 'broken', description: 'Breaks.' }, () => {
      throw new Error('boom');
    });
    const schema = z.object({ count: z.number() });
    agent.tool({ name: 'strict', description: 'Counts.', args: schema }, () => 'counted');
    const called = agent.callToolInContext(name, new RunContext(), args);
    await expect(called).rejects.toThrow(reason);
    await expect(called).rejects.not.toThrow('Failed to execute tool');
    const task = Task.createToolCall({ toolName: name, args });
    await expect(agent.executeTask(task)).rejects.toThrow(reason);
    expect(task.state).toBe('failed');
    expect(await (await agent.runs).get(task.id)).toMatchObject({ state: 'failed' });
  });

  it('[PL-31] fails a task whose own handler throws', async () => {
    const { agent } = await agentOf({
      handler: () => {
        throw new Error('boom');
      },
    });
    const task = Task.createInfer({ prompt: 'go' });
    await expect(agent.runTask(task)).rejects.toThrow('boom');
    expect(task.state).toBe('failed');
  });

  it('[PL-11] shows an approver, and in its events, the arguments that will run', async () => {
    const asked: ApprovalRequest[] = [];
    const { agent } = await agentOf({
      policy: new CapabilityPolicy({ 'mail.send': 'require_approval' }),
      approvalHandler: (request) => {
        asked.push(request);
        return true;
      },
    });
    const args = z.object({ to: z.coerce.string(), copies: z.number().default(1) });
    const ran: unknown[] = [];
    agent.tool({ name: 'send', description: 'Sends.', args, capabilities: ['mail.send'] }, (given) => {
      ran.push(given);
      return 'sent';
    });
    const events: RunEvent[] = [];
    const task = Task.createToolCall({ toolName: 'send', args: { to: 42, extra: true } });
    await agent.executeTask(task, (event) => events.push(event));
    const shown = { to: '42', copies: 1 };
    expect(ran).toEqual([shown]);
    expect(asked).toEqual([
      {
        request_id: expect.any(String),
        run_id: task.id,
        summary: expect.any(String),
        action: expect.objectContaining({ name: 'send', payload: { arguments: shown } }),
        policy_decision: expect.objectContaining({ effect: 'require_approval' }),
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        created_at: expect.stringMatching(/^2.*Z$/),
        expires_at: null,
        metadata: { thread_id: task.id },
      },
    ]);
    const about = events.filter(({ type }) => /^(action)\./.test(type));
    expect(about.map(({ payload }) => (payload.action as RunAction).payload.arguments)).toEqual(
      about.map(() => shown),
    );
    expect(events.find(({ type }) => type === 'action.completed')?.payload.result).toBe('sent');
  });

  it('[PL-03] delegates to another agent, whose run is a child of its own, and asks for it', async () => {
    const helper = scriptedModel([calls('look', { where: 'shelf' }), says('It is on the shelf.')]);
    const found: unknown[] = [];
    const finder = new Agent(
      { name: 'finder', description: 'Finds things.' },
      {
        llm: { provider: helper.provider, model: 'mock' },
        policy: new CapabilityPolicy({ 'shelf.read': 'require_approval' }),
      },
    ).tool(
      { name: 'look', description: 'Looks.', capabilities: ['shelf.read'] },
      ({ where }, { context }) => {
        found.push([where, context.parentRunId, context.agentChain, context.sessionId]);
        return 'seen';
      },
    );
    const model = scriptedModel([calls('finder', { prompt: 'Where is it?' }), says('On the shelf.')]);
    const asked: unknown[] = [];
    const { agent } = await agentOf({
      llm: { provider: model.provider, model: 'mock' },
      delegates: [finder],
      approvalHandler: ({ request_id, action: { name, payload, capabilities } }) => {
        asked.push([name, payload, capabilities]);
        return { approved: true, request_id };
      },
    });
    const task = Task.createInfer({ prompt: 'Find it.' });
    new RunContext({ runId: 'run_parent', sessionId: 'session_abc' }).attachToTask(task);
    const events: RunEvent[] = [];
    const done = await agent.executeTask(task, (event) => events.push(event));
    expect(done.answer).toBe('On the shelf.');
    expect(found).toEqual([['shelf', 'run_parent', ['clerk', 'finder'], 'session_abc']]);
    expect(asked).toEqual([['look', { arguments: { where: 'shelf' } }, ['shelf.read']]]);
    const delegated = events.filter(({ payload }) => (payload.action as RunAction)?.kind === 'agent.call');
    expect(delegated.map(({ type, delegation_id: id }) => [type, id])).toEqual(
      ['action.requested', 'action.policy', 'action.started', 'action.completed'].map((type) => [
        type,
        `${task.id}:1:0`,
      ]),
    );
    expect(delegated.at(-1)?.payload.result).toContain('It is on the shelf.');
  });

  it('[PL-17] judges what a run spends by a policy of the application, which can only be stricter', async () => {
    const judged: unknown[] = [];
    class Thrift extends BudgetPolicy {
      override evaluate({ kind, name }: JudgedSpending, decision: string, context: RunContext) {
        judged.push([kind, name, decision, context.runId]);
        return kind === 'tool.call' ? ({ effect: 'deny', reason: 'not today' } as const) : undefined;
      }
    }
    const model = scriptedModel([calls('publish')]);
    const { agent, published } = await agentOf({
      budgetPolicy: new Thrift(),
      llm: { provider: model.provider, model: 'mock' },
    });
    const task = Task.createInfer({ prompt: 'go' });
    await expect(agent.executeTask(task)).rejects.toMatchObject({ code: 'BudgetExceeded' });
    expect(task.state).toBe('failed');
    expect(published).toEqual([]);
    expect(await agent.getBudget(task.id)).toMatchObject([{ limit: 'maxSteps', used: 1 }]);
    await expect(agent.getBudget('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
    expect(judged.slice(0, 2)).toEqual([
      ['model.call', 'llm', 'allow', task.id],
      ['tool.call', 'publish', 'allow', task.id],
    ]);
    expect(() => new BudgetPolicy({ warningRatio: -1 })).toThrow('warningRatio');
  });

  it('[PL-07] denies actions that need approval without an approval handler', async () => {
    const { agent, published } = await agentOf(ASKS);
    const denied = agent.callToolInContext('publish', new RunContext());
    await expect(denied).rejects.toBeInstanceOf(ApprovalRequiredError);
    await expect(denied).rejects.toMatchObject({
      code: 'ApprovalRequired',
      action: { name: 'publish' },
      request: {
        action: { name: 'publish', capabilities: ['records.write'] },
        policy_decision: { effect: 'require_approval' },
      },
    });
    expect(published).toEqual([]);
  });

  it('[PL-11] shows the metadata of an action to its policy and to its approver, and fingerprints it', async () => {
    const seen: unknown[] = [];
    const { agent } = await agentOf({
      policy: {
        evaluate: ({ metadata }) => {
          seen.push(metadata);
          return 'require_approval';
        },
      },
      approvalHandler: ({ action: { metadata, artifacts }, fingerprint }) => {
        seen.push(metadata, artifacts, fingerprint);
        return true;
      },
    });
    let ticket = 1;
    const actionBuilder = () =>
      new RunAction({ kind: 'tool.call', name: 'book', metadata: { ticket, deep: { a: [1] } } });
    agent.tool({ name: 'book', description: 'Books.', actionBuilder }, () => 'booked');
    await agent.callToolInContext('book', new RunContext());
    ticket = 2;
    await agent.callToolInContext('book', new RunContext());
    const prints = seen.filter((one) => typeof one === 'string');
    expect(seen[0]).toEqual({ ticket: 1, deep: { a: [1] } });
    expect(seen.filter((one) => Array.isArray(one))).toEqual([[], []]);
    expect(seen).toContainEqual({ ticket: 2, deep: { a: [1] } });
    expect([prints.length, new Set(prints).size]).toEqual([2, 2]);
    expect(RunAction.fromDict({ ...new RunAction({ kind: 'a', name: 'b' }) }).metadata).toEqual({});
  });

  it('[PL-11] passes the context of the run to what builds an action', async () => {
    const { agent } = await agentOf({});
    const seen: unknown[] = [];
    const actionBuilder = (given: object, { runId, sessionId, permissions }: RunContext) => {
      seen.push([given, runId, sessionId, permissions]);
      return new RunAction({ kind: 'tool.call', name: 'book' });
    };
    agent.tool({ name: 'book', description: 'Books.', actionBuilder }, () => 'booked');
    const context = { runId: 'run_own', sessionId: 'session_abc', permissions: { 'fs.read': true } } as const;
    await agent.callToolInContext('book', new RunContext(context), { id: 1 });
    expect(seen).toEqual([
      [{ id: 1 }, 'run_own', 'session_abc', expect.objectContaining({ 'fs.read': true })],
    ]);
  });

  it('[PL-08] refuses a decision for another request: the wait stays open for a valid one', async () => {
    let asked = '';
    const { agent, published } = await agentOf({
      ...ASKS,
      approvalHandler: ({ request_id }) => {
        asked = request_id;
        return { approved: true, request_id: 'another' };
      },
    });
    const refused = agent.callToolInContext('publish', new RunContext());
    await expect(refused).rejects.toMatchObject({ code: 'InvalidValue' });
    expect(asked).not.toBe('');
    expect(published).toEqual([]);
  });

  it('[PL-10] ends a run with a denied action, and throws the reason', async () => {
    const model = scriptedModel([calls('publish')]);
    const { agent, published } = await agentOf({
      ...ASKS,
      llm: { provider: model.provider, model: 'mock' },
      approvalHandler: () => false,
    });
    const task = Task.createInfer({ prompt: 'go' });
    await expect(agent.executeTask(task)).rejects.toMatchObject({ code: 'ActionDenied' });
    expect(task.state).toBe('failed');
    expect(published).toEqual([]);
    model.assertConsumed();
  });

  it('[PL-10] reports who denied an approval, and why', async () => {
    const { agent, published } = await agentOf({
      ...ASKS,
      approvalHandler: ({ request_id }) => ({
        approved: false,
        request_id,
        reason: 'not today',
        decided_by: 'Ada',
      }),
    });
    await expect(agent.callToolInContext('publish', new RunContext())).rejects.toMatchObject({
      code: 'ActionDenied',
      message: 'Ada refused its approval: not today',
    });
    expect(published).toEqual([]);
  });
});

describe('Protolink tasks', () => {
  it('[PL-13] are executions under their own ids: the first reason counts, and unknown or ended ones are reported', async () => {
    const begun = Promise.withResolvers<void>();
    const { agent } = await agentOf({
      handler: async (_task, { signal }) => {
        begun.resolve();
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await expect(agent.cancelTask('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
    const task = Task.createInfer({ prompt: 'go' });
    const running = agent.runTask(task);
    await begun.promise;
    expect(agent.activeTaskIds).toEqual([task.id]);
    await expect(agent.executeTask(new Task(task))).rejects.toBeInstanceOf(TaskAlreadyRunningError);
    expect(await agent.cancelTask(task.id, 'first')).toBe(task);
    const again = await agent.cancelTask(task.id, 'second').catch((error: unknown) => error);
    expect(again instanceof TaskNotCancelableError || again === task).toBe(true);
    expect(await running).toMatchObject({ state: 'canceled', metadata: { cancel_reason: 'first' } });
    const late = await agent.cancelTask(task.id).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: 'ExecutionNotCancelable', message: expect.stringContaining('ended') });
    expect(late).toBeInstanceOf(TaskNotFoundError);
    expect(await (await agent.runs).get(task.id)).toMatchObject({ id: task.id, state: 'canceled' });
    // A task that is submitted again reports how it has ended.
    const told = [];
    for await (const { type, task_id, final } of agent.handleTaskStreaming(new Task(task)))
      told.push([type, task_id, final]);
    expect(told).toEqual([['task.status', task.id, true]]);
    const other = Task.createInfer({ prompt: 'stop' });
    const ends = agent.executeTask(other, async ({ final }) => {
      if (final) told.push(await agent.cancelTask(other.id).catch((error: unknown) => error));
    });
    await eventually('its beginning', async () => agent.activeTaskIds.includes(other.id));
    await agent.cancelTask(other.id);
    await ends;
    await eventually('the refusal', async () => told.length > 1);
    // Its agent had not finished reading it.
    expect(told[1]).toBeInstanceOf(TaskNotCancelableError);
  });

  it('[PL-12] reach an agent of the same process by the address of its card, and are cancelled there', async () => {
    const model = scriptedModel([says('Summarized.'), hangs()]);
    const agent = new Agent(
      { name: 'local', description: 'Summarizes.', url: 'runtime://local' },
      {
        ...{
          store: await testStore(),
          taskQueue: randomUUID(),
          llm: { provider: model.provider, model: 'mock' },
        },
        workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
      },
    );
    const client = new AgentClient();
    const told: unknown[] = [];
    const streamed = Task.createInfer({ prompt: 'Summarize.' });
    for await (const event of client.sendTaskStreaming('runtime://local', streamed))
      told.push(event.type === 'task.status' ? [event.state, event.final] : event.artifact.parts[0]?.content);
    expect(told).toEqual([['working', false], 'Summarized.', ['completed', true]]);
    expect((await client.sendTask('runtime://local', streamed)).answer).toBe('Summarized.');
    const task = Task.createInfer({ prompt: 'Work.' });
    const running = client.sendTask('runtime://local', task);
    await eventually('its beginning', async () => agent.activeTaskIds.includes(task.id));
    const canceled = await client.cancelTask('runtime://local', task.id, { reason: 'Stopped by user' });
    expect([canceled.state, (await running).state]).toEqual(['canceled', 'canceled']);
    await agent.close();
    await expect(client.sendTask('runtime://local', streamed)).rejects.toMatchObject({
      code: 'AgentNotFound',
    });
  });

  it('[PL-12] are cancelled by the recipe of the page, each as soon as its id is among the active ones', async () => {
    const hang = () => new Promise<never>(() => undefined);
    const model = scriptedModel(hang);
    const { agent } = await agentOf({ llm: { provider: model.provider, model: 'mock' } });
    agent.tool({ name: 'hang', description: 'Hangs.' }, hang);
    for (let round = 1; round <= 4; round += 1) {
      const task =
        round % 2 === 0
          ? Task.createInfer({ prompt: 'Perform long-running work' })
          : Task.createToolCall({ toolName: 'hang' });
      const events: RunEvent[] = [];
      const running = agent.executeTask(task, (event) => events.push(event));
      await expect(agent.cancelTask(task.id)).rejects.toBeInstanceOf(TaskNotFoundError);
      await eventually('the task is active', () => agent.activeTaskIds.includes(task.id), undefined, 0);
      const token = agent.getCancellationToken(task.id);
      expect(token?.isCancelled).toBe(false);
      const canceled = await agent.cancelTask(task.id, 'Stopped by user');
      expect(token?.reason).toBe('Stopped by user');
      const marks = { canceled: true, cancel_reason: 'Stopped by user' };
      expect(canceled).toMatchObject({ state: 'canceled', metadata: { run_context: marks, ...marks } });
      const ended = await running;
      expect(ended).toMatchObject({ state: 'canceled', metadata: { run_context: marks, ...marks } });
      expect(events.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(agent.activeTaskIds).toEqual([]);
      expect(agent.getCancellationToken(task.id)).toBe(undefined);
    }
  });

  it('[PL-09] are taken up by another process, whose handler is asked what is open; other work under the id is refused', async () => {
    const store = await testStore();
    const taskQueue = `face-${randomUUID()}`;
    const asked = Promise.withResolvers<void>();
    const first = await agentOf({
      ...ASKS,
      ...{ store, taskQueue },
      approvalHandler: async () => {
        asked.resolve();
        return new Promise<boolean>(() => undefined);
      },
    });
    const work = { id: randomUUID(), messages: [{ role: 'user', parts: [Part.toolCall('publish')] }] };
    const [one, other] = [new Task(work), new Task(work)];
    // Each process makes a context of its own.
    for (const task of [one, other]) new RunContext({ sessionId: 'session_abc' }).attachToTask(task);
    const reading = first.agent.handleTaskStreaming(one);
    void (async () => {
      for await (const _ of reading);
    })().catch(() => undefined);
    await asked.promise;
    const second = await agentOf({ ...ASKS, ...{ store, taskQueue }, approvalHandler: () => true });
    expect(await second.agent.executeTask(other)).toMatchObject({ state: 'completed' });
    expect([...first.published, ...second.published]).toEqual(['done']);
    expect((await second.agent.executeTask(new Task(work))).answer).toBe('published');
    const parts = [Part.toolCall('publish', { more: true })];
    const changed = new Task({ ...work, messages: [{ role: 'user', parts }] });
    await expect(second.agent.executeTask(changed)).rejects.toMatchObject({ code: 'ExecutionConflict' });
  });

  it('[PL-32] are taken up if their process was lost before a worker had opened them', async () => {
    const store = await testStore();
    const taskQueue = `face-${randomUUID()}`;
    const [ask, call] = [
      Task.createInfer({ prompt: 'go', id: randomUUID() }),
      Task.createToolCall({ toolName: 'publish', id: randomUUID() }),
    ];
    const lost = await RuntimeClient.connect({ store, taskQueue });
    const messages = [{ content: 'go', executionId: ask.id }];
    await lost.startThread({ agent: 'clerk', threadId: ask.id, messages });
    await lost.startThread({ agent: 'clerk', threadId: call.id });
    // A worker that is slow to open them does not matter.
    const again = { agent: 'clerk', executionId: ask.id, threadId: ask.id, content: 'go' };
    await beginExecution(lost, again);
    await lost.close();
    const model = scriptedModel([says('done')]);
    const llm = { provider: model.provider, model: 'mock' };
    const { agent, published } = await agentOf({ ...{ store, taskQueue, llm } });
    expect((await agent.executeTask(ask)).answer).toBe('done');
    expect((await agent.executeTask(call)).answer).toBe('published');
    expect(published).toEqual(['done']);
    model.assertConsumed();
  });

  it('[PL-15] with a canceled context run nothing, and end once', async () => {
    const { agent, published } = await agentOf({});
    const task = Task.createToolCall({ toolName: 'publish' });
    new RunContext({}).cancel('never mind').attachToTask(task);
    const ends = [];
    for await (const event of agent.handleTaskStreaming(task))
      if (event.final) ends.push(event.payload.new_state);
    expect(ends).toEqual(['canceled']);
    expect(task.metadata).toMatchObject({ cancel_reason: 'never mind' });
    expect(published).toEqual([]);
  });

  it('have exactly one thing to do', async () => {
    const { agent } = await agentOf({});
    const parts = [Part.infer('go'), Part.toolCall('publish')];
    for (const task of [new Task(), new Task({ messages: [{ role: 'user', parts }] })])
      await expect(agent.executeTask(task)).rejects.toMatchObject({ code: 'InvalidValue' });
  });

  it('[PL-05] are judged by application code, which gets the action and the caller', async () => {
    const seen: unknown[] = [];
    const { agent, published } = await agentOf({
      policy: {
        evaluate: async ({ name, capabilities, payload }, context) => {
          seen.push([name, capabilities, payload, context.runId]);
          return { effect: context.given.sessionId === 'trusted' ? 'allow' : 'deny', reason: 'not trusted' };
        },
      },
    });
    const denied = agent.callToolInContext('publish', new RunContext({ runId: 'r-1', sessionId: 'else' }));
    await expect(denied).rejects.toMatchObject({
      code: 'ActionDenied',
      message: expect.stringContaining('not trusted'),
    });
    expect(published).toEqual([]);
    await agent.callToolInContext('publish', new RunContext({ runId: 'r-2', sessionId: 'trusted' }));
    expect(published).toEqual(['done']);
    expect(seen[0]).toEqual(['publish', ['records.write'], { arguments: {} }, 'r-1']);
  });
});

describe('a question without an agent', () => {
  const engine = async () => ({
    store: await testStore(),
    workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
  });

  it('[PL-30] is logged with its manifest, answered within its budget, and leaves a record and no thread', async () => {
    const llm = createLlm('mock', { defaultResponse: 'done' }).configureMetrics({ contextWindow: 8192 });
    const runContext = new RunContext({
      runId: `run_${randomUUID()}`,
      budget: { maxSteps: 4, maxLlmCalls: 2, maxInputTokens: 6000 },
    });
    const events: Readonly<Record<string, unknown>>[] = [];
    const options = await engine();
    const asked = { ...options, query: 'Summarize this context', runContext };
    expect(await llm.infer({ ...asked, eventCallback: (event) => events.push(event) })).toBe('done');
    expect(events.map(({ llm_event_type: type }) => type).slice(0, 2)).toEqual(['llm_step', 'llm_context']);
    expect(events[1]?.manifest).toMatchObject({
      run_id: runContext.runId,
      context_window: 8192,
      estimated: true,
      ...{ provider: 'mock', model_id: 'mock', metadata: {} },
      created_at: expect.stringMatching(/^2.*Z$/),
    });
    const [thread] = await options.store.executions.list({ runId: runContext.runId });
    expect(thread).toMatchObject({ state: 'completed' });
    expect(await options.store.threads.get(thread?.threadId as string)).toMatchObject({
      status: 'terminated',
    });
  });

  it('[PL-17] ends with its budget', async () => {
    const model = scriptedModel([calls('look'), calls('look')]);
    const asked = createLlm(model.provider).infer({
      ...(await engine()),
      query: 'Look.',
      tools: { look: { description: 'Looks.', run: () => 'seen' } },
      runContext: new RunContext({ budget: { maxToolCalls: 1 } }),
    });
    await expect(asked).rejects.toBeInstanceOf(BudgetExceededError);
    await expect(asked).rejects.toMatchObject({ decision: { limit_name: 'max_tool_calls', limit: 1 } });
  });

  it('shares its worker with the next one, and with those that are open at the same time', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder);
    const store = `sqlite:${join(folder, 'store.db')}?synchronous=normal`;
    const options = { store, workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string };
    const llm = createLlm('mock', { defaultResponse: 'done' });
    const ask = (query: string) => llm.infer({ ...options, query });
    closeAfterTest(() => llm.close());
    const answers = [await ask('one'), ...(await Promise.all([ask('two'), ask('three')]))];
    expect(answers).toEqual(['done', 'done', 'done']);
    const client = await RuntimeClient.connect({ store });
    closeAfterTest(() => client.close());
    const queues = (await client.listThreads()).map(async ({ id }) => {
      const { taskQueue } = await client.temporal.workflow.getHandle(`thread/${id}`).describe();
      return taskQueue;
    });
    expect(new Set(await Promise.all(queues)).size).toBe(1);
  });

  it('that cannot start reports the reason', async () => {
    const asked = createLlm('mock').infer({ ...(await engine()), query: '' });
    await expect(asked).rejects.toMatchObject({ code: 'InvalidMessage' });
  });

  it('[PL-30] has a model described by its profile', () => {
    const { definition } = createLlm('mock', { capabilities: { supportsImages: false } }).configureMetrics({
      contextWindow: 8192,
      inputCostPerMillion: 2,
      outputCostPerMillion: 8,
    });
    expect(definition).toMatchObject({
      model: 'mock',
      inputPrice: 2,
      outputPrice: 8,
      capabilities: { supportsImages: false, maxContextTokens: 8192 },
    });
  });
});

describe('a run store as a sink', () => {
  it('[PL-24] gets each run of an ended thread, once', async () => {
    const kept: unknown[] = [];
    const sink = new RunStoreSink({
      saveTask: ({ id, state }) => kept.push([id, state]),
      saveReport: ({ events, final_task: task }) => kept.push([events.length, task?.state]),
    });
    const run = (id: string) =>
      [
        ['execution.started', { executionId: id }],
        ['execution.ended', { executionId: id, reason: 'done' }],
      ] as const;
    const events = read(rowsOf(...run('one'), ['custom', { event: 'between', data: 1 }], ...run('two')));
    for (const event of events) await sink.emit(event);
    expect(kept).toEqual([
      ['one', 'completed'],
      [2, 'completed'],
      ['two', 'completed'],
      [2, 'completed'],
    ]);
  });
});
