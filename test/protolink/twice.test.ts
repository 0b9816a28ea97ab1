/**
 * The examples of Protolink's page and of ours, twice: their first process is killed in the middle, a second one takes
 * their work up.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Example, type Group, runTwice } from '../support/examples-twice.ts';

const THEIRS = 'Protolink: Runtime';
const OURS = 'docs/protolink.md';
/** The page's agents get their cards and models from elsewhere; its tasks get ids, without which they are new ones. */
const GIVEN = `
import {
  Agent, artifact, assertBudgetUnder, assertNoDeniedActions, assertRunEvents, CapabilityPolicy, createLlm,
  InMemoryEventSink, Part, RedactionPolicy, RunAction, RunContext, RunEvent, RunRecorder, RunReplay, Task,
} from 'everthread/protolink';
import { calls, says, scriptedModel } from 'everthread/testing';
import { setImmediate as turn } from 'node:timers/promises';
`;

const typed = (line: number, source: string, stop?: string): Example => ({
  ...{ page: THEIRS, at: { line, source: `${GIVEN}${source}` } },
  ...(stop === undefined ? {} : { stop }),
});

const CONTEXT = typed(
  66,
  `
const task = Task.createInfer({ prompt: 'Summarize the latest report' });
const context = new RunContext({
  runId: 'run_123',
  sessionId: 'session_abc',
  traceId: 'trace_abc',
  workspaceUri: 'file:///workspace',
  agentChain: ['gateway'],
  permissions: { 'fs.read': { paths: ['file:///workspace'] } },
  budget: { maxSteps: 8, maxLlmCalls: 4 },
});
context.attachToTask(task);
console.log(context.agentChain, RunContext.fromTask(task).traceId);
`,
);

const INFER = typed(
  120,
  `
const llm = createLlm('mock').configureMetrics({ contextWindow: 8192 });
const runContext = new RunContext({ runId: 'run_budgeted', budget: { maxSteps: 4, maxLlmCalls: 2, maxInputTokens: 6000 } });
const events = [];
const answer = await llm.infer({ query: 'Summarize this context', tools: {}, runContext, eventCallback: (event) => events.push(event) });
const { run_id, provider, model, context_window } = events[1].manifest;
console.log(answer, run_id, provider, context_window);
`,
);

const CANCEL = typed(
  205,
  `
const { provider } = scriptedModel(() => new Promise(() => undefined));
const agent = new Agent({ name: 'worker', description: 'Worker' }, { llm: { provider, model: 'mock' } });
const task = Task.createInfer({ prompt: 'Perform long-running work', id: 'cancel-1' });
const running = agent.runTask(task);
while (!agent.activeTaskIds.includes(task.id) && !task.isTerminal) await turn();
await stop('it is active');
const canceled = await agent.cancelTask(task.id, 'Stopped by user').catch((error) => error.constructor.name);
const result = await running;
console.log(canceled.state ?? canceled, result.state, result.metadata.cancel_reason);
await agent.close();
`,
  'it is active',
);

/** Cooperative checkpoints: a handler that asks its token stops without a failure. */
const TOKEN = typed(
  232,
  `
const working = Promise.withResolvers();
const agent = new Agent({ name: 'looping', description: 'Loops.' }, {
  handler: async (task) => {
    working.resolve();
    for (;;) {
      agent.getCancellationToken(task.id).raiseIfCancelled();
      await turn();
    }
  },
});
const task = Task.createInfer({ prompt: 'Perform long-running work' });
const running = agent.runTask(task);
await working.promise;
await agent.cancelTask(task.id, 'Stopped by user');
const result = await running;
console.log(result.state, result.metadata.cancel_reason);
await agent.close();
`,
);

const BUILDER = typed(
  335,
  `
const { provider } = scriptedModel([calls('publish_record', { record_id: '42' }), says('Published.')]);
const policy = new CapabilityPolicy({ 'records.read': 'allow', 'records.write': 'require_approval', 'records.delete': 'deny' });
const approve = async (request, context) => {
  did('asked ' + request.action.payload.arguments.record_id);
  await stop('it is asked');
  return { approved: true, request_id: request.request_id, decided_by: 'operator' };
};
const agent = new Agent({ name: 'publisher', description: 'Publishes records.' }, { policy, approvalHandler: approve, llm: { provider, model: 'mock' } });
const buildPreview = (args) => new RunAction({
  kind: 'tool.call',
  name: 'publish_record',
  payload: { arguments: args },
  artifacts: [artifact({ kind: 'preview', name: 'publication preview', parts: [Part.json(args)] })],
});
agent.tool(
  { name: 'publish_record', description: 'Publish a record', capabilities: ['records.write'], actionBuilder: buildPreview },
  async ({ record_id }) => (did('published ' + record_id), { record_id, status: 'published' }),
);
const task = Task.createInfer({ prompt: 'Publish record 42.', id: 'publish-1' });
new RunContext({ sessionId: 'session_abc' }).attachToTask(task);
const done = await agent.executeTask(task);
console.log(done.state, done.answer);
await agent.close();
`,
  'it is asked',
);

const DIRECT = typed(
  363,
  `
const agent = new Agent({ name: 'direct', description: 'Publishes records.' }).tool(
  { name: 'publish_record', description: 'Publish a record' },
  async ({ record_id }) => ({ record_id, status: 'published' }),
);
console.log(await agent.callToolInContext('publish_record', new RunContext({ runId: 'run_direct' }), { record_id: '42' }));
await agent.close();
`,
);

const SINK = typed(
  374,
  `
const { provider } = scriptedModel([says('A result.')]);
const agent = new Agent({ name: 'streamer', description: 'Streams.' }, { llm: { provider, model: 'mock' } });
const task = Task.createInfer({ prompt: 'Produce a result', id: 'stream-1' });
const sink = new InMemoryEventSink();
for await (const event of agent.handleTaskStreaming(task)) await sink.emit(event);
console.log(sink.toList().at(-1).type, task.answer);
await agent.close();
`,
  'model 1',
);

const EMIT = typed(
  444,
  `
const sink = new InMemoryEventSink();
await sink.emit(new RunEvent({ type: 'task.progress', summary: 'Halfway done' }));
console.log(sink.toList()[0].sequence === 1);
`,
);

const REPORT = typed(
  458,
  `
const { provider } = scriptedModel([says('A report.')]);
const agent = new Agent({ name: 'reporter', description: 'Reports.' }, { llm: { provider, model: 'mock' } });
const task = Task.createInfer({ prompt: 'Report', id: 'report-1' });
const recorder = new RunRecorder();
for await (const event of agent.handleTaskStreaming(task)) recorder.emit(event);
// A task that had ended before has only its last event here: the store has them all.
const report = await (await agent.runs).report(task.id, { metadata: { source: 'integration-test' }, redaction: new RedactionPolicy() });
const replay = new RunReplay(report);
assertRunEvents(replay, ['context.prepared', 'llm.call.started', 'llm.call.completed']);
assertNoDeniedActions(replay);
assertBudgetUnder(replay, { maxTotalTokens: 8_000 });
console.log(task.state, report.metadata.source);
await agent.close();
`,
  'model 1',
);

const STORE = typed(
  510,
  `
const { provider } = scriptedModel([says('A summary.')]);
const agent = new Agent({ name: 'keeper', description: 'Worker' }, { llm: { provider, model: 'mock' } });
const task = Task.createInfer({ prompt: 'produce a summary', id: 'store-1' });
new RunContext({ runId: 'run_store', sessionId: 'session_store' }).attachToTask(task);
const result = await agent.executeTask(task);
const runs = await agent.runs;
const record = await runs.get(result.id);
const recent = await runs.list({ sessionId: 'session_store' });
console.log(record.state, recent.map(({ id }) => id));
await agent.close();
`,
  'model 1',
);

const GOLDEN = typed(
  560,
  `
const llm = createLlm('mock', { defaultResponse: 'done' });
const agent = new Agent({ name: 'tester', description: 'Golden test agent' }, { llm });
const task = Task.createInfer({ prompt: 'Produce a result' });
new RunContext({ runId: 'run_golden', sessionId: 'session_golden' }).attachToTask(task);
const sink = new InMemoryEventSink();
for await (const event of agent.handleTaskStreaming(task)) await sink.emit(event);
const snapshot = sink.toList().map(({ sequence, type, summary, final }) => ({ sequence, type, summary, final }));
console.log(snapshot.length, snapshot.at(-1).type, snapshot.filter(({ final }) => final).length);
await agent.close();
`,
);

/** Lines 236 to 250 of the page: what cannot be known about a call is told, and the call is not made again. */
const UNKNOWN = typed(
  247,
  `
const agent = new Agent({ name: 'writer', description: 'Writes.' }).tool(
  { name: 'write', description: 'Writes.' },
  async () => (did('written'), await stop('it writes'), 'written'),
);
const task = Task.createToolCall({ toolName: 'write', id: 'write-1' });
const ended = await agent.executeTask(task).catch((error) => error);
console.log(task.state, ended.uncertain, ended.message?.split(':')[0]);
await agent.close();
`,
  'it writes',
);

const FIRST: Example = {
  ...{ page: OURS, at: 'Publish record 42.', stop: 'model 2' },
  edits: [["() => 'published'", "({ id }) => (did('published ' + id), 'published')"]],
};
const QUESTION: Example = { page: OURS, at: "defaultResponse: 'It is short.'" };

/** By the line of the page: where the first process is killed, what the second prints, and what all have done once. */
const EXPECTED: readonly (readonly [example: Example, lines: readonly string[], once?: readonly string[]])[] =
  [
    [CONTEXT, ["[ 'gateway' ] trace_abc"]],
    [INFER, ['mock response run_budgeted mock 8192']],
    [CANCEL, ['canceled canceled Stopped by user']],
    [TOKEN, ['canceled Stopped by user']],
    [UNKNOWN, ['failed true The outcome of this call is unknown'], ['written']],
    [BUILDER, ['completed Published.'], ['published 42']],
    [DIRECT, ['{"record_id":"42","status":"published"}']],
    [SINK, ['task.status A result.']],
    [EMIT, ['true']],
    [REPORT, ['completed integration-test']],
    [STORE, ["completed [ 'store-1' ]"]],
    [GOLDEN, ['13 task.status 1']],
  ];

let ran: Group;

beforeAll(async () => {
  ran = await runTwice([...EXPECTED.map(([example]) => example), FIRST, QUESTION]);
}, 300_000);

describe('an example of the page', () => {
  it.each(
    EXPECTED.map(
      ([{ at }, ...rest], number) => [typeof at === 'string' ? at : at.line, number, ...rest] as const,
    ),
  )(
    '[PL-32] at line %s gives its answer in a second process after the first was killed, and again later',
    (_, number, lines, once = []) => {
      const [example] = EXPECTED[number] as (typeof EXPECTED)[number];
      const { first, second, again, count } = ran.examples[number] as (typeof ran.examples)[number];
      expect(first.state).toBe(example.stop === undefined ? 'done' : `killed at ${example.stop}`);
      expect([second.state, again.state]).toEqual(['done', 'done']);
      expect(second.lines).toEqual(lines);
      // What has ended cannot be cancelled again.
      if (example !== CANCEL) expect(again.lines).toEqual(lines);
      expect(once.map(count)).toEqual(once.map(() => 1));
    },
  );
});

it('a handler that stops at its token has not failed: no log says so', () => {
  expect(ran.errors.join('').includes('"handle_task" failed')).toBe(false);
});

describe('an example of docs/protolink.md', () => {
  it('[PL-32] publishes once, and its second process has the whole stream and the answer', () => {
    const { first, second, again, count } = ran.examples.at(-2) as (typeof ran.examples)[number];
    expect([first.state, second.state, again.state]).toEqual(['killed at model 2', 'done', 'done']);
    const types = second.lines.flatMap((line) => /^\d+ ([\w.]+)/.exec(line)?.[1] ?? []);
    expect(types[0]).toBe('task.status');
    expect(types).toEqual(expect.arrayContaining(['approval.required', 'action.completed', 'task.artifact']));
    expect(second.lines.at(-1)).toContain('completed');
    expect(again.lines.at(-1)).toBe(second.lines.at(-1));
    expect(count('published 42')).toBe(1);
  });

  it('[PL-32] asks its single question, and counts its tokens', () => {
    const { first, second, again } = ran.examples.at(-1) as (typeof ran.examples)[number];
    expect([first.state, second.state, again.state]).toEqual(['done', 'done', 'done']);
    expect(second.lines).toEqual([expect.stringMatching(/^\d+$/)]);
  });
});
