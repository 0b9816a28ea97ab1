/**
 * What a step of a long thread costs on a model with a small window, if a summary replaces the older history or if that
 * is only left out: milliseconds, rows, and what is sent, by the length of the thread, on both engines.
 * `node_modules/.bin/node bench/compaction.ts [--json FILE] [--quick]`
 */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { prepareManifest } from '../src/core/context/context-manifest.ts';
import { INSTRUCTIONS } from '../src/core/context/summary.ts';
import { eventsOf } from '../src/core/event/thread-event.ts';
import type { Provider, ProviderRequest, ProviderStreamChunk } from '../src/core/message/provider.ts';
import { defineAgent, defineModel, definePrompt, registryFrom } from '../src/definitions/index.ts';
import { openBeside } from '../test/support/database-beside.ts';
import { GROWING, lengthen } from '../test/support/long-thread.ts';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, median, readOptions, report, spread } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';
import { installMeter } from './support/store-meter.ts';

const WINDOW = 4000;
/** Text of each message: some sixty tokens. */
const WORD = 'A word to be remembered, with its number and its circumstances. '.repeat(4);
/** US dollars per million tokens. */
const PRICES = { inputPrice: 1, outputPrice: 4 };

/** Time limit that is enough even on a busy machine. */
const PATIENT = { timeoutMs: 600_000 };

const { json, quick } = readOptions();
const meter = installMeter();
quietRuntime();
const [turns, lengths] = quick ? [10, [100, 1000]] : [40, [100, 10_000, 100_000]];
const lines: Line[] = [];
await measureEngine('SQLite', 'sqlite:store.db');
const postgres = await openPostgresBench();
try {
  await measureEngine('PostgreSQL', postgres.address);
} finally {
  await postgres.close();
}
report(`A step on a model that holds ${WINDOW} tokens`, lines, json);

async function measureEngine(engine: string, address: string): Promise<void> {
  const rig = await openRig('memory', undefined, registry, address);
  try {
    for (const agent of ['summarised', 'trimmed'] as const)
      for (const messages of lengths)
        for (const line of await measure(rig, address, agent, messages))
          lines.push({ ...line, what: `${engine}, ${line.what}` });
  } finally {
    await rig.close();
  }
}

async function measure(
  { client, store, folder }: Rig,
  address: string,
  agent: string,
  messages: number,
): Promise<Line[]> {
  const { threadId } = await client.startThread({ agent, messages: [{ content: WORD }] });
  await client.waitForIdle(threadId, PATIENT);
  const db = openBeside(address, folder);
  await lengthen(db, threadId, messages);
  // PostgreSQL does so by itself some time after such growth.
  await sql`analyze`.execute(db);
  const read = () => countRead(db, address);
  const say = async () => {
    await client.queueMessage(threadId, { content: WORD });
    await client.waitForIdle(threadId, PATIENT);
  };
  // The first message has everything before it: it is sent before the measurement.
  await say();
  const { lastSeq: from } = await client.getThread(threadId);
  const [before, rows] = [await read(), meter.rows];
  for (let turn = 0; turn < turns; turn += 1) await say();
  const answeredRows = meter.rows - rows;
  const touched = (await read()) - before;
  await db.destroy();
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
    { what: `${what}: rows answered`, value: answeredRows / turns, unit: 'rows a turn' },
    ...(touched ? [{ what: `${what}: rows read`, value: touched / turns, unit: 'rows a turn' }] : []),
    {
      what: `${what}: sent`,
      value: sent / turns,
      unit: 'tokens a turn',
      note: `${summaries} summaries in ${turns} turns`,
    },
    { what: `${what}: cost`, value: (cost / turns) * 1000, unit: 'USD for 1,000 turns' },
  ];
}

/**
 * Returns the rows that PostgreSQL has read; its connections report them after ten idle seconds. SQLite does not count
 * them.
 */
async function countRead(db: ReturnType<typeof openBeside>, address: string): Promise<number> {
  if (address.startsWith('sqlite:')) return 0;
  await setTimeout(11_000);
  const tables = sql.join(GROWING.map((name) => sql.lit(name)));
  const { rows } = await sql<{ count: string }>`
    select (select sum(seq_tup_read) from pg_stat_user_tables where relname in (${tables}))
      + (select sum(idx_tup_read) from pg_stat_user_indexes where relname in (${tables})) as count`.execute(
    db,
  );
  return Number(rows[0]?.count);
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

/** Answers with tokens counted as the budgets of threads count them. Throws if a request exceeds the window. */
async function* answer(request: ProviderRequest): AsyncGenerator<ProviderStreamChunk> {
  const promptTokens = prepareManifest(request).totalEstimatedTokens;
  if (promptTokens > WINDOW) throw new Error(`A request of ${promptTokens} tokens was sent.`);
  const delta = request.messages[0]?.content === INSTRUCTIONS ? `- ${WORD}` : WORD;
  const completionTokens = Math.ceil(delta.length / 4);
  yield { type: 'content-delta', delta };
  const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  yield { type: 'finish', finishReason: 'stop', usage };
}
