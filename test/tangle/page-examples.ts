/** The examples of Tangle's page: what its readers type by line, and the programs that it names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from '../support/examples-twice.ts';
import { GIVEN } from '../support/tangle-examples.ts';

const THEIRS = 'Tangle: agent-runtime';

const typed = (line: number, source: string, stop?: string): Example => ({
  ...{ page: THEIRS, at: { line, source: `${GIVEN}${source}` } },
  ...(stop === undefined ? {} : { stop }),
});

/**
 * A program of the clone, for which the page names a folder of its own. Its ids are not those that it has in
 * `examples.test.ts`, which runs it with another store on the same server.
 */
const program = (
  name: string,
  { stop, edits = [] }: { readonly stop?: string; readonly edits?: NonNullable<Example['edits']> } = {},
): Example => ({
  page: THEIRS,
  at: {
    line: 78,
    source: readFileSync(join(import.meta.dirname, `../../examples/tangle/${name}.ts`), 'utf8')
      .replaceAll(/'[./]+\/src\/faces\/tangle\/\w+\.ts'/g, "'everthread/tangle'")
      .replaceAll(/'[./]+\/src\/(testing|worker)\/index\.ts'/g, "'everthread/$1'")
      .replaceAll(/'[./]+\/src\/(definitions\/)?index\.ts'/g, "'everthread'")
      .replaceAll('sqlite:.everthread/examples.db', 'sqlite:data/store.db?synchronous=normal')
      .replaceAll(/(count-to-three|review-\$|tangle-chat-handler)/g, 'twice-$1'),
  },
  edits,
  ...(stop === undefined ? {} : { stop }),
});

export const ALONE = typed(
  33,
  `
const router = async (_url, { body }) => {
  did('model of ' + JSON.parse(body).model);
  await stop('it is asked');
  const data = [{ choices: [{ delta: { content: 'Hello.' } }] }, { choices: [], usage: { prompt_tokens: 3 } }];
  return new Response(data.map((each) => 'data: ' + JSON.stringify(each) + '\\n\\n').join('') + 'data: [DONE]\\n\\n');
};
const backend = tangle.createOpenAICompatibleBackend({ baseUrl: 'http://router/v1', model: 'm', apiKey: 'KEY', fetchImpl: router });
let text = '';
for await (const event of backend.stream({ task: { id: 'alone', intent: 'greet' }, message: 'hello' }))
  if (event.type === 'text_delta') text += event.text;
console.log(text);
`,
  'it is asked',
);

export const STACK = typed(
  35,
  `
const box = await tangle.localBox({ name: 'stack' });
const agent = tangle.defineAgent({
  id: 'stack',
  repoRoot: process.cwd(),
  surfaces: {},
  rubric: { dimensions: [{ id: 'polite', weight: 1, score: ({ output }) => (output.includes('please') ? 1 : 0) }] },
  run: ({ message }) => {
    async function* stream() {
      did('run');
      yield { type: 'message.part.updated', data: { delta: 'You said ', part: { type: 'text' } } };
      await stop('it has begun');
      yield { type: 'message.part.updated', data: { delta: message, part: { type: 'text' } } };
    }
    return { stream: stream(), finalText: () => 'You said ' + message };
  },
});
const say = async (turnIndex) => {
  const identity = { tenantId: 'acme', userId: 'ada', sessionId: 'stack-1', turnIndex };
  const hooks = { repeatable: true };
  const lines = await linesOf(tangle.handleChatTurn({ agent, box, identity, message: 'hello', hooks }).body);
  // What was said before a loss is withdrawn.
  const said = lines.slice(lines.findLastIndex(({ type }) => type === 'message.discarded') + 1);
  console.log(turnIndex, said.map(({ data }) => data?.delta ?? '').join(''), lines.at(-1).type);
};
await say(0);
await say(1);
await box.close();
`,
  'it has begun',
);

/** An adapter whose domain counts; its effect has a key, by which a repeated one would be found. */
const COUNTER = `
const kept = new Set();
const adapter = {
  observe: ({ history }) => ({ count: history.filter(({ actionOutcome }) => actionOutcome?.ok).length }),
  validate: ({ state, task }) => [{ id: 'counted', passed: state.count >= task.inputs.to, score: state.count / task.inputs.to }],
  async decide({ stepIndex }) {
    await stop('step ' + stepIndex);
    return { kind: 'act', action: 'add' };
  },
  act: (action, { stepIndex }) => did(action + ' ' + stepIndex) ?? 'added',
};
`;

export const TASK = typed(
  38,
  `${COUNTER}
const { status, control } = await tangle.runAgentTask({ task: { id: 'count-3', intent: 'count', inputs: { to: 3 } }, adapter });
console.log(status, control.score, control.steps.length, control.steps.every(({ actionOutcome }) => actionOutcome.ok));
`,
  'step 2',
);

export const ASK = typed(
  41,
  `
const client = await RuntimeClient.connect({ taskQueue: 'tangle-ask-1' });
const task = { id: 'ask-1', intent: 'paint' };
const adapter = {
  observe: ({ history }) => history.at(-1)?.actionOutcome?.result ?? null,
  decide: ({ state }) =>
    state === null
      ? { kind: 'ask', question: 'Which colour?' }
      : { kind: 'stop', pass: true, reason: 'known', outcome: state },
  act: () => undefined,
};
const onEvent = async ({ type }) => {
  if (type !== 'waiting_start') return;
  await stop('it is asked');
  const [open] = await client.listWaits({ threadId: 'task/ask-1' });
  if (!open) return;
  did('answered');
  await client.answerWait(open.id, { value: 'red' });
};
const { status, control } = await tangle.runAgentTask({ task, adapter, onEvent });
console.log(status, control.outcome);
await client.close();
`,
  'it is asked',
);

export const STREAM = typed(
  44,
  `
const { close, fetch } = await serve('far', [says('From afar.')]);
const box = tangle.remoteBox({ url: 'http://localhost', agent: 'far', fetch });
const backend = tangle.createSandboxPromptBackend({ box });
const task = { id: 'answered-afar', intent: 'answer' };
let text = '';
for await (const event of tangle.runAgentTaskStream({ task, backend, input: { message: 'hello' } })) {
  if (event.type === 'text_delta') text += event.text;
  if (event.type === 'text_discarded') text = '';
  if (event.type === 'final') console.log(event.status, text, event.text);
}
await close();
`,
  'model 1',
);

export const BOX = typed(
  49,
  `
const { close, fetch } = await serve('box', [says('From the box.')]);
const box = tangle.remoteBox({ url: 'http://localhost', agent: 'box', fetch });
const executionId = tangle.deriveExecutionId({ projectId: 'tax', sessionId: 'box-1', turnIndex: 0 });
let text = '';
for await (const event of box.streamPrompt('hello', { executionId, sessionId: 'box-1' }))
  if (event.type === 'message.part.updated') text += event.data.delta;
  else if (event.type === 'message.discarded') text = '';
console.log(executionId, text);
await close();
`,
  'model 1',
);

export const POST = typed(
  50,
  `
const { close, fetch } = await serve('posted', [says('Posted.')]);
const headers = { 'content-type': 'application/json', accept: 'application/x-ndjson', 'x-execution-id': 'tax:posted-1:0' };
const body = JSON.stringify({ agent: 'posted', sessionId: 'posted-1', message: 'hello' });
const response = await fetch('http://localhost/agents/run/stream', { method: 'POST', headers, body });
const lines = await linesOf(response.body);
console.log(lines[0].type, lines.at(-1).type, lines.find(({ type }) => type === 'result').data.finalText);
const attached = await fetch('http://localhost/agents/run/stream', { method: 'POST', headers: { ...headers, 'last-event-id': lines.at(-2).id }, body: '{}' });
console.log((await linesOf(attached.body)).map(({ type }) => type).join());
const unknown = await fetch('http://localhost/agents/run/stream', { method: 'POST', headers: { ...headers, 'x-execution-id': 'none' }, body: '{}' });
console.log(unknown.status, (await unknown.json()).error);
await close();
`,
  'model 1',
);

export const CATALOGUE = typed(
  67,
  `
const env = { TANGLE_ROUTER_URL: 'http://router/v1/' };
const router = async () => Response.json({ data: [{ id: 'openai/gpt-4.1' }] });
const chosen = tangle.resolveChatModel([{ source: 'request', model: ' ' }, { source: 'env', model: 'openai/gpt-4.1' }], { source: 'default', model: 'x' });
const checked = await Promise.all([chosen.model, 'a b', 'openai/none'].map((id) =>
  tangle.validateChatModelId(id, { allowlist: [], routerBaseUrl: tangle.resolveRouterBaseUrl(env), fetch: router })));
console.log(chosen.source, checked.map(({ succeeded }) => succeeded).join());
`,
);

export const FALLBACK = typed(
  72,
  `
const router = async (_url, { body }) => {
  const { model } = JSON.parse(body);
  if (model === 'a') return new Response('down', { status: 503 });
  return new Response('data: ' + JSON.stringify({ model, choices: [{ delta: { content: 'Hello from ' + model } }] }) + '\\n\\n');
};
const backend = tangle.createOpenAICompatibleBackend({
  baseUrl: 'http://router/v1', model: 'a', apiKey: 'KEY', fetchImpl: router, policy: { fallbackModels: ['b'] }, retry: { attempts: 1 },
});
const events = [];
for await (const event of backend.stream({ task: { id: 'fallback', intent: 'greet' }, message: 'hello' })) events.push(event.text ?? event.type);
console.log(events.join());
`,
);

export const BASIC = program('basic-task', {
  stop: 'step 1',
  edits: [['decide: () => ({', "decide: async ({ stepIndex }) => (await stop('step ' + stepIndex), {"]],
});
export const REVIEWER = program('agent-into-reviewer', {
  stop: 'hasty',
  edits: [['  decide: ({ evals }) => {', "  decide: async ({ evals }) => {\n    await stop('hasty');"]],
});
export const CHAT = program('chat-handler', {
  stop: 'model 2',
  edits: [
    ['crypto.randomUUID()', "'chat-handler-1'"],
    ['=> void saved', "=> did('kept ' + finalText) ?? void saved"],
  ],
});
export const ROW = program('runtime-run', {
  stop: 'a call was counted',
  edits: [
    [
      "run.observe({ type: 'text_delta'",
      "await stop('a call was counted');\nrun.observe({ type: 'text_delta'",
    ],
  ],
});
export const RESOLUTION = program('model-resolution');
export const SANDBOX = program('sandbox-stream-backend');
