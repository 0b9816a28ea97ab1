/** The AgentRuntime of AgenticX's page, run on the engine: it only translates names, and the engine decides. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { readTurn } from '../../src/faces/agenticx/default-id.ts';
import {
  type AgentHook,
  AgentRuntime,
  type AgentRuntimeOptions,
  AsyncConfirmGate,
  AutoApproveConfirmGate,
  type ConfirmContext,
  ConfirmGate,
  HookRegistry,
  isTerminal,
  maxToolRoundsOf,
  type RuntimeEvent,
  type RuntimeTools,
  SyncConfirmGate,
  type TurnOptions,
} from '../../src/faces/agenticx/index.ts';
import { toTimeouts } from '../../src/faces/agenticx/runtime-setting.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import {
  calls,
  hangs,
  type RecordedRequest,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { openTestStore } from '../support/worker-pool.ts';

const paid: unknown[] = [];
const TOOLS: RuntimeTools = {
  count: { description: 'Counts.', args: z.object({ n: z.number() }), run: ({ n }) => `counted ${n}` },
  look: { description: 'Looks.', run: () => 'seen' },
  pay: {
    description: 'Pays.',
    args: z.object({ amount: z.number() }),
    confirm: ({ amount }) => (Number(amount) < 5 ? null : `Pay ${amount}?`),
    run: ({ amount }) => {
      paid.push(amount);
      return { paid: amount };
    },
  },
  erase: {
    description: 'Erases.',
    asks: true,
    run: async (_, { requestConfirm }) => ((await requestConfirm('Erase it?')) ? 'erased' : 'kept'),
  },
};

let store: ThreadStore;
let script: ScriptStep[] = [];
const model = scriptedModel(() => script.shift() ?? says('nothing is left to say'));
const gate = new AsyncConfirmGate();
const open: AgentRuntime[] = [];

function runtimeOf(confirmGate: ConfirmGate, options: AgentRuntimeOptions = {}): AgentRuntime {
  const shared = { store, tools: TOOLS, workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string };
  const llm = { provider: model.provider, model: 'scripted' };
  const runtime = new AgentRuntime(llm, confirmGate, { ...shared, taskQueue: randomUUID(), ...options });
  open.push(runtime);
  return runtime;
}

let runtime: AgentRuntime;

beforeAll(async () => {
  store = await openTestStore();
  runtime = runtimeOf(gate, { systemPrompt: 'You count.' });
});

afterAll(async () => {
  for (const one of open) await one.close();
  await store.close();
});

interface Listening extends TurnOptions {
  readonly by?: AgentRuntime;
  readonly input?: string;
  readonly session?: string;
  readonly onEvent?: (event: RuntimeEvent) => void;
}

/** Runs a turn and returns its events, without those of single tokens. */
async function turn(steps: ScriptStep[], listening: Listening = {}): Promise<RuntimeEvent[]> {
  const { by = runtime, input = 'go', session = randomUUID(), onEvent, ...options } = listening;
  script = steps;
  const told: RuntimeEvent[] = [];
  for await (const event of by.runTurn(input, session, options)) {
    if (event.type !== 'token') told.push(event);
    onEvent?.(event);
  }
  expect(told.filter(isTerminal)).toEqual([told.at(-1)]);
  return told;
}

const typesOf = (events: readonly RuntimeEvent[]) => events.map(({ type }) => type);

describe('an AgenticX turn', () => {
  it('[AX-06] is a round and its answer, under the agent id', async () => {
    const told = await turn([says('hello')], { agentId: 'clerk' });
    expect(told).toEqual([
      { type: 'round_start', data: { round: 1, max_rounds: 10 }, agent_id: 'clerk' },
      { type: 'final', data: { text: 'hello' }, agent_id: 'clerk' },
    ]);
  });

  it('[AX-02] calls tools, and has the earlier turns', async () => {
    const session = randomUUID();
    const first = await turn([calls('count', { n: 3 }), says('three')], { session });
    expect(typesOf(first)).toEqual(['round_start', 'tool_call', 'tool_result', 'round_start', 'final']);
    expect(first[2]?.data).toMatchObject({ name: 'count', result: 'counted 3', is_error: false });
    const second = await turn([says('as before')], { session });
    expect(typesOf(second)).toEqual(['round_start', 'final']);
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
      'system',
      ...['user', 'assistant', 'tool', 'assistant', 'user'],
    ]);
  });

  it('[AX-03] has as many rounds as its runtime says; an option that no runtime has is refused by name', async () => {
    const told = await turn([calls('look'), calls('count', { n: 1 }), says('well')], {
      by: runtimeOf(gate, { maxToolRounds: 2 }),
    });
    expect(told.filter(({ type }) => type === 'round_start')).toHaveLength(2);
    expect(told.at(-1)).toMatchObject({ type: 'error', data: { terminal: true } });
    const strange = { maxRounds: 2 } as AgentRuntimeOptions;
    expect(() => runtimeOf(gate, strange)).toThrow(/An AgentRuntime has no option "maxRounds"/);
    await expect(turn([], { turnID: 'x' } as Listening)).rejects.toThrow(/A turn has no option "turnID"/);
  });

  it('[AX-04] [AX-83] of another agent than meta is paused without rounds, and continues once it is resumed', async () => {
    const by = runtimeOf(gate, { maxToolRounds: 9 });
    const session = randomUUID();
    script = Array.from({ length: 9 }, (_, n) => calls('count', { n }));
    const told: RuntimeEvent[] = [];
    for await (const event of by.runTurn('go', session, { agentId: 'clerk' })) told.push(event);
    expect(typesOf(told).filter((type) => type.startsWith('subagent'))).toEqual([
      'subagent_checkpoint',
      'subagent_paused',
    ]);
    expect(told.at(-1)?.data).toMatchObject({
      ...{ agent_id: 'clerk', round: 9, max_rounds: 9, executed_tools: ['count'] },
    });
    expect(await by.resume(session)).toBe(true);
    const more = await turn([says('done')], { by, session, agentId: 'clerk' });
    expect(more.at(-1)).toEqual({ type: 'final', data: { text: 'done' }, agent_id: 'clerk' });
    expect(await by.resume(session)).toBe(false);
  });

  it('[AX-04] of a paused session begins anew, with all its rounds and the history; the paused one has ended', async () => {
    const by = runtimeOf(gate, { maxToolRounds: 2 });
    const session = randomUUID();
    const read = async (steps: ScriptStep[], options: TurnOptions & { readonly input?: string } = {}) => {
      script = steps;
      const { input = 'go', ...rest } = options;
      const told: RuntimeEvent[] = [];
      for await (const event of by.runTurn(input, session, { agentId: 'clerk', ...rest })) told.push(event);
      return told.at(-1) as RuntimeEvent;
    };
    const count = () => [calls('count', { n: 1 }), calls('count', { n: 2 })];
    expect((await read(count(), { turnId: 'one' })).type).toBe('subagent_paused');
    // Without an id, then with one; the first of them is paused, too.
    expect((await read(count(), { input: 'And now?' })).type).toBe('subagent_paused');
    const last = await read([calls('count', { n: 5 }), says('five')], { input: 'Last.', turnId: 'three' });
    expect(last.data).toEqual({ text: 'five' });
    expect(model.requests.at(-1)?.messages.filter(({ role }) => role === 'user')).toMatchObject(
      ['go', 'And now?', 'Last.'].map((content) => ({ content: expect.stringContaining(content) })),
    );
    expect(await by.resume(session)).toBe(false);
    expect(await read([], { turnId: 'one' })).toMatchObject({
      type: 'error',
      data: { text: 'It was paused, and its session was given another turn.', terminal: true },
    });
  });

  it('[AX-04] of a paused session that says the same again is another one, once its reader has seen the pause', async () => {
    const by = runtimeOf(gate, { maxToolRounds: 1 });
    const session = randomUUID();
    const read = async (steps: ScriptStep[]) => {
      script = steps;
      const told: RuntimeEvent[] = [];
      for await (const event of by.runTurn('continue', session, { agentId: 'clerk' })) told.push(event);
      return told.at(-1)?.type;
    };
    expect(await read([calls('count', { n: 1 })])).toBe('subagent_paused');
    expect(await read([calls('count', { n: 2 })])).toBe('subagent_paused');
    expect(await read([says('done')])).toBe('final');
  });

  it('without an id is the open one that says the same, also if another one has ended since it was sent', async () => {
    const session = randomUUID();
    const release = Promise.withResolvers<ScriptStep>();
    const llm = scriptedModel(({ messages }) =>
      messages.at(-1)?.content === 'one' ? release.promise : hangs(),
    );
    const by = new AgentRuntime({ provider: llm.provider, model: 'scripted' }, gate, {
      ...{ store, taskQueue: randomUUID() },
      workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
    });
    open.push(by);
    const client = await RuntimeClient.connect({ store });
    closeAfterTest(() => client.close());
    const one = by.runTurn('one', session);
    await one.next();
    const sent = await readTurn(client, { session, input: 'two' });
    await client.queueMessage(session, { content: 'two', executionId: sent.id });
    sent.close();
    release.resolve(says('done'));
    for await (const _ of one);
    await eventually('its beginning', async () => llm.requests.length === 2);
    const again = await readTurn(client, { session, input: 'two' });
    const beside = await readTurn(client, { session, input: 'two' });
    for (const reading of [again, beside]) reading.close();
    expect([again.id, beside.id]).toEqual([sent.id, expect.not.stringMatching(sent.id)]);
  });

  it('[AX-03] has ten rounds by default', async () => {
    const told = await turn(Array.from({ length: 12 }, (_, n) => calls('count', { n })));
    expect(told.filter(({ type }) => type === 'round_start')).toHaveLength(10);
    expect(told.at(-1)).toMatchObject({ type: 'error', data: { terminal: true } });
  });

  it('[AX-05] is stopped by its program, whatever that threw before', async () => {
    let asked = 0;
    const shouldStop = () => {
      asked += 1;
      if (asked === 1) throw new Error('not yet');
      return true;
    };
    const told = await turn([hangs()], { shouldStop });
    expect(told.at(-1)?.data).toEqual({ text: 'The user has stopped the turn.', terminal: true });
    expect(asked).toBeGreaterThan(1);
  });

  it('[AX-20] is summarised at the thresholds of its compactor, with an event', async () => {
    const compactor = { thresholdMessages: 8, retainRecentMessages: 4 };
    const by = runtimeOf(gate, { compactor });
    const told = await turn(
      [...[1, 2, 3, 4].map((n) => calls('count', { n })), says('four so far'), says('four')],
      {
        by,
      },
    );
    expect(told.filter(({ type }) => type === 'compaction').map(({ data }) => data)).toEqual([
      { compacted_count: 5, summary: 'four so far' },
    ]);
  });

  it('[AX-70] gets a loop reminder, and is ended, at the documented thresholds', async () => {
    const told = await turn(Array.from({ length: 9 }, () => calls('look')));
    expect(told.filter(({ type }) => type === 'tool_result')).toHaveLength(8);
    expect(told.at(-1)?.data).toMatchObject({ terminal: true, detector: 'generic_repeat' });
  });

  it('attaches to a started one under its id, and repeats nothing', async () => {
    const listening = { session: randomUUID(), turnId: randomUUID() };
    const first = await turn([says('once')], listening);
    expect(await turn([says('twice')], listening)).toEqual(first);
  });
});

describe('an AgenticX team', () => {
  it('[AX-120] [AX-122] is created and queried by its model, with events; its manager resumes a paused one', async () => {
    const isScout = ({ messages: [first] }: RecordedRequest) =>
      String(first?.content).startsWith('You scout.');
    const llm = scriptedModel((request) => {
      const count = request.messages.filter(({ role }) => role === 'assistant').length;
      if (isScout(request))
        return count < 2 ? calls('count', { n: count }) : calls('finish_task', { result: 'clear' });
      const create = { agent: 'scout', message: 'Look ahead.', attachments: [], name: 'one' };
      return (
        [calls('subagent_create', create), calls('query_subagent_status'), says('It is on its way.')][
          count
        ] ?? says('so')
      );
    });
    const scout = { description: 'Scouts.', systemPrompt: 'You scout.', tools: ['count'], maxToolRounds: 2 };
    const by = new AgentRuntime({ provider: llm.provider, model: 'scripted' }, gate, {
      ...{ store, tools: TOOLS, taskQueue: randomUUID(), team: { subagents: { scout } } },
      workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
    });
    open.push(by);
    const session = randomUUID();
    const told = await turn([], { by, session });
    expect(told.find(({ type }) => type === 'subagent_started')?.data).toMatchObject({
      role: 'scout',
      name: 'one',
    });
    const own = told.filter(({ agent_id: id }) => id === 'meta');
    expect(own.flatMap(({ type, data }) => (type === 'tool_result' ? [data.is_error] : []))).toEqual([
      false,
      false,
    ]);
    const team = await by.team(session);
    const paused = await eventually('the pause', async () =>
      (await team.querySubagentStatus()).find(({ status }) => status === 'paused'),
    );
    expect(await team.resumeSubagent(paused.agent_id)).toBe(true);
    await eventually('the report', async () =>
      (await store.events.read(session, 0, 1000)).some(({ type }) => type === 'subagent.returned'),
    );
  });
});

describe('the events of an AgenticX team', () => {
  it('[AX-68] tell that its status was queried as often as the environment of the runtime allows', async () => {
    const create = { agent: 'scout', message: 'Go.', attachments: [], name: 'one' };
    const query = calls('query_subagent_status');
    const llm = scriptedModel(({ messages }) => {
      if (String(messages[0]?.content).startsWith('You scout.')) return hangs();
      const count = messages.filter(({ role }) => role === 'assistant').length;
      return [calls('subagent_create', create), query, query][count] ?? says('so');
    });
    const scout = { description: 'Scouts.', systemPrompt: 'You scout.' };
    const by = new AgentRuntime({ provider: llm.provider, model: 'scripted' }, gate, {
      ...{ store, taskQueue: randomUUID(), team: { subagents: { scout } } },
      workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
      environment: { AGX_STATUS_QUERY_BUDGET_PER_TURN: '1' },
    });
    open.push(by);
    const told = await turn([], { by });
    const results = told.flatMap(({ type, data }) => (type === 'tool_result' ? [data] : []));
    expect(results.map(({ is_error: isError }) => isError)).toEqual([false, false, true]);
    expect(results.at(-1)?.result).toContain('may be queried once per turn');
  });

  it('[AX-84] [AX-120] are those of its turn and of its subagents, each under its id, in the order of what happened', async () => {
    const session = randomUUID();
    const returned = () =>
      eventually('the report', async () =>
        (await store.events.read(session, 0, 1000)).some(({ type }) => type === 'subagent.returned'),
      );
    const create = { agent: 'scout', message: 'Go.', attachments: [], name: 'one' };
    const llm = scriptedModel(async ({ messages }) => {
      const count = messages.filter(({ role }) => role === 'assistant').length;
      const prompt = String(messages[0]?.content);
      if (prompt.startsWith('You scout.'))
        return count === 0 ? calls('count', { n: 7 }) : calls('finish_task', { result: 'clear' });
      if (count === 1) await returned();
      return [calls('subagent_create', create), calls('look'), says('It is clear.')][count] ?? says('so');
    });
    const scout = { description: 'Scouts.', systemPrompt: 'You scout.', tools: ['count'] };
    const by = new AgentRuntime({ provider: llm.provider, model: 'scripted' }, gate, {
      ...{ store, tools: TOOLS, taskQueue: randomUUID(), team: { subagents: { scout } } },
      workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE as string,
    });
    open.push(by);
    const listening = { by, session, turnId: randomUUID() };
    const told = await turn([], listening);
    const child = told.find(({ type }) => type === 'subagent_started')?.data as { agent_id: string };
    const nested = told.filter(({ agent_id: id }) => id === child.agent_id);
    expect(nested.map(({ type, data }) => ('name' in data ? `${type} ${data.name}` : type))).toEqual([
      'round_start',
      'tool_call count',
      'tool_result count',
      'round_start',
      'tool_call finish_task',
      'tool_result finish_task',
    ]);
    const places = nested.map((event) => told.indexOf(event));
    expect(Math.min(...places)).toBeGreaterThan(told.findIndex(({ type }) => type === 'subagent_started'));
    expect(Math.max(...places)).toBeLessThan(told.findIndex(({ type }) => type === 'subagent_completed'));
    expect(told.find(({ type }) => type === 'subagent_completed')?.data).toMatchObject({
      summary: expect.stringContaining('clear'),
    });
    expect(told.at(-1)).toEqual({ type: 'final', data: { text: 'It is clear.' }, agent_id: 'meta' });
    // Read again, it has the same events.
    const again = await turn([], listening);
    expect(again).toHaveLength(told.length);
    expect(again).toEqual(expect.arrayContaining(told));
  });
});

describe('AgenticX hooks', () => {
  it('[AX-105] [AX-106] [AX-107] [AX-110] run by priority at their six points, and may block and rewrite', async () => {
    const told: string[] = [];
    const watch = (name: string): AgentHook => ({
      beforeModel: (messages) => void told.push(`${name} before_model ${messages.at(-1)?.role}`),
      afterModel: ({ content, toolCalls }) =>
        void told.push(`${name} after_model ${content} ${toolCalls.length}`),
      beforeToolCall: (tool) => void told.push(`${name} before_tool_call ${tool}`),
      afterToolCall: (tool, result) => void told.push(`${name} after_tool_call ${tool} ${result}`),
      onCompaction: (count, summary) => void told.push(`${name} on_compaction ${count} ${summary}`),
      onAgentEnd: (text) => void told.push(`${name} on_agent_end ${text}`),
    });
    const hooks = new HookRegistry().register({ priority: 1, ...watch('second') }).register({
      priority: 2,
      ...watch('first'),
      beforeModel: (messages) => [...messages, { role: 'user', content: 'Be brief.' }],
      afterModel: ({ content }) => content?.replace('well', 'Well.'),
      beforeToolCall: (name, { n }) => {
        if (name === 'look') return { blocked: true, reason: 'Nobody looks.' };
        return n === 1 ? { arguments: { n: 2 } } : undefined;
      },
      afterToolCall: (name, result) => (name === 'count' ? `${result}!` : undefined),
    });
    const by = runtimeOf(gate, { hooks, compactor: { thresholdMessages: 8, retainRecentMessages: 4 } });
    const steps = [
      calls('count', { n: 1 }),
      calls('look'),
      calls('count', { n: 3 }),
      calls('count', { n: 4 }),
    ];
    const events = await turn([...steps, says('in short'), says('well')], { by });
    expect(told.slice(0, 6)).toEqual([
      'second before_model user',
      'second after_model null 1',
      'second before_tool_call count',
      'second after_tool_call count counted 2!',
      'second before_model user',
      'second after_model null 1',
    ]);
    expect(told).not.toContain('second before_tool_call look');
    expect(told.some((line) => line.includes('on_compaction') && line.endsWith('in short'))).toBe(true);
    expect(told.slice(-2)).toEqual(['first on_agent_end Well.', 'second on_agent_end Well.']);
    expect(events.flatMap(({ type, data }) => (type === 'tool_result' ? [data.result] : []))).toEqual([
      'counted 2!',
      expect.stringContaining('Nobody looks.'),
      'counted 3!',
      'counted 4!',
    ]);
    expect(events.at(-1)?.data).toEqual({ text: 'Well.' });
    expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: 'Be brief.' });
  });

  it('[AX-111] have a memory: what a session has said is recalled once its request no longer shows it', async () => {
    const listening = { session: randomUUID() };
    const by = runtimeOf(gate, { compactor: { thresholdMessages: 8, retainRecentMessages: 4 } });
    await turn([says('The harbour is called Skagen.')], { by, ...listening, input: 'Which harbour?' });
    for (const n of [1, 2, 3, 4]) await turn([says('fine')], { by, ...listening, input: `say fine ${n}` });
    await turn([says('short'), says('Skagen')], { by, ...listening, input: 'The harbour again?' });
    const recalled = model.requests
      .at(-1)
      ?.messages.find(({ content }) => String(content).includes('[memory]'));
    expect(recalled?.content).toContain('Answered: The harbour is called Skagen.');
  });
});

describe('AgenticX gates', () => {
  it('[AX-92] answer a request once, by its id', async () => {
    const answers: boolean[] = [];
    const onEvent = ({ type, data }: RuntimeEvent) => {
      if (type !== 'confirm_required') return;
      expect(gate.lastRequest).toMatchObject({ id: data.id, question: 'Pay 7?', context: { tool: 'pay' } });
      answers.push(gate.resolve('another', true), gate.resolve(data.id, true), gate.resolve(data.id, false));
    };
    const told = await turn([calls('pay', { amount: 7 }), says('paid')], { onEvent });
    expect(typesOf(told).slice(1, 5)).toEqual([
      'tool_call',
      'confirm_required',
      'confirm_response',
      'tool_result',
    ]);
    expect(told[3]?.data).toMatchObject({ approved: true });
    expect(answers).toEqual([false, true, false]);
    expect(paid.splice(0)).toEqual([7]);
  });

  it('[AX-91] deny a call, and the model continues; calls without confirmation run', async () => {
    const refuse = ({ type, data }: RuntimeEvent) =>
      type === 'confirm_required' && gate.resolve(data.id, false);
    const steps = [calls('pay', { amount: 7 }), calls('pay', { amount: 1 }), says('so be it')];
    const told = await turn(steps, { onEvent: refuse });
    expect(told.find(({ type }) => type === 'confirm_response')?.data).toMatchObject({ approved: false });
    expect(told.at(-1)?.data).toEqual({ text: 'so be it' });
    expect(paid.splice(0)).toEqual([1]);
  });

  it('[AX-90] ask from a body as from its call, and return the answer', async () => {
    const agree = ({ type, data }: RuntimeEvent) =>
      type === 'confirm_required' && gate.resolve(data.id, data.question === 'Erase it?');
    const told = await turn([calls('erase'), says('done')], { onEvent: agree });
    expect(told.find(({ type }) => type === 'tool_result')?.data).toMatchObject({ result: 'erased' });
  });

  it('[AX-96] ask no more once the turn is stopped', async () => {
    let id = '';
    const onEvent = ({ type, data }: RuntimeEvent) => {
      if (type === 'confirm_required') id = data.id;
    };
    const told = await turn([calls('pay', { amount: 7 })], { onEvent, shouldStop: () => id !== '' });
    expect(told.at(-1)).toMatchObject({ type: 'error', data: { terminal: true } });
    expect(gate.resolve(id, true)).toBe(false);
    expect(paid).toEqual([]);
  });

  it('[AX-93] keep a request beyond its process, and the call runs once', async () => {
    const terms = { taskQueue: randomUUID() };
    const before = runtimeOf(gate, terms);
    const listening = { session: randomUUID(), turnId: randomUUID() };
    script = [calls('pay', { amount: 9 }), says('paid')];
    for await (const { type } of before.runTurn('go', listening.session, { turnId: listening.turnId }))
      if (type === 'confirm_required') break;
    await before.close();
    const onEvent = ({ type, data }: RuntimeEvent) =>
      type === 'confirm_required' && gate.resolve(data.id, true);
    const told = await turn([says('paid')], { by: runtimeOf(gate, terms), ...listening, onEvent });
    expect(told.at(-1)?.data).toEqual({ text: 'paid' });
    expect(paid.splice(0)).toEqual([9]);
  });

  it('[AX-92] answer several readers of a turn; one that leaves answers for no other', async () => {
    const listening = { session: randomUUID(), turnId: randomUUID() };
    script = [calls('pay', { amount: 7 }), says('paid')];
    const leaving = runtime.runTurn('go', listening.session, { turnId: listening.turnId });
    for await (const { type } of leaving) if (type === 'confirm_required') break;
    const asked = Promise.withResolvers<string>();
    const staying = turn([says('paid')], {
      ...listening,
      onEvent: ({ type, data }) => type === 'confirm_required' && asked.resolve(data.id),
    });
    const again = runtime.runTurn('go', listening.session, { turnId: listening.turnId });
    const id = await asked.promise;
    for await (const { type } of again) if (type === 'confirm_required') break;
    expect(gate.resolve(id, true)).toBe(true);
    expect((await staying).at(-1)?.data).toEqual({ text: 'paid' });
    expect(paid.splice(0)).toEqual([7]);
  });

  it('[AX-93] are not asked what was answered before they read it', async () => {
    const listening = { session: randomUUID(), turnId: randomUUID() };
    const agree = ({ type, data }: RuntimeEvent) =>
      type === 'confirm_required' && gate.resolve(data.id, true);
    const first = await turn([calls('pay', { amount: 7 }), says('paid')], { ...listening, onEvent: agree });
    const before = gate.lastRequest;
    await turn([calls('pay', { amount: 8 }), says('paid')], { onEvent: agree });
    expect(await turn([], listening)).toEqual(first);
    expect(gate.lastRequest).not.toBe(before);
    expect(gate.lastRequest?.question).toBe('Pay 8?');
    expect(paid.splice(0)).toEqual([7, 8]);
  });

  it('[AX-94] that approve everything ask nobody and send no event', async () => {
    const auto = new AutoApproveConfirmGate();
    const steps = [calls('pay', { amount: 7 }), calls('erase'), says('done')];
    const told = await turn(steps, { by: runtimeOf(auto) });
    expect(typesOf(told).filter((type) => type.startsWith('confirm'))).toEqual([]);
    expect(told.flatMap(({ type, data }) => (type === 'tool_result' ? [data.result] : []))).toEqual([
      '{"paid":7}',
      'erased',
    ]);
    expect(auto.lastRequest).toBeNull();
    expect(paid.splice(0)).toEqual([7]);
  });

  it('that fail deny', async () => {
    class Broken extends ConfirmGate {
      requestConfirm(): boolean {
        throw new Error('no line');
      }
    }
    const told = await turn([calls('pay', { amount: 7 }), says('well')], { by: runtimeOf(new Broken()) });
    const result = told.find(({ type }) => type === 'tool_result')?.data;
    expect(result).toMatchObject({ result: expect.stringContaining('no line') });
    expect(paid).toEqual([]);
  });
});

describe('the gate on the terminal', () => {
  const CONTEXT: ConfirmContext = { request_id: 'w', kind: 'approval', tool: 'pay' };

  it.each([
    ['y\n', true],
    [' YES \n', true],
    ['n\n', false],
    ['\n', false],
    ['yellow\n', false],
    [null, false],
  ])('%j: %s', async (said, approved) => {
    const input = new PassThrough();
    const output = new PassThrough();
    const asked = new SyncConfirmGate({ input, output }).requestConfirm('Pay 7?', CONTEXT);
    await new Promise((resolve) => output.once('data', resolve));
    if (said === null) input.end();
    else input.write(said);
    expect(await asked).toBe(approved);
  });

  it('asks one question after the other, and none that is withdrawn', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const gate = new SyncConfirmGate({ input, output });
    const withdrawn = new AbortController();
    const asked = ['one', 'two', 'three'].map((question) =>
      gate.requestConfirm(question, CONTEXT, question === 'two' ? withdrawn.signal : undefined),
    );
    withdrawn.abort();
    let text = '';
    output.on('data', (chunk) => {
      if (String(chunk).includes('[y/N]')) input.write('y\n');
      text += chunk;
    });
    expect(await Promise.all(asked)).toEqual([true, false, true]);
    expect(text).toContain('three [y/N] ');
    expect(text).not.toContain('two');
  });
});

describe('AgenticX settings', () => {
  it.each([
    ['5', 10],
    ['500', 120],
    ['x', 30],
    [undefined, 30],
    ['64', 64],
  ])('[AX-100] AGX_MAX_TOOL_ROUNDS %j: %i', (said, rounds) => {
    expect(maxToolRoundsOf({ AGX_MAX_TOOL_ROUNDS: said })).toBe(rounds);
  });

  it('[AX-39] timeouts are those of the environment, the model, then the defaults; invalid ones are ignored', () => {
    expect(toTimeouts({})).toEqual({ plainSeconds: 120, totalSeconds: 300 });
    const environment = {
      AGX_LLM_INVOKE_TIMEOUT_SECONDS: '90',
      AGX_LLM_HEARTBEAT_TIMEOUT_SECONDS: '0',
      AGX_LLM_HARD_TIMEOUT_SECONDS: '-1',
      AGX_LLM_FIRST_FEEDBACK_SECONDS: 'soon',
    };
    expect(toTimeouts(environment, { idleSeconds: 20, plainSeconds: 700, totalSeconds: 500 })).toEqual({
      firstChunkSeconds: 90,
      plainSeconds: 90,
      idleSeconds: 20,
      totalSeconds: 500,
    });
  });
});
