/** Tasks that an agent starts: children of its thread, whose end is the result of the call. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTask, defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { eventually, helperRegistry, type RuntimeOptions, testRuntime } from '../support/runtime.ts';

/** Counts up to the requested number. */
const count = defineTask<{ count: number }, string>({
  toolDescription: 'Counts.',
  requiredSchema: z.object({ to: z.number().int() }),
  observe: ({ history }) => ({ count: history.filter(({ actionOutcome }) => actionOutcome?.ok).length }),
  decide: ({ state, task, history }) => {
    if (state.count >= Number(task.inputs?.to))
      return { kind: 'stop', pass: true, reason: 'counted', outcome: { counted: state.count } };
    const failed = history.at(-1)?.actionOutcome;
    if (failed && !failed.ok) return { kind: 'stop', pass: false, reason: failed.code ?? 'failed' };
    return { kind: 'act', action: 'add' };
  },
  act: () => 'added',
});

const ask = defineTask<{ answer: unknown }>({
  observe: ({ history }) => ({ answer: history.at(-1)?.actionOutcome?.result ?? null }),
  decide: ({ state }) =>
    state.answer === null
      ? { kind: 'ask', question: 'Which colour?' }
      : { kind: 'stop', pass: true, reason: 'answered', outcome: state.answer },
});

const TASKS = { count, ask };

function project({ tasks = TASKS, ...options }: RuntimeOptions & { tasks?: typeof TASKS }) {
  const registry = helperRegistry({ ...options, tasks, prompt: { tools: ['task:count', 'task:ask'] } });
  return { ...options, registry };
}

type Runtime = Awaited<ReturnType<typeof testRuntime>>;

async function resultOf({ messages }: Runtime, threadId: string) {
  const found = (await messages(threadId)).find(({ role }) => role === 'tool');
  // The content of an error has text before its JSON.
  const told = String(found?.content).replace(/^[^{]*/, '');
  return { ...found, told: JSON.parse(told) as unknown };
}

const taskOf = ({ store }: Runtime, threadId: string) =>
  eventually('the task', async () => {
    const task = (await store.family.read(threadId)).at(1)?.thread;
    return (task && (await store.tasks.get(task.id.slice('task/'.length)))) ?? undefined;
  });

describe('an agent that starts a task', () => {
  it('is offered the task with its inputs, and reads its end; the task is a child of its thread', async () => {
    const model = scriptedModel([calls('task__count', { to: 2 }), says('counted')]);
    const runtime = await testRuntime(project({ model }));
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'count' }] });
    await client.waitForIdle(threadId);
    const [request] = model.requests;
    const offered = request?.tools?.find(
      (each) => each.type === 'function' && each.function.name === 'task__count',
    );
    expect(offered).toMatchObject({
      function: { description: 'Counts.', parameters: { properties: { to: {} }, required: ['to'] } },
    });
    const [, member] = await client.getFamily(threadId);
    const taskId = member?.thread.id.slice('task/'.length) ?? '';
    const result = await resultOf(runtime, threadId);
    expect(result.told).toEqual({
      ...{ taskId, status: 'completed', pass: true, reason: 'counted' },
      outcome: { counted: 2 },
    });
    expect(result.metadata).toMatchObject({ task_id: taskId });
    expect(member).toMatchObject({ depth: 1, child: { parentId: threadId, agent: 'count', status: 'idle' } });
    expect(await client.tasks.get(taskId)).toMatchObject({
      ...{ name: 'count', parentId: threadId, status: 'completed', spec: { inputs: { to: 2 } } },
    });
    const types = (await runtime.store.events.read(threadId, 0, 1000)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['subagent.created', 'subagent.returned']));
    // The task is listed among tasks, not among threads.
    expect((await client.listThreads()).map(({ id }) => id)).not.toContain(`task/${taskId}`);
  });

  it('waits with a task that asks: its thread shows the wait, and continues once it is answered', async () => {
    const model = scriptedModel([calls('task__ask'), says('blue it is')]);
    const runtime = await testRuntime(project({ model }));
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'ask' }] });
    const wait = await eventually('the wait', async () => (await client.listWaits({}))[0]);
    const { id } = await taskOf(runtime, threadId);
    expect(wait).toMatchObject({ threadId: `task/${id}`, kind: 'question' });
    await eventually('the thread waits', async () => (await client.getThread(threadId)).status === 'waiting');
    await client.answerWait(wait.id, { value: 'blue' });
    await client.waitForIdle(threadId);
    expect((await resultOf(runtime, threadId)).told).toMatchObject({ status: 'completed', outcome: 'blue' });
    const log = await runtime.store.events.read(threadId, 0, 1000);
    const told = log.map(({ type }) => type).filter((type) => type.startsWith('wait.'));
    expect(told).toEqual(['wait.opened', 'wait.closed']);
  });

  it('aborts its task when its thread is stopped or terminated', async () => {
    const model = scriptedModel(() => calls('task__ask'));
    const runtime = await testRuntime(project({ model }));
    const { client } = runtime;
    const end = async (how: (threadId: string) => Promise<unknown>) => {
      const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'ask' }] });
      const { id } = await taskOf(runtime, threadId);
      await eventually('it asks', async () => (await client.tasks.get(id)).status === 'waiting');
      await how(threadId);
      await eventually('it is aborted', async () => (await client.tasks.get(id)).status === 'aborted');
      expect(await client.listWaits({ threadId: `task/${id}` })).toEqual([]);
    };
    await end((threadId) => client.stop(threadId));
    await end((threadId) => client.terminate(threadId));
  });

  it('charges the task to the execution that started it', async () => {
    const model = scriptedModel([calls('task__count', { to: 5 }), says('not all')]);
    const runtime = await testRuntime(project({ model, agent: { budget: { maxToolCalls: 3 } } }));
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'count' }] });
    const { id } = await taskOf(runtime, threadId);
    const ended = await eventually('the end', async () => {
      const task = await client.tasks.get(id);
      return task.endedAt === null ? undefined : task;
    });
    // The call of the task is one of the three.
    expect(ended).toMatchObject({ status: 'failed', steps: 2, verdict: { stoppedBy: 'budget' } });
    expect(ended.verdict?.reason).toMatch(/maxToolCalls is 3/);
    await client.waitForIdle(threadId);
    expect((await resultOf(runtime, threadId)).told).toMatchObject({ status: 'failed' });
  });

  it('is refused invalid inputs, and a task that a policy denies', async () => {
    const model = scriptedModel([calls('task__count', { to: 'many' }), says('so')]);
    const refusing = await testRuntime(project({ model }));
    const first = await refusing.start('count');
    expect((await refusing.transcript(first)).join('\n')).toMatch(/task__count error: .*\[to\]/);
    const denied = scriptedModel([calls('task__count', { to: 1 }), says('so')]);
    const policy = { default: 'allow', rules: { 'task.start': 'deny' } } as const;
    const judged = await testRuntime(project({ model: denied, agent: { policy } }));
    const second = await judged.start('count');
    expect((await judged.transcript(second)).join('\n')).toMatch(/task__count error: .*task\.start/);
    expect(await judged.client.getFamily(second)).toHaveLength(1);
  });

  it('starts it from code as well: by a tool that queues it, for a prompt that does not list it', async () => {
    const starts = defineTool({
      description: 'starts',
      async execute(state) {
        const now = await state.invokeTool('task__count', { to: 1 });
        state.queueTool('task__count', { to: 1 });
        return { status: 'success', result: now.error ?? 'done at once' };
      },
    });
    const model = scriptedModel([calls('starts'), says('it has run')]);
    const tools = { starts };
    const registry = helperRegistry({ model, tools, tasks: TASKS });
    const runtime = await testRuntime({ model, registry });
    const threadId = await runtime.start('count');
    const said = (await runtime.transcript(threadId)).join('\n');
    expect(said).toMatch(/starts success: "task__count" is not a tool that can run immediately; queue it/);
    expect(said).toMatch(/tool task__count success: .*"counted":1/);
  });
});

describe('a thread started by such a task', () => {
  it('has no more permissions than the thread that started the task', async () => {
    const starts = defineTask<number>({
      observe: ({ history }) => history.length,
      decide: ({ state, history }) =>
        state === 0
          ? { kind: 'act', action: 'start' }
          : { kind: 'stop', pass: true, reason: 'started', outcome: history[0]?.actionOutcome?.result },
      act: (_, { startThread }) => startThread({ agent: 'helper', content: 'work' }),
    });
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' && messages.at(-1)?.content === 'start'
        ? calls('task__starts')
        : says('so'),
    );
    const registry = helperRegistry({ model, tasks: { starts }, prompt: { tools: ['task:starts'] } });
    const runtime = await testRuntime({ model, registry });
    const { client, store } = runtime;
    const context = { permissions: { 'money.*': 'deny' }, organizationId: 'acme' } as const;
    const { threadId } = await client.startThread({
      agent: 'helper',
      context,
      messages: [{ content: 'start' }],
    });
    await client.waitForIdle(threadId);
    const { outcome } = (await resultOf(runtime, threadId)).told as { outcome: { threadId: string } };
    const execution = await eventually('its execution', () => store.executions.get(outcome.threadId));
    expect(execution?.context).toMatchObject(context);
    expect(await client.getThread(outcome.threadId)).toMatchObject({
      parentId: null,
      organizationId: 'acme',
    });
  });
});

describe('a prompt that lists a task', () => {
  it('must name an existing one', () => {
    const model = scriptedModel([]);
    expect(() => helperRegistry({ model, tasks: { count }, prompt: { tools: ['task:coumt'] } })).toThrow(
      /tools\[0\]\.name.*names a task 'coumt', which does not exist\. Did you mean 'count'/s,
    );
  });
});
