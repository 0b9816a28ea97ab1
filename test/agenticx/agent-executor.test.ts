/** The Agent and AgentExecutor of AgenticX's page, run on the engine. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { judgeOutput } from '../../src/faces/agenticx/guide-rail.ts';
import {
  Agent,
  AgentExecutor,
  type AgentFields,
  AgentRuntime,
  AutoApproveConfirmGate,
  type ExecutorOptions,
  type ExecutorResult,
  type GuideRail,
  Task,
} from '../../src/faces/agenticx/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { openTestStore } from '../support/worker-pool.ts';

let running = 0;
let most = 0;
const both = Promise.withResolvers<void>();
const TOOLS: AgentFields['tools'] = {
  count: { description: 'Counts.', args: z.object({ n: z.number() }), run: ({ n }) => `counted ${n}` },
  meet: {
    description: 'Ends once two of it run.',
    run: async () => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) both.resolve();
      await both.promise;
      running -= 1;
      return 'met';
    },
  },
  fall: {
    description: 'Fails.',
    run: () => {
      throw new Error('it fell');
    },
  },
};

let store: ThreadStore;
let script: ScriptStep[] = [];
const model = scriptedModel(() => script.shift() ?? says('nothing is left to say'));
const llmProvider = { provider: model.provider, model: 'scripted' };
const open: { close(): Promise<void> }[] = [];
const fields = { name: 'analyst', role: 'Analyst', goal: 'Find out.', tools: TOOLS };
const agent = new Agent(fields);
const railed = (...guiderails: GuideRail[]) => new Agent({ ...fields, name: 'railed', guiderails });
const newTask = () => new Task({ description: 'Research topic X', expectedOutput: 'Short report' });
let executor: AgentExecutor;

function executorOf(options: ExecutorOptions = {}): AgentExecutor {
  const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;
  const made = new AgentExecutor({ store, workflowBundle, llmProvider, ...options });
  open.push(made);
  return made;
}

beforeAll(async () => {
  store = await openTestStore();
  executor = executorOf();
});

afterAll(async () => {
  for (const one of open) await one.close();
  await store.close();
});

async function run(steps: ScriptStep[], given: Partial<Parameters<AgentExecutor['run']>[0]> = {}) {
  script = steps;
  return executor.run({ agent, task: newTask(), ...given });
}

const typesOf = ({ event_log: log }: ExecutorResult) => log.map(({ type }) => type);

describe('an AgenticX agent', () => {
  it('[AX-130] has its defaults', () => {
    const made = new Agent({ name: 'a', role: 'r', goal: 'g' });
    expect(made).toMatchObject({ organizationId: 'default-org', maxIterations: 25, backstory: null });
    expect(made).toMatchObject({ version: '1.0.0', toolNames: [], maxRetryLimit: 2 });
    expect(made.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each(['verbose', 'max_iter'])('[AX-131] has no field %s, and reports it', (name) => {
    const given = { name: 'a', role: 'r', goal: 'g', [name]: 1 } as AgentFields;
    expect(() => new Agent(given)).toThrow(expect.objectContaining({ code: 'InvalidValue' }));
    expect(() => new Agent({ name: 'a', role: 'r' } as AgentFields)).toThrow(/"goal"/);
  });

  it('[AX-132] applies its own limit during turns', async () => {
    const shared = { store, workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string };
    const options = { ...shared, ...agent.runtimeOptions, taskQueue: randomUUID() };
    const runtime = new AgentRuntime(llmProvider, new AutoApproveConfirmGate(), options);
    open.push(runtime);
    script = [says('hello')];
    const told = [];
    for await (const event of runtime.runTurn('go', randomUUID())) told.push(event);
    expect(told[0]?.data).toEqual({ round: 1, max_rounds: 25 });
  });
});

describe('an AgenticX executor', () => {
  it('[AX-140] finishes a task, with its log and its statistics', async () => {
    const finish = { result: 'A report.', reasoning: 'It is short.' };
    const done = await run([calls('count', { n: 1 }), calls('finish_task', finish)]);
    expect(done).toMatchObject({ success: true, result: 'A report.' });
    expect(typesOf(done)).toEqual([
      ...['task_start', 'llm_call', 'tool_call', 'tool_result', 'llm_call', 'tool_call', 'finish_task'],
      ...['tool_result', 'task_end'],
    ]);
    expect(done.stats).toMatchObject({ tool_calls: 2, llm_calls: 2, errors: 0, final_state: 'completed' });
    expect(done.stats.token_usage).toBeGreaterThan(0);
  });

  it('[AX-140] stores its result as text, belongs to its organisation, and runs once', async () => {
    const task = newTask();
    const first = await run([says('A text.')], { task });
    expect(first).toMatchObject({ success: true, result: 'A text.' });
    expect(await run([says('Another.')], { task })).toEqual(first);
    const [execution] = await store.executions.list({ threadId: task.id });
    expect(execution?.context).toMatchObject({ organizationId: 'default-org' });
  });

  it('[AX-141] fails when a guide rail stops it', async () => {
    const stops = railed(() => ({ action: 'abort', reason: 'It names a customer.' }));
    const done = await run([says('About Ada.')], { agent: stops });
    expect(done).toMatchObject({ success: false, error: 'It names a customer.' });
    expect(done.result).toBeUndefined();
    expect(done.event_log.at(-2)).toMatchObject({ error_type: 'guiderails_abort', recoverable: false });
    expect(done.stats.final_state).toBe('failed');
  });

  it('[AX-143] waits for the person asked by its model, and continues in another process', async () => {
    const task = newTask();
    const before = executorOf();
    script = [calls('human_request', { question: 'Which year?' }), says('Of 1999.')];
    const waits = await before.run({ agent, task });
    expect(waits).toMatchObject({ success: false, waiting_for: [{ question: 'Which year?' }] });
    expect(waits.stats).toMatchObject({ final_state: 'waiting_for_human', human_requests: 1 });
    await before.close();
    await executor.respond(agent, waits.waiting_for?.[0]?.request_id ?? '', 'In 1999.');
    const done = await executor.run({ agent, task });
    expect(done).toMatchObject({ success: true, result: 'Of 1999.' });
    expect(done.event_log.find(({ type }) => type === 'tool_result')).toMatchObject({ result: 'In 1999.' });
  });

  it('[AX-144] asks a person for help after three failures in a row, and the model reads the answer', async () => {
    const task = newTask();
    const fails = Array.from({ length: 3 }, (_, n) => calls(n === 1 ? 'nowhere' : 'fall'));
    const waits = await run([...fails, says('By the stairs.')], { task });
    expect(waits).toMatchObject({
      success: false,
      waiting_for: [{ question: expect.stringContaining('3 calls') }],
    });
    expect(waits.stats).toMatchObject({ final_state: 'waiting_for_human', human_requests: 1, llm_calls: 3 });
    await executor.respond(agent, waits.waiting_for?.[0]?.request_id ?? '', 'Use the stairs.');
    expect(await executor.run({ agent, task })).toMatchObject({ success: true, result: 'By the stairs.' });
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: 'Use the stairs.' });
  });

  it('[AX-144] asks for help after as many retries as its agent has, and runs the LLM hooks of its agent', async () => {
    const llmHooks = {
      before: [(messages: readonly object[]) => [...messages, { role: 'user', content: 'Hurry.' }] as never],
    };
    const hasty = new Agent({ ...fields, name: 'hasty', maxRetryLimit: 1, llmHooks });
    const waits = await run([calls('fall'), calls('fall')], { agent: hasty });
    expect(waits).toMatchObject({ waiting_for: [{ question: expect.stringContaining('2 calls') }] });
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: 'Hurry.' });
  });

  it('[AX-146] fails a task that never ends', async () => {
    const small = executorOf({ maxIterations: 10, taskQueue: randomUUID() });
    script = Array.from({ length: 12 }, (_, n) => calls('count', { n }));
    const done = await small.run({ agent, task: newTask() });
    expect(done).toMatchObject({ success: false, error: expect.stringContaining('10 rounds') });
    expect(done.stats.llm_calls).toBe(10);
  });
});

describe('concurrent calls', () => {
  it('are refused by what is missing if neither the agent nor its executor has a model', async () => {
    const bare = new AgentExecutor({ store, taskQueue: randomUUID() });
    await expect(bare.executeParallelToolCalls(agent, [{ name: 'meet' }])).rejects.toMatchObject({
      code: 'InvalidValue',
      message: expect.stringContaining('"llmProvider"'),
    });
  });

  it('[AX-145] return in order; a failing one stops no other, and at most the limit run', async () => {
    const batch = [{ name: 'meet' }, { name: 'fall' }, { name: 'nowhere' }, { name: 'meet' }];
    const count = { name: 'count', arguments: { n: 5 } };
    const outcomes = await executor.executeParallelToolCalls(agent, [...batch, count], { maxConcurrency: 2 });
    expect(outcomes).toMatchObject([
      { name: 'meet', success: true, result: 'met' },
      { name: 'fall', success: false, error: expect.stringContaining('it fell') },
      { name: 'nowhere', success: false },
      { name: 'meet', success: true, result: 'met' },
      { name: 'count', success: true, result: 'counted 5' },
    ]);
    expect(most).toBe(2);
  });

  it('[AX-145] after a failing one none starts, if configured', async () => {
    const batch = [{ name: 'fall' }, { name: 'count', arguments: { n: 1 } }];
    const options = { failFast: true, maxConcurrency: 1 };
    expect(await executor.executeParallelToolCalls(agent, batch, options)).toMatchObject([
      { success: false },
      { success: false, skipped: true },
    ]);
  });
});

describe('guide rails', () => {
  const add =
    (text: string): GuideRail =>
    (output) => ({ action: 'modify', output: output + text });
  const judge = (rails: GuideRail[], config = {}) => judgeOutput('a', rails, { ...config, context: {} });

  it('[AX-142] change the output one after the other, within their limit', async () => {
    expect(await judge([add('b'), () => true, () => null, add('c')])).toEqual({ output: 'abc' });
    expect(await judge(Array(5).fill(add('b')))).toEqual({ output: 'abbbbb' });
    expect(await judge(Array(6).fill(add('b')))).toMatchObject({ aborted: expect.any(String) });
    expect(await judge([add('b')], { allowModify: false })).toMatchObject({ aborted: expect.any(String) });
  });

  it.each<[string, GuideRail]>([
    ['refuses', () => false],
    ['throws', () => Promise.reject(new Error('no'))],
    ['answers nonsense', () => ({ action: 'maybe' }) as never],
  ])('[AX-141] fail the task with one that %s', async (_, rail) => {
    expect(await judge([rail, add('b')])).toMatchObject({ aborted: expect.any(String) });
  });
});
