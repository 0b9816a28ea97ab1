/**
 * What AgenticX's page says of hooks, memory, a team and pauses, as programs of its readers, twice: the first process is
 * killed in the middle of them, a second one takes their work up.
 */
import { beforeAll, expect, it } from '@jest/globals';
import { type Example, type Group, runBeside, runTwice, type TwiceRun } from '../support/examples-twice.ts';

const GIVEN = `
import { AgentRuntime, AutoApproveConfirmGate, HookRegistry, MemoryHook } from 'everthread/agenticx';
import { calls, says, scriptedModel } from 'everthread/testing';
import { setTimeout as wait } from 'node:timers/promises';
const gate = new AutoApproveConfirmGate();
const answered = ({ messages }) => messages.filter(({ role }) => role === 'assistant').length;
const tell = ({ type, data, agent_id }) => {
  const said = data.text ?? data.result ?? data.name ?? data.round ?? data.question ?? '';
  if (type !== 'token') console.log(type, said, agent_id.length > 20 ? data.role ?? 'scout' : agent_id);
};
`;

const typed = (line: number, stop: string, source: string): Example => ({
  ...{ page: 'Agent Runtime', at: { line, source: `${GIVEN}${source}` }, stop },
});

const HOOKED = `
const { provider } = scriptedModel([calls('count', { n: 1 }), calls('erase'), says('well')]);
const hooks = new HookRegistry().register({
  beforeModel: (messages) => [...messages, { role: 'user', content: 'Be brief.' }],
  afterModel: ({ content }) => content?.replace('well', 'Well.'),
  beforeToolCall: (name) => (name === 'erase' ? { blocked: true, reason: 'Nothing is erased.' } : { arguments: { n: 2 } }),
  afterToolCall: async (name, result) => (await stop('after the tool'), name === 'count' ? result + '!' : undefined),
  onAgentEnd: async (text) => (did('ended ' + text), await stop('at the end')),
});
const tools = {
  count: { description: 'Counts.', run: ({ n }) => (did('counted'), 'counted ' + n) },
  erase: { description: 'Erases.', run: () => (did('erased'), 'erased') },
};
const runtime = new AgentRuntime({ provider, model: 'scripted' }, gate, { name: NAME, tools, hooks });
for await (const event of runtime.runTurn('Count.', NAME)) tell(event);
await runtime.close();
`;

const MEMORY = `
const { provider } = scriptedModel(({ messages }) => {
  const last = String(messages.at(-1).content);
  const memory = messages.find(({ content }) => String(content).includes('[memory]'));
  if (last.includes('say fine')) return says('fine');
  if (last === 'Which harbour?') return says('The harbour is called Skagen.');
  if (last === 'The harbour again?') return says(memory?.content.includes('Skagen') ? 'Skagen' : 'unknown');
  return says('in short');
});
const compactor = { thresholdMessages: 8, retainRecentMessages: 4 };
const runtime = new AgentRuntime({ provider, model: 'scripted' }, gate, { name: 'memory', compactor });
const said = ['Which harbour?', ...[1, 2, 3, 4].map((n) => 'say fine ' + n), 'The harbour again?'];
for (const [n, text] of said.entries()) {
  if (n === 5) await stop('before the question');
  for await (const event of runtime.runTurn(text, 'memory-1', { turnId: 'memory-1.' + n })) if (event.type === 'final') tell(event);
}
await runtime.close();
`;

const TEAM = `
const { provider } = scriptedModel((request) => {
  const count = answered(request);
  if (String(request.messages[0].content).startsWith('You scout.'))
    return count === 0 ? calls('look') : calls('finish_task', { result: 'The way is clear.' });
  const create = { agent: 'scout', message: 'Look ahead.', attachments: [], name: 'one' };
  return [calls('subagent_create', create), says('It is on its way.'), says('The way is clear, I hear.')][count];
});
const tools = { look: { description: 'Looks.', run: async () => (did('looked'), await stop('it looks'), 'clear') } };
const scout = { description: 'Scouts.', systemPrompt: 'You scout.', tools: ['look'] };
const runtime = new AgentRuntime({ provider, model: 'scripted' }, gate, { name: 'team', tools, team: { subagents: { scout } } });
for await (const event of runtime.runTurn('Scout.', 'team-1', { turnId: 'team-1.1' })) tell(event);
const team = await runtime.team('team-1');
while ((await team.querySubagentStatus()).some(({ status }) => status === 'running')) await wait(50);
console.log((await team.querySubagentStatus()).map(({ role, name, depth, status }) => [role, name, depth, status].join(' ')).join());
await runtime.close();
`;

const PAUSED = `
const { provider } = scriptedModel((request) => {
  const count = answered(request) % 11;
  return count < 10 ? calls('count', { n: count }) : says('ten');
});
const tools = { count: { description: 'Counts.', run: ({ n }) => (did('counted ' + n), 'counted ' + n) } };
const runtime = new AgentRuntime({ provider, model: 'scripted' }, gate, { name: NAME, tools, maxToolRounds: 9, compactor: false });
let paused = false;
do {
  for await (const event of runtime.runTurn('Count.', NAME, { agentId: 'clerk' })) {
    if (event.type.startsWith('subagent') || event.type === 'final') tell(event);
    paused = event.type === 'subagent_paused';
  }
  if (paused) await stop('it is paused');
  if (paused) await runtime.resume(NAME);
} while (paused);
await runtime.close();
`;

/** Parallel batches, line 17: one call has ended when its process is killed, one runs, one has not begun. */
const BATCH = `
import { Agent, AgentExecutor } from 'everthread/agenticx';
const tools = {
  quick: { description: 'Is quick.', run: ({ n }) => (did('quick ' + n), 'quick ' + n) },
  slow: { description: 'Is slow.', run: async () => (did('slow'), await stop('it is slow'), 'slow') },
};
const { provider } = scriptedModel([says('so')]);
const executor = new AgentExecutor({ llmProvider: { provider, model: 'scripted' } });
const agent = new Agent({ name: 'batch', role: 'Analyst', goal: 'Calls', tools });
const calls_ = [{ name: 'quick', arguments: { n: 1 } }, { name: 'slow' }, { name: 'quick', arguments: { n: 2 } }];
const outcomes = await executor.executeParallelToolCalls(agent, calls_, { id: 'batch-1', maxConcurrency: 1 });
for (const { success, result, error } of outcomes) console.log(success, result ?? error.split(':')[1]);
const other = await executor.executeParallelToolCalls(agent, [{ name: 'slow' }], { id: 'batch-1' }).catch(({ code }) => code);
console.log(other);
await executor.close();
`;

const named = (name: string, source: string) => source.replaceAll('NAME', JSON.stringify(name));

const EXAMPLES = {
  model: typed(88, 'model 2', named('hooks-1', HOOKED)),
  tool: typed(88, 'after the tool', named('hooks-2', HOOKED)),
  end: typed(88, 'at the end', named('hooks-3', HOOKED)),
  memory: typed(98, 'before the question', MEMORY),
  team: typed(29, 'it looks', TEAM),
  rounds: typed(31, 'model 5', named('pause-1', PAUSED)),
  paused: typed(31, 'it is paused', named('pause-2', PAUSED)),
  batch: typed(17, 'it is slow', BATCH),
} satisfies Readonly<Record<string, Example>>;

let ran: Group;

const example = (name: keyof typeof EXAMPLES): TwiceRun => {
  const { [Object.keys(EXAMPLES).indexOf(name)]: found } = ran.examples;
  if (!found) throw new Error(`${name} is no example.`);
  return found;
};

beforeAll(async () => {
  ran = await runTwice(Object.values(EXAMPLES));
}, 300_000);

const ROUND = ['tool_call count meta', 'tool_result counted 2! meta', 'round_start 2 meta'];
const BLOCKED = 'Failed to execute tool: HookBlocked: "erase" was not done. Nothing is erased. meta';
const WHOLE = [
  'round_start 1 meta',
  ...ROUND,
  'tool_call erase meta',
  `error ${BLOCKED}`,
  `tool_result ${BLOCKED}`,
  'round_start 3 meta',
  'final Well. meta',
];

it('[AX-105] [AX-106] [AX-107] hooks rewrite and block for the process that takes a turn up, and no call runs twice', () => {
  const { first, second, again, count } = example('model');
  expect([first.state, first.lines]).toEqual(['killed at model 2', WHOLE.slice(0, 4)]);
  expect([second.state, second.lines, second.did]).toEqual([
    'done',
    WHOLE,
    ['model 2', 'model 3', 'ended Well.'],
  ]);
  expect([again.lines, count('counted'), count('erased')]).toEqual([WHOLE, 2, 0]);
});

it('[AX-107] a process that is killed in a hook after a tool leaves the call with an unknown outcome, and does not repeat it', () => {
  const { first, second, count } = example('tool');
  expect([first.state, first.did]).toEqual(['killed at after the tool', ['model 1', 'counted']]);
  expect(second.lines[2]).toMatch(/^tool_result .*The outcome of this call is unknown/);
  expect(second.lines.slice(3)).toEqual(WHOLE.slice(3));
  // In the first process, and in the turn that is run again.
  expect(count('counted')).toBe(2);
});

it('[AX-110] a hook at the end runs again if its process is killed in it, and the turn ends once, with its answer', () => {
  const { first, second } = example('end');
  expect([first.state, first.lines]).toEqual(['killed at at the end', WHOLE.slice(0, -1)]);
  expect([second.state, second.lines, second.did]).toEqual(['done', WHOLE, ['ended Well.']]);
});

it('[AX-111] a memory keeps what a killed process has heard: the next one recalls it, and asks no turn twice', () => {
  const { first, second, again } = example('memory');
  expect(first.state).toBe('killed at before the question');
  expect(second.lines).toEqual([...first.lines, 'final Skagen meta']);
  // The summary of older messages, and the answer.
  expect(second.did).toHaveLength(2);
  expect([again.lines, again.did]).toEqual([second.lines, []]);
});

it('[AX-124] a team is taken up: its subagent is created once, makes its call once, and its manager sees it at rest', () => {
  const { first, second, again, count } = example('team');
  expect(first.state).toBe('killed at it looks');
  expect(second.state).toBe('done');
  expect(second.lines.filter((line) => line.startsWith('subagent_started'))).toEqual([
    'subagent_started one meta',
  ]);
  expect(second.lines.slice(-2)).toEqual(['final It is on its way. meta', 'scout one 1 idle']);
  const own = ({ lines }: typeof first) => lines.filter((line) => !line.endsWith(' scout'));
  expect(own(again)).toEqual(own(second));
  // What its subagent has done after the turn is read with it now.
  expect(again.lines.filter((line) => line.startsWith('tool_call'))).toEqual([
    'tool_call subagent_create meta',
    'tool_call look scout',
    'tool_call finish_task scout',
  ]);
  // Requests 1 and 2 of two models; the report begins the third one, if its process has the time.
  expect(['looked', 'model 1', 'model 2'].map(count)).toEqual([1, 2, 2]);
  expect(count('model 3')).toBeLessThan(2);
});

it('[AX-145] a batch is taken up by its id: its calls are made once, and another batch under the id is refused', () => {
  const { first, second, again, count } = example('batch');
  expect([first.state, first.did]).toEqual(['killed at it is slow', ['quick 1', 'slow']]);
  const lines = [
    'true quick 1',
    'false  The outcome of this call is unknown',
    'true quick 2',
    'ExecutionConflict',
  ];
  expect([second.lines, again.lines]).toEqual([lines, lines]);
  expect(['quick 1', 'slow', 'quick 2'].map(count)).toEqual([1, 1, 1]);
});

const PAUSE = /^subagent_checkpoint 8 rounds are complete clerk,subagent_paused more rounds for .* clerk$/;

it.each(['rounds', 'paused'] as const)(
  '[AX-04] [AX-83] a session is paused and resumed by the next process: %s',
  (name) => {
    const { first, second, again } = example(name);
    expect(first.state).toMatch(/^killed at/);
    expect(second.state).toBe('done');
    const { 0: checkpoint, length } = second.lines;
    expect(second.lines.slice(0, 2).join()).toMatch(PAUSE);
    // Resumed, the same turn is read from its beginning.
    expect([length, second.lines[2], second.lines.at(-1)]).toEqual([5, checkpoint, 'final ten clerk']);
    const calls = [...first.did, ...second.did].filter((did) => did.startsWith('counted'));
    expect(calls).toEqual(Array.from({ length: 10 }, (_, n) => `counted ${n}`));
    expect(again.lines.at(-1)).toBe('final ten clerk');
  },
);

/** Its model answers once two requests have been made: those of two executions. */
const BESIDE = `
import { readFileSync } from 'node:fs';
import { Agent, AgentExecutor, Task } from 'everthread/agenticx';
const asked = () => readFileSync('did-0-' + process.env.EVERTHREAD_EXAMPLE_RUN, 'utf8').split('model 1').length - 1;
const { provider } = scriptedModel(async () => {
  for (let n = 0; n < 300 && asked() < 2; n += 1) await wait(100);
  return says('of ' + asked());
});
if (process.env.EVERTHREAD_EXAMPLE_RUN !== 'again') {
  START
}
`;

const TASK = `
  const executor = new AgentExecutor({ llmProvider: { provider, model: 'scripted' } });
  const agent = new Agent({ name: 'beside', role: 'Analyst', goal: 'Summarize findings' });
  const { result, event_log } = await executor.run({ agent, task: new Task({ description: 'Research X', expectedOutput: 'Report' }) });
  console.log(result, event_log[0].task_id.split('.').at(-1));
  await executor.close();
`;

it('two processes that begin tasks of the same text at once have one each, and so have those that follow both', async () => {
  const lines = await runBeside(typed(20, 'model 1', BESIDE.replace('START', TASK)));
  expect(lines.map(([line]) => line).toSorted()).toEqual(['of 2 1', 'of 2 2']);
}, 300_000);
