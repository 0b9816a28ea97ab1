/**
 * What a step of a long thread costs on a model with a small window, where the older part of its history gives place to a summary, and where
 * it is only left out: milliseconds, rows, and what is sent, by the length of the thread.
 * `node_modules/.bin/node bench/compaction.ts [--json FILE] [--quick]`
 */
import { join } from 'node:path';
import { prepareManifest } from '../src/core/context/context-manifest.ts';
import { INSTRUCTIONS } from '../src/core/context/summary.ts';
import { eventsOf } from '../src/core/event/thread-event.ts';
import type { Provider, ProviderRequest, ProviderStreamChunk } from '../src/core/message/provider.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../src/definitions/index.ts';
import { openBeside } from '../test/support/database-beside.ts';
import { lengthen } from '../test/support/long-thread.ts';
import { type Line, median, readOptions, report, spread } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';
import { installMeter } from './support/store-meter.ts';

const WINDOW = 4000;
/** Each message: some sixty tokens. */
const WORD = 'A word to be remembered, with its number and its circumstances. '.repeat(4);
/** US dollars per million tokens. */
const PRICES = { inputPrice: 1, outputPrice: 4 };

/** However busy the machine. */
const PATIENT = { timeoutMs: 600_000 };

const { json, quick } = readOptions();
const meter = installMeter();
quietRuntime();
const [turns, lengths] = quick ? [10, [100, 1000]] : [40, [100, 1000, 10_000]];
const rig = await openRig('memory', undefined, registry);
const lines: Line[] = [];
try {
  for (const agent of ['summarised', 'trimmed'] as const)
    for (const messages of lengths) lines.push(...(await measure(rig, agent, messages)));
} finally {
  await rig.close();
}
report(`A step on a model that holds ${WINDOW} tokens`, lines, json);

async function measure({ client, store, folder }: Rig, agent: string, messages: number): Promise<Line[]> {
  const { threadId } = await client.startThread({ agent, messages: [{ content: WORD }] });
  await client.waitForIdle(threadId, PATIENT);
  const db = openBeside(`sqlite:${join(folder, 'store.db')}`);
  await lengthen(db, threadId, messages);
  await db.destroy();
  const say = async () => {
    await client.queueMessage(threadId, { content: WORD });
    await client.waitForIdle(threadId, PATIENT);
  };
  // The first one has all that is there before it.
  await say();
  const { lastSeq: from } = await client.getThread(threadId);
  const rows = meter.rows;
  for (let turn = 0; turn < turns; turn += 1) await say();
  const read = meter.rows - rows;
  const events = await store.events.read(threadId, from, 1_000_000);
  const begun = new Map(eventsOf(events, 'step.started').map(({ step, at }) => [step, at]));
  const times = eventsOf(events, 'step.committed').map(
    ({ step, at }) => (at - (begun.get(step) ?? at)) / 1000,
  );
  const answered = eventsOf(events, 'model.answered').map(({ data }) => data);
  const sent = answered.reduce((sum, { usage }) => sum + (usage?.promptTokens ?? 0), 0);
  const cost = answered.reduce((sum, each) => sum + (each.cost ?? 0), 0);
  const summaries = eventsOf(events, 'context.compacted').length;
  const what = `${agent}, ${messages} messages`;
  return [
    { what: `${what}: a step`, value: median(times), unit: 'ms', note: spread(times) },
    { what: `${what}: rows`, value: read / turns, unit: 'rows a turn' },
    {
      what: `${what}: sent`,
      value: sent / turns,
      unit: 'tokens a turn',
      note: `${summaries} summaries in ${turns} turns`,
    },
    { what: `${what}: cost`, value: (cost / turns) * 1000, unit: 'USD for 1,000 turns' },
  ];
}

function registry() {
  const prompt = { name: 'talk', toolDescription: 'measured', prompt: 'You are measured.', model: 'narrow' };
  return registryFrom({
    agents: [
      defineAgent({ name: 'summarised', sideA: { prompt: 'talk' }, guards: { compaction: true } }),
      defineAgent({ name: 'trimmed', sideA: { prompt: 'talk' } }),
    ],
    prompts: [definePrompt({ ...prompt, includeChat: true })],
    models: [
      defineModel({
        ...{ name: 'narrow', provider: () => narrowModel(), model: 'narrow-1', ...PRICES },
        capabilities: { maxContextTokens: WINDOW, maxOutputTokens: 400 },
      }),
    ],
  });
}

function narrowModel(): Provider {
  return {
    name: 'narrow',
    specificationVersion: '1',
    async generate() {
      throw new Error('Everthread streams where it can.');
    },
    async stream(request) {
      return answer(request);
    },
  };
}

/** Counts as the budgets of threads do. A request that it does not hold is a failure of the bench. */
async function* answer(request: ProviderRequest): AsyncGenerator<ProviderStreamChunk> {
  const promptTokens = prepareManifest(request).totalEstimatedTokens;
  if (promptTokens > WINDOW) throw new Error(`A request of ${promptTokens} tokens was sent.`);
  const delta = request.messages[0]?.content === INSTRUCTIONS ? `- ${WORD}` : WORD;
  const completionTokens = Math.ceil(delta.length / 4);
  yield { type: 'content-delta', delta };
  const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  yield { type: 'finish', finishReason: 'stop', usage };
}
