/** Requests that are longer than their model's window, as the model counts: they are sent again smaller, and never stay refused. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import {
  type AgentInput,
  defineAgent,
  defineModel,
  definePrompt,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import {
  calls,
  fails,
  type RecordedRequest,
  type ScriptStep,
  says,
  scriptedModel,
} from '../../src/testing/index.ts';
import { type Counting, refuse, usageOf } from '../support/counting-model.ts';
import { testRuntime } from '../support/runtime.ts';

const WINDOW = 8000;
const TWO: Counting = { window: WINDOW, charactersPerToken: () => 2 };

/** A model that refuses what it cannot hold; otherwise it answers with `step`. */
const counting = (terms: Counting, step: (request: RecordedRequest) => ScriptStep) =>
  scriptedModel((request) => {
    const refused = refuse(request, terms);
    if (refused) return refused;
    const answer = step(request);
    return answer.kind === 'answer' ? { ...answer, usage: usageOf(request, terms) } : answer;
  });

function project(
  model: Pick<ReturnType<typeof counting>, 'provider'>,
  {
    tools = {},
    maxOutputTokens = 500,
    ...agent
  }: Partial<AgentInput> & {
    readonly tools?: Parameters<typeof registryFrom>[0]['tools'];
    readonly maxOutputTokens?: number;
  } = {},
) {
  return registryFrom({
    agents: [defineAgent({ name: 'helper', sideA: { prompt: 'main' }, ...agent } as AgentInput)],
    prompts: [
      definePrompt({
        ...{ name: 'main', toolDescription: 'the main prompt', prompt: 'You help.', model: 'scripted' },
        includeChat: true,
        includePastTools: true,
        tools: Object.keys(tools),
      }),
    ],
    models: [
      defineModel({
        ...{ name: 'scripted', provider: model.provider, model: 'scripted-1' },
        capabilities: { maxContextTokens: WINDOW, maxOutputTokens },
      }),
    ],
    tools,
  });
}

describe('a model that counts two characters per token', () => {
  it('answers every one of 24 messages of 800 characters', async () => {
    const model = counting(TWO, () => says('y'.repeat(800)));
    const { start, say, store } = await testRuntime({ registry: project(model) });
    const id = await start();
    for (let index = 1; index <= 24; index += 1) await say(id, `${index} `.padEnd(800, 'x'));
    const events = await store.events.read(id, 0, 100_000);
    expect(eventsOf(events, 'step.failed')).toEqual([]);
    expect(eventsOf(events, 'step.committed')).toHaveLength(24);
  });

  it('answers after a result larger than any window, truncated the same in every later request', async () => {
    const whole = Array.from({ length: 4000 }, (_, line) => `line ${line} of the report`).join('\n');
    const model = counting(TWO, ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? says('read')
        : calls('report', {}, { id: 'call_report' }),
    );
    const report = defineTool({
      description: 'reports',
      args: z.object({}),
      execute: () => ({ status: 'success', result: whole }),
    });
    const { start, say, store } = await testRuntime({ registry: project(model, { tools: { report } }) });
    const id = await start();
    for (const word of ['report', 'and?', 'more?']) await say(id, word);
    const sent = model.requests
      .filter((request) => !refuse(request, TWO))
      .flatMap(({ messages }) => messages.filter(({ role }) => role === 'tool'));
    expect(sent).toHaveLength(3);
    const [first] = sent;
    expect(sent).toEqual([first, first, first]);
    expect(first?.content).toMatch(/^line 0 of the report\n[\s\S]*characters[\s\S]*line 3999 of the report$/);
    const stored = await store.messages.list(id, {});
    expect(stored.messages.find(({ role }) => role === 'tool')?.content).toBe(whole);
  });
});

describe('a result larger than any window', () => {
  const whole = Array.from({ length: 4000 }, (_, line) => `line ${line} of the report`).join('\n');
  const report = defineTool({
    description: 'reports',
    args: z.object({}),
    execute: () => ({ status: 'success', result: whole }),
  });
  const readFile = defineTool({
    description: 'reads a file',
    args: z.object({ path: z.string() }),
    execute: () => ({ status: 'success', result: 'the file' }),
  });
  const model = () =>
    counting(TWO, ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? says('read') : calls('report', {}, { id: 'call_1' }),
    );

  it('is stored completely, once, if a tool can read files, and its line names the file', async () => {
    const scripted = model();
    const tools = { report, read_file: readFile };
    const { start, say, store } = await testRuntime({ registry: project(scripted, { tools }) });
    const id = await start();
    for (const word of ['report', 'again']) await say(id, word);
    const results = scripted.requests.flatMap(({ messages }) =>
      messages.filter(({ role }) => role === 'tool'),
    );
    for (const { content } of results)
      expect(content).toContain('The whole result is in the file /results/call_1.txt.');
    const files = await store.files.find(id, '/results/*');
    expect(files.paths).toEqual(['/results/call_1.txt']);
    expect((await store.files.stat(id, '/results/call_1.txt'))?.size).toBe(whole.length);
  });

  it('says that the rest cannot be read if no tool can', async () => {
    const scripted = model();
    const { start, say, store } = await testRuntime({ registry: project(scripted, { tools: { report } }) });
    const id = await start();
    await say(id, 'report');
    const shown = scripted.requests.at(-1)?.messages.find(({ role }) => role === 'tool');
    expect(shown?.content).toMatch(/\[\d+ characters are left out here: [\s\S]* They cannot be read\.\]/);
    expect((await store.files.find(id, '/results/*')).paths).toEqual([]);
  });

  it('reaches a summary if the agent uses compaction, and is never dropped unread', async () => {
    const scripted = counting(TWO, ({ messages }) => {
      if (messages[0]?.content === INSTRUCTIONS) return says('A summary.');
      return messages.at(-1)?.content === 'report'
        ? calls('report', {}, { id: 'call_1' })
        : says('y'.repeat(800));
    });
    const { start, say, store } = await testRuntime({
      registry: project(scripted, { tools: { report }, guards: { compaction: true } }),
    });
    const id = await start();
    await say(id, 'report');
    for (let index = 1; index <= 14; index += 1) await say(id, `${index} `.padEnd(800, 'x'));
    const events = await store.events.read(id, 0, 100_000);
    expect(eventsOf(events, 'step.failed')).toEqual([]);
    expect(eventsOf(events, 'context.compacted').length).toBeGreaterThan(0);
    const records = scripted.requests.filter(({ messages }) => messages[0]?.content === INSTRUCTIONS);
    expect(String(records[0]?.messages[1]?.content)).toContain('line 0 of the report');
  });
});

/** An answer that the input has left no room for. */
async function* windowFull() {
  const usage = { promptTokens: 5000, completionTokens: 0, totalTokens: 5000 };
  yield { type: 'finish', finishReason: 'length', usage } as const;
}

describe('a refusal for length', () => {
  it('is a model call that costs nothing, even without a status', async () => {
    const scripted = scriptedModel(() =>
      says('yes', { usage: { promptTokens: 30, completionTokens: 2, totalTokens: 32 } }),
    );
    let asked = 0;
    const provider: typeof scripted.provider = (config) => {
      const own = scripted.provider(config);
      const stream: typeof own.stream = async (request) => (asked++ < 2 ? windowFull() : own.stream(request));
      return Object.assign(Object.create(own) as typeof own, { stream });
    };
    const registry = project({ provider }, { budget: { maxInputTokens: 100_000 } });
    const { start, say, store } = await testRuntime({ registry });
    const id = await start();
    await say(id, 'x'.repeat(4000));
    const events = await store.events.read(id, 0, 1000);
    expect(eventsOf(events, 'model.failed').map(({ data }) => data)).toEqual(
      [1, 2].map((call) => expect.objectContaining({ call, tooLong: true, smaller: true })),
    );
    expect(eventsOf(events, 'step.committed')).toHaveLength(1);
    expect(await store.budgets.read(id)).toMatchObject([{ limit: 'maxInputTokens', used: 30, estimated: 0 }]);
  });
});

describe('a server that silently truncates', () => {
  it('does not reduce an answer to a few tokens if nothing else can be omitted: the step fails', async () => {
    const model = scriptedModel(() =>
      fails({ status: 400, message: 'Input is too long for requested model.' }),
    );
    const runtime = await testRuntime({ registry: project(model, { maxOutputTokens: 40 }) });
    const thread = await runtime.start('a question of some words '.repeat(7));
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'failed' });
    expect(model.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40]);
  });

  it('is logged once, and its count is ignored', async () => {
    const usage = { promptTokens: 2048, completionTokens: 1, totalTokens: 2049 };
    const scripted = scriptedModel(() => says('ok', { usage }));
    const { start, say, store } = await testRuntime({ registry: project(scripted) });
    const id = await start();
    const prose = 'some words that say a thing or two, and more of it. ';
    for (let index = 1; index <= 3; index += 1) await say(id, prose.repeat(600).slice(0, 28_000));
    const events = await store.events.read(id, 0, 100_000);
    expect(eventsOf(events, 'context.undercounted').map(({ data }) => data)).toEqual([
      { call: 1, model: 'scripted', estimated: expect.any(Number), counted: 2048 },
    ]);
  });
});
